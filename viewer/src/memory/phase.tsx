// A variable of shared or local memory as a picture, before each barrier.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { askBytes, launches } from "../run/api";
import { LARGEST_DOT, Room, useRoom } from "../picture/dots";
import { errorText, partsText } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { bank, owner } from "./memoryplace";
import { numberAt } from "../run/numberat";
import {
  MINUS,
  NAN,
  NOTHING,
  NUMBER,
  paint,
  Picture,
  placeOn,
  PLUS,
  scales,
  UNRECORDED,
  UNWRITTEN,
  usualRange,
  writeValues,
} from "../picture/paint";
import { Empty, Failure, LaunchLink, PaneFrame } from "../parts/parts";
import { ScaleControls, scaleOf, SpecialKeys } from "../picture/scale";
import { follow, Pane, replace } from "../parts/trail";
import {
  indexText,
  Leaf,
  leaves,
  Type,
  Variable,
  variableBytes,
  variablesOfKernel,
  variableType,
} from "../run/types";

type PhaseLook = Extract<Pane, { kind: "phase" }>;
interface PhaseProps {
  pane: PhaseLook;
  index: number;
  active: boolean;
}

interface Phase {
  phases: number;
  value: DataView;
  known: Uint8Array;
  touched: Uint8Array;
}
const readPhase = (b: ArrayBuffer): Phase => {
  const n = (b.byteLength - 4) / 3;
  return {
    phases: new DataView(b).getUint32(0, true),
    value: new DataView(b, 4, n),
    known: new Uint8Array(b, 4 + n, n),
    touched: new Uint8Array(b, 4 + 2 * n, n),
  };
};

// The variable that is shown, in rows; leaf: the member of its elements.
interface Shown {
  variable: Variable | undefined;
  type: Type | undefined;
  extent: number; // in bytes
  all: Leaf[];
  leaf: Leaf | undefined;
  dims: number[];
  count: number;
  width: number;
  rows: number;
}
function useShown(pane: PhaseLook): Shown {
  const launch = launches.get(pane.launch);
  const variable: Variable | undefined = variablesOfKernel(launch?.kernel ?? 0)[pane.variable];
  const extent = variableBytes(variable, launch);
  const type = variable && variableType(variable);
  const all = useMemo(() => (type ? leaves(type) : []), [type]);
  const dims = (variable?.dims ?? "")
    .split(",")
    .map(Number)
    .filter((n) => n > 0);
  const count = type && variable ? Math.floor(extent / type.bytes) : 0;
  const width = dims.length > 1 ? dims[dims.length - 1] : Math.min(32, Math.max(1, count));
  return {
    variable,
    type,
    extent,
    all,
    leaf: all[Math.min(pane.part ?? 0, all.length - 1)],
    dims,
    count,
    width,
    rows: Math.ceil(count / Math.max(1, width)),
  };
}

const useContents = (pane: PhaseLook, { variable: v, extent }: Shown) =>
  useAnswer(
    () =>
      v?.address === undefined || !extent
        ? undefined
        : askBytes("phase", {
            launch: pane.launch,
            space: pane.space,
            block: pane.block,
            thread: pane.thread,
            address: v.address,
            bytes: extent,
            phase: pane.phase,
          }).then(readPhase),
    [pane.launch, pane.space, pane.block, pane.thread, v?.address, pane.phase],
  );

function flagOf(x: number) {
  if (Number.isNaN(x)) return NAN;
  return x === Infinity ? PLUS : x === -Infinity ? MINUS : NUMBER;
}
function pictureOf(f: Phase | undefined, { type, leaf, width, rows, count }: Shown) {
  if (!f || !type || !leaf) return undefined;
  const n = width * rows;
  const p: Picture = {
    columns: width,
    rows,
    low: NaN,
    high: NaN,
    min: new Float32Array(n),
    max: new Float32Array(n),
    mean: new Float32Array(n),
    flags: new Uint8Array(n).fill(NOTHING),
  };
  for (let i = 0; i < count; i++) {
    const at = i * type.bytes + leaf.offset;
    const known = f.known.subarray(at, at + leaf.bytes);
    if (known.some((x) => x !== 1)) {
      p.flags[i] = known.some((x) => x === 0) ? UNWRITTEN : UNRECORDED;
      continue;
    }
    const isByte = leaf.scalar === "ptr" || leaf.scalar === "bool";
    const x = isByte ? f.value.getUint8(at) : numberAt(f.value, at, leaf.scalar);
    p.flags[i] = flagOf(x);
    p.min[i] = p.max[i] = p.mean[i] = Number.isFinite(x) ? x : 0;
    if (Number.isFinite(x)) {
      if (!(x >= p.low)) p.low = x;
      if (!(x <= p.high)) p.high = x;
    }
  }
  return p;
}

interface Drawing {
  pane: PhaseLook;
  shown: Shown;
  touched: Uint8Array;
  picture: Picture;
  dot: number;
  low: number;
  high: number;
  hover: number;
}
// Marks the accesses of this phase: a bar below written elements, a corner at read ones.
function drawTouched(g: CanvasRenderingContext2D, { shown, touched, dot }: Drawing) {
  const bytes = shown.type!.bytes;
  for (let i = 0; i < shown.count; i++) {
    const x = (i % shown.width) * dot;
    const y = Math.floor(i / shown.width) * dot;
    const how = touched.subarray(i * bytes, (i + 1) * bytes).reduce((a, b) => a | b, 0);
    if (how & 2) {
      g.fillStyle = "rgba(255, 90, 40, .95)";
      g.fillRect(x, y + dot - 3, dot - 1, 3);
    }
    if (how & 1) {
      g.fillStyle = "rgba(40, 200, 150, .95)";
      g.fillRect(x, y, 3, dot - 1);
    }
  }
}
function drawPhase(canvas: HTMLCanvasElement, d: Drawing) {
  const { shown, picture, dot, hover } = d;
  const stops = scales[scaleOf(d.pane)];
  const place = placeOn(d.low, d.high, d.pane.log);
  const g = paint(canvas, picture, dot, stops, place);
  const scalar = shown.leaf?.scalar;
  if (scalar && scalar !== "f64" && scalar !== "ptr") {
    const font = getComputedStyle(canvas).getPropertyValue("--mono");
    writeValues(g, picture, dot, scalar === "f32", stops, place, font);
  }
  drawTouched(g, d);
  if (hover < 0) return;
  const x = (hover % shown.width) * dot;
  const y = Math.floor(hover / shown.width) * dot;
  for (const [colour, lineWidth] of [
    ["#fff", 3],
    ["#1c2230", 1.5],
  ] as [string, number][]) {
    g.strokeStyle = colour;
    g.lineWidth = lineWidth;
    g.strokeRect(x, y, dot - 1, dot - 1);
  }
}

const dotOf = (room: Room, { width, rows }: Shown) =>
  Math.max(
    6,
    Math.min(
      LARGEST_DOT,
      Math.floor((room.w || 500) / Math.max(1, width)),
      Math.max(24, Math.floor((room.h || 400) / Math.max(1, rows))),
    ),
  );

// The data that the pane shows, and its state.
function usePhasePane(pane: PhaseLook) {
  const shown = useShown(pane);
  const found = useContents(pane, shown);
  const canvas = useRef<HTMLCanvasElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState(-1);
  const room = useRoom(holder, { w: 0, h: 0 }, [!shown.variable]);
  const { type, leaf, width } = shown;
  const picture = useMemo(() => pictureOf(found.value, shown), [found.value, type, leaf, width]);
  const usual = useMemo(() => usualRange(picture), [picture]);
  const low = pane.low ?? usual[0];
  const high = pane.high ?? usual[1];
  const dot = dotOf(room, shown);
  useEffect(() => {
    if (!canvas.current || !picture || !found.value || !type) return;
    const { touched } = found.value;
    drawPhase(canvas.current, { pane, shown, touched, picture, dot, low, high, hover });
  }, [picture, dot, low, high, pane.log, pane.colours, hover]);
  return { shown, found, canvas, holder, hover, setHover, picture, usual, low, high, dot };
}

// The props of the pane's parts, once the address of the variable is known.
interface PartProps extends ReturnType<typeof usePhasePane> {
  pane: PhaseLook;
  variable: Variable;
  type: Type;
  address: number;
  choose(more: Partial<PhaseLook>): void;
  open(element: number): void;
}

function PhaseControls({ pane, shown, usual, picture, choose }: PartProps) {
  const blocks = launches.get(pane.launch)?.grid.reduce((a, b) => a * b, 1) ?? 1;
  return (
    <div class="controls">
      {pane.space === 1 && (
        <label>
          block{" "}
          <input
            type="number"
            min={0}
            max={blocks - 1}
            value={pane.block}
            onChange={(e) => {
              const n = Math.floor(Number(e.currentTarget.value));
              if (n >= 0 && n < blocks) choose({ block: n });
            }}
          />
        </label>
      )}
      {shown.all.length > 1 && (
        <label>
          part{" "}
          <select
            value={pane.part ?? 0}
            onChange={(e) => choose({ part: Number(e.currentTarget.value) })}
          >
            {shown.all.map((x, i) => (
              <option value={i}>{x.path}</option>
            ))}
          </select>
        </label>
      )}
      <ScaleControls
        look={pane}
        usual={picture && usual}
        number={(n) => String(Number(n.toPrecision(6)))}
        choose={choose}
      />
    </div>
  );
}

function BarrierControls({ pane, found, choose }: PartProps) {
  const total = Math.max(1, found.value?.phases ?? 1);
  return (
    <div class="controls time">
      <input
        type="range"
        aria-label="before which barrier"
        min={0}
        max={total - 1}
        value={pane.phase}
        onInput={(e) => choose({ phase: Number(e.currentTarget.value) })}
      />
      <span>
        {pane.phase >= total - 1 ? "at the end" : `before barrier ${pane.phase + 1}`}
        {` of ${total - 1}`}
      </span>
    </div>
  );
}

// The chosen element and its value.
function chosenText({ variable, type, hover, found }: PartProps): string {
  if (hover < 0 || !found.value) return "";
  const { value, known } = found.value;
  const text =
    known[hover * type.bytes] === 0
      ? "never written"
      : partsText(
          new DataView(value.buffer, value.byteOffset + hover * type.bytes, type.bytes),
          type,
          0,
        );
  return `${variable.name}${indexText(hover, variable.dims)} ${text}`;
}

function onKey(e: KeyboardEvent, { shown, hover, setHover, open }: PartProps) {
  const arrows: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -shown.width,
    ArrowDown: shown.width,
  };
  if (e.ctrlKey || e.altKey || e.metaKey) return;
  const by = arrows[e.key];
  const to = hover < 0 ? 0 : hover + by;
  if (by) setHover(to >= 0 && to < shown.count ? to : hover);
  else if (e.key === "Enter") {
    (e.currentTarget as HTMLElement).blur();
    open(hover);
  } else return;
  e.preventDefault();
  e.stopPropagation();
}
function elementUnder(e: MouseEvent, canvas: HTMLCanvasElement, { shown, dot }: PartProps) {
  const r = canvas.getBoundingClientRect();
  const column = Math.floor((e.clientX - r.left) / dot);
  const i = Math.floor((e.clientY - r.top) / dot) * shown.width + column;
  return e.clientX - r.left < shown.width * dot && i >= 0 && i < shown.count ? i : -1;
}
function PhaseCanvas(props: PartProps) {
  const { variable, canvas, setHover } = props;
  const under = (e: MouseEvent) => elementUnder(e, canvas.current!, props);
  return (
    <div
      class="canvas"
      ref={props.holder}
      tabIndex={0}
      role="group"
      aria-label={
        `picture of ${variable.name}: arrow keys choose an element, Enter opens it. ` +
        chosenText(props)
      }
      onKeyDown={(e) => onKey(e, props)}
    >
      {!props.picture && <Empty>reading…</Empty>}
      <canvas
        ref={canvas}
        class="dots"
        onMouseMove={(e) => setHover(under(e))}
        onMouseLeave={() => setHover(-1)}
        onClick={(e) => props.open(under(e))}
      />
    </div>
  );
}

function PhaseLegend(props: PartProps) {
  const { pane, type, address, hover, low, high, picture } = props;
  const said = chosenText(props);
  return (
    <footer class="legend">
      <span class="under">
        {said ? (
          <>
            <b>{said}</b> <span class="dim">bank {bank(address + hover * type.bytes)}</span>
          </>
        ) : (
          <span class="dim">
            {Number.isFinite(low) ? low : "–"}{" "}
            <i class={`ramp ${scaleOf(pane).replace("-", "")}`} />{" "}
            {Number.isFinite(high) ? high : "–"}
          </span>
        )}
      </span>
      <span class="keys">
        <i class="c-read" />
        read and <i class="c-written" />
        written before this barrier <SpecialKeys picture={picture} />
      </span>
    </footer>
  );
}

const unknownText = (v: Variable | undefined) =>
  v
    ? `Where ${v.name} lies in shared memory is not known on this device.`
    : "there is no such variable in this kernel";

export function PhasePane({ pane, index, active }: PhaseProps) {
  const state = usePhasePane(pane);
  const { variable, type, dims } = state.shown;
  const address = variable?.address;
  if (!variable || !type || address === undefined)
    return (
      <PaneFrame index={index} kind="phase" active={active} title="shared memory">
        <Failure text={unknownText(variable)} />
      </PaneFrame>
    );
  const { launch, space, block, thread } = pane;
  const open = (i: number) => {
    const { bytes } = type;
    const place = { launch, space, block, thread, address: address + i * bytes, bytes };
    if (i >= 0) follow(index, { kind: "memory", ...place });
  };
  const choose = (more: Partial<PhaseLook>) => replace(index, { ...pane, ...more }, false);
  const common = { ...state, pane, variable, type, address, choose, open };
  return (
    <PaneFrame
      index={index}
      kind="phase"
      active={active}
      title={
        <>
          <span class="what">{type.name}</span> {variable.name}
          {dims.map((d) => `[${d}]`).join("")}
        </>
      }
      sub={
        <>
          <LaunchLink id={launch} onClick={() => follow(index, { kind: "launch", launch })} />
          <span>
            {" "}
            · {space === 1 ? "shared memory" : "local memory"} of {owner(pane)}
          </span>
        </>
      }
    >
      <PhaseControls {...common} />
      <BarrierControls {...common} />
      {state.found.error ? (
        <Failure text={errorText(state.found.error)} />
      ) : (
        <PhaseCanvas {...common} />
      )}
      <PhaseLegend {...common} />
    </PaneFrame>
  );
}
