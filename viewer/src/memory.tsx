// Shared memory of a block, and local memory of a thread: an element with all that was done to it, barrier for barrier, and the whole
// variable as a picture before each barrier.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Kind, Op, Private, askBytes, key, launches, ofPrivate, writes } from "./api";
import { coordinates, errorText, many, opValue, partsText, triple, valueHex } from "./format";
import { Ops, useAnswer, useListen, useOps } from "./hooks";
import { List } from "./list";
import {
  Badge,
  Button,
  Empty,
  Failure,
  KindTag,
  LaunchLink,
  PaneFrame,
  linesOf,
  mainPlace,
  useSource,
} from "./parts";
import {
  LARGEST_DOT,
  NOTHING,
  NUMBER,
  NAN,
  PLUS,
  MINUS,
  Picture,
  ScaleControls,
  SpecialKeys,
  UNRECORDED,
  UNWRITTEN,
  paint,
  placeOn,
  scaleOf,
  scales,
  usualRange,
  writeValues,
} from "./picture";
import { ROW } from "./thread";
import { Pane, follow, replace } from "./trail";
import {
  Variable,
  indexText,
  leaves,
  onTypes,
  variableBytes,
  variableElement,
  variableType,
  variablesOfKernel,
} from "./types";

type Memory = Extract<Pane, { kind: "memory" }>;
export function variableAt(launch: number, space: number, address: number): Variable | undefined {
  const all = variablesOfKernel(launches.get(launch)?.kernel ?? 0),
    name = space === 1 ? "shared" : "local";
  return all.find(
    (v) =>
      v.space === name &&
      v.address !== undefined &&
      address >= v.address &&
      (address < v.address + v.bytes || !v.bytes),
  );
}
const where = (p: { space: number; address: number; launch: number; bytes: number }) => {
  const v = variableAt(p.launch, p.space, p.address);
  return v
    ? variableElement(v, p.address - v.address!, p.bytes)
    : `byte ${p.address} of ${p.space === 1 ? "shared" : "local"} memory`;
};
export const memoryName = where;
const bank = (address: number) => Math.floor(address / 4) % 32;

function owner(p: { launch: number; space: number; block: number; thread: number }) {
  const l = launches.get(p.launch),
    per = l ? l.block[0] * l.block[1] * l.block[2] : 1,
    at = l && coordinates(l, p.block * per + p.thread);
  return at
    ? `block ${triple(at.block)}${p.space === 2 ? ` thread ${triple(at.thread)}` : ""}`
    : "";
}

// Others of the same phase that one of them may race with.
function rivals(ops: Ops, phases: Map<number, number>, i: number): Op[] {
  const o = ops.get(i)!,
    out: Op[] = [];
  for (const d of [-1, 1])
    for (
      let k = i + d;
      o.race && k >= 0 && k < ops.count && phases.get(k) === phases.get(i);
      k += d
    ) {
      const x = ops.get(k);
      if (!x) break;
      if (x.race && x.thread !== o.thread && (writes(x) || writes(o))) out.push(x);
    }
  return out;
}

export function MemoryPane({
  pane,
  index,
  active,
}: {
  pane: Memory;
  index: number;
  active: boolean;
}) {
  useListen(onTypes);
  const phases = useRef(new Map<number, number>()).current,
    of: Private = pane;
  const ops = useOps(
    async (skip, first) => {
      const p = await ofPrivate(of, skip, first ? pane.at : undefined);
      p.phases.forEach((n, i) => phases.set(p.skip + i, n));
      return p;
    },
    [
      pane.launch,
      pane.space,
      pane.block,
      pane.thread,
      pane.address,
      pane.bytes,
      JSON.stringify(pane.at),
    ],
  );
  const [selected, select] = useState(-1);
  useEffect(() => select(ops.focus), [ops.focus, pane.address]);
  const v = variableAt(pane.launch, pane.space, pane.address),
    room = variableBytes(v, launches.get(pane.launch)),
    t = v ? variableType(v) : undefined,
    size = t?.known ? t.bytes : pane.bytes;
  const go = (p: Pane) => follow(index, p),
    beside = (by: number) =>
      replace(index, { ...pane, address: pane.address + by * size, at: undefined });
  const sample = ops.get(0),
    source = useSource(sample && mainPlace(sample.site)?.[0]),
    lines = linesOf(source.value),
    number = v ? variablesOfKernel(v.kernel).indexOf(v) : -1;
  const help = !v
    ? `PTX does not say which variable this is.`
    : v.address === undefined
      ? `Where ${v.name} lies in shared memory is not known on this device.`
      : (v.why ?? "");
  return (
    <PaneFrame
      index={index}
      kind="memory"
      active={active}
      title={
        <>
          <span class="what">{t?.known ? t.name : `${pane.bytes} bytes`}</span> {where(pane)}
        </>
      }
      tools={
        <>
          <Button
            icon="left"
            label="The element before ([)"
            disabled={pane.address - size < (v?.address ?? 0)}
            onClick={() => beside(-1)}
          />
          <Button
            icon="right"
            label="The next element (])"
            disabled={
              !!room && v?.address !== undefined && pane.address + 2 * size > v.address + room
            }
            onClick={() => beside(1)}
          />
          <Button
            icon="picture"
            label="The buffer as a picture (b)"
            disabled={number < 0 || !room}
            onClick={() =>
              go({
                kind: "phase",
                launch: pane.launch,
                space: pane.space,
                block: pane.block,
                thread: pane.thread,
                variable: number,
                phase: Math.max(0, phases.get(selected) ?? 0),
              })
            }
          />
        </>
      }
      sub={
        <>
          <LaunchLink
            id={pane.launch}
            onClick={() => go({ kind: "launch", launch: pane.launch })}
          />
          <span>
            {" "}
            · {pane.space === 1 ? "shared memory" : "local memory"} of {owner(pane)}
            {pane.space === 1 ? ` · bank ${bank(pane.address)}` : ""}
          </span>
          <span class="right">
            {ops.loaded && !ops.error
              ? `${many(ops.count)} operation${ops.count === 1 ? "" : "s"}`
              : ""}
          </span>
        </>
      }
    >
      {help && (
        <div class="help" role="note">
          {help}
        </div>
      )}
      {ops.error ? (
        <Failure text={ops.error} />
      ) : !ops.loaded ? (
        <Empty>reading…</Empty>
      ) : ops.count === 0 ? (
        <Empty>Nobody in this block touched this element.</Empty>
      ) : (
        <>
          <div class="columns elementrow" aria-hidden="true">
            <span>after barrier</span>
            <span>does</span>
            <span class="num">value</span>
            <span>who</span>
            <span>source</span>
          </div>
          <List
            label="operations on this element"
            count={ops.count}
            height={ROW}
            focus={selected}
            seen={ops.seen}
            row={(i) => {
              const o = ops.get(i);
              if (!o) return <span class="dim loading">…</span>;
              const p = mainPlace(o.site),
                w = writes(o),
                phase = phases.get(i),
                begins = !i || phases.get(i - 1) !== phase,
                others = rivals(ops, phases, i);
              return (
                <div
                  class={`op elementrow ${w ? "write" : "read"} ${i === selected ? "selected" : ""} ${o.race ? "race" : ""} ${begins ? "begins" : ""}`}
                  data-op={key(o)}
                  data-index={i}
                  role="button"
                  tabIndex={i === selected ? 0 : -1}
                  onClick={() => {
                    select(i);
                    go({
                      kind: "thread",
                      launch: o.launch,
                      thread: o.thread,
                      at: { record: o.record, lane: o.lane },
                    });
                  }}
                >
                  <span class={begins ? "when" : "when again"}>
                    {phase ? `barrier ${phase}` : "the start"}
                  </span>
                  <KindTag op={o} />
                  <span class="value num" title={valueHex(o.value)}>
                    {o.kind === Kind.Atomic && o.old !== null ? (
                      <>
                        {opValue(o, o.old)} <span class="dim">with</span> {opValue(o)}
                      </>
                    ) : (
                      opValue(o)
                    )}
                  </span>
                  <span class="who">
                    thread {o.thread}
                    {o.race && (
                      <Badge
                        kind="warning"
                        title={
                          others.length
                            ? `races with thread ${[...new Set(others.map((x) => x.thread))].slice(0, 20).join(", ")}: no barrier lies between`
                            : "nothing orders it against another operation here"
                        }
                      >
                        race
                      </Badge>
                    )}
                    {others.slice(0, 1).map((x) => (
                      <button
                        type="button"
                        class="go race"
                        title={`the other side of the race: thread ${x.thread}`}
                        onClick={(e) => {
                          e.stopPropagation();
                          go({
                            kind: "thread",
                            launch: x.launch,
                            thread: x.thread,
                            at: { record: x.record, lane: x.lane },
                          });
                        }}
                      >
                        ⚡ thread {x.thread}
                      </button>
                    ))}
                  </span>
                  <code class="snippet">
                    {p && (
                      <>
                        <span>{p[1]}</span>
                        <span class="text">{lines[p[1] - 1]?.trim()}</span>
                      </>
                    )}
                  </code>
                </div>
              );
            }}
          />
        </>
      )}
    </PaneFrame>
  );
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

export function PhasePane({
  pane,
  index,
  active,
}: {
  pane: Extract<Pane, { kind: "phase" }>;
  index: number;
  active: boolean;
}) {
  const kernel = launches.get(pane.launch)?.kernel ?? 0,
    v = variablesOfKernel(kernel)[pane.variable],
    extent = variableBytes(v, launches.get(pane.launch)),
    t = v && variableType(v),
    all = useMemo(() => (t ? leaves(t) : []), [t]),
    leaf = all[Math.min(pane.part ?? 0, all.length - 1)];
  const found = useAnswer(
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
  const dims = (v?.dims ?? "")
      .split(",")
      .map(Number)
      .filter((n) => n > 0),
    count = t && v ? Math.floor(extent / t.bytes) : 0,
    width = dims.length > 1 ? dims[dims.length - 1] : Math.min(32, Math.max(1, count)),
    rows = Math.ceil(count / Math.max(1, width));
  const canvas = useRef<HTMLCanvasElement>(null),
    holder = useRef<HTMLDivElement>(null),
    [hover, setHover] = useState(-1),
    [room, setRoom] = useState({ w: 0, h: 0 });
  useLayoutEffect(() => {
    const o = new ResizeObserver(() => {
      const e = holder.current;
      if (e) setRoom({ w: e.clientWidth, h: e.clientHeight });
    });
    if (holder.current) o.observe(holder.current);
    return () => o.disconnect();
  }, [!v]);
  const picture = useMemo<Picture | undefined>(() => {
    const f = found.value;
    if (!f || !t || !leaf) return undefined;
    const n = width * rows,
      p: Picture = {
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
      const at = i * t.bytes + leaf.offset,
        k = f.known.subarray(at, at + leaf.bytes);
      if (k.some((x) => x !== 1)) {
        p.flags[i] = k.some((x) => x === 0) ? UNWRITTEN : UNRECORDED;
        continue;
      }
      const x = Number(
        leaf.scalar === "ptr" || leaf.scalar === "bool"
          ? f.value.getUint8(at)
          : numberAt(f.value, at, leaf.scalar),
      );
      p.flags[i] = Number.isNaN(x) ? NAN : x === Infinity ? PLUS : x === -Infinity ? MINUS : NUMBER;
      p.min[i] = p.max[i] = p.mean[i] = Number.isFinite(x) ? x : 0;
      if (Number.isFinite(x)) {
        if (!(x >= p.low)) p.low = x;
        if (!(x <= p.high)) p.high = x;
      }
    }
    return p;
  }, [found.value, t, leaf, width]);
  const usual = useMemo(() => usualRange(picture), [picture]),
    low = pane.low ?? usual[0],
    high = pane.high ?? usual[1],
    dot = Math.max(
      6,
      Math.min(
        LARGEST_DOT,
        Math.floor((room.w || 500) / Math.max(1, width)),
        Math.max(24, Math.floor((room.h || 400) / Math.max(1, rows))),
      ),
    );
  useEffect(() => {
    if (!canvas.current || !picture || !found.value || !t) return;
    const g = paint(
      canvas.current,
      picture,
      dot,
      scales[scaleOf(pane)],
      placeOn(low, high, pane.log),
    );
    if (leaf && leaf.scalar !== "f64" && leaf.scalar !== "ptr")
      writeValues(
        g,
        picture,
        dot,
        leaf.scalar === "f32",
        scales[scaleOf(pane)],
        placeOn(low, high, pane.log),
        getComputedStyle(canvas.current).getPropertyValue("--mono"),
      );
    // What this phase did: a bar below what was written, a corner at what was read.
    for (let i = 0; i < count; i++) {
      const x = (i % width) * dot,
        y = Math.floor(i / width) * dot,
        touched = found.value.touched
          .subarray(i * t.bytes, (i + 1) * t.bytes)
          .reduce((a, b) => a | b, 0);
      if (touched & 2) {
        g.fillStyle = "rgba(255, 90, 40, .95)";
        g.fillRect(x, y + dot - 3, dot - 1, 3);
      }
      if (touched & 1) {
        g.fillStyle = "rgba(40, 200, 150, .95)";
        g.fillRect(x, y, 3, dot - 1);
      }
    }
    if (hover >= 0) {
      g.strokeStyle = "#fff";
      g.lineWidth = 3;
      g.strokeRect((hover % width) * dot, Math.floor(hover / width) * dot, dot - 1, dot - 1);
      g.strokeStyle = "#1c2230";
      g.lineWidth = 1.5;
      g.strokeRect((hover % width) * dot, Math.floor(hover / width) * dot, dot - 1, dot - 1);
    }
  }, [picture, dot, low, high, pane.log, pane.colours, hover]);
  if (!v || !t || v.address === undefined)
    return (
      <PaneFrame index={index} kind="phase" active={active} title="shared memory">
        <Failure
          text={
            v
              ? `Where ${v.name} lies in shared memory is not known on this device.`
              : "there is no such variable in this kernel"
          }
        />
      </PaneFrame>
    );
  const open = (i: number) => {
    if (i >= 0)
      follow(index, {
        kind: "memory",
        launch: pane.launch,
        space: pane.space,
        block: pane.block,
        thread: pane.thread,
        address: v.address! + i * t.bytes,
        bytes: t.bytes,
      });
  };
  const at = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect(),
      i = Math.floor((e.clientY - r.top) / dot) * width + Math.floor((e.clientX - r.left) / dot);
    return e.clientX - r.left < width * dot && i >= 0 && i < count ? i : -1;
  };
  const onKey = (e: KeyboardEvent) => {
    const by = (
      { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width } as Record<string, number>
    )[e.key];
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (by) setHover(hover < 0 ? 0 : hover + by >= 0 && hover + by < count ? hover + by : hover);
    else if (e.key === "Enter") {
      (e.currentTarget as HTMLElement).blur();
      open(hover);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const choose = (more: Partial<typeof pane>) => replace(index, { ...pane, ...more }, false),
    total = Math.max(1, found.value?.phases ?? 1),
    blocks = launches.get(pane.launch)?.grid.reduce((a, b) => a * b, 1) ?? 1;
  const said =
    hover >= 0 && found.value
      ? `${v.name}${indexText(hover, v.dims)} ${found.value.known[hover * t.bytes] === 0 ? "never written" : partsText(new DataView(found.value.value.buffer, found.value.value.byteOffset + hover * t.bytes, t.bytes), t, 0)}`
      : "";
  return (
    <PaneFrame
      index={index}
      kind="phase"
      active={active}
      title={
        <>
          <span class="what">{t.name}</span> {v.name}
          {dims.map((d) => `[${d}]`).join("")}
        </>
      }
      sub={
        <>
          <LaunchLink
            id={pane.launch}
            onClick={() => follow(index, { kind: "launch", launch: pane.launch })}
          />
          <span>
            {" "}
            · {pane.space === 1 ? "shared memory" : "local memory"} of {owner(pane)}
          </span>
        </>
      }
    >
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
        {all.length > 1 && (
          <label>
            part{" "}
            <select
              value={pane.part ?? 0}
              onChange={(e) => choose({ part: Number(e.currentTarget.value) })}
            >
              {all.map((x, i) => (
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
      {found.error ? (
        <Failure text={errorText(found.error)} />
      ) : (
        <div
          class="canvas"
          ref={holder}
          tabIndex={0}
          role="group"
          aria-label={`picture of ${v.name}: arrow keys choose an element, Enter opens it. ${said}`}
          onKeyDown={onKey}
        >
          {!picture && <Empty>reading…</Empty>}
          <canvas
            ref={canvas}
            class="dots"
            onMouseMove={(e) => setHover(at(e))}
            onMouseLeave={() => setHover(-1)}
            onClick={(e) => open(at(e))}
          />
        </div>
      )}
      <footer class="legend">
        <span class="under">
          {said ? (
            <>
              <b>{said}</b> <span class="dim">bank {bank(v.address + hover * t.bytes)}</span>
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
    </PaneFrame>
  );
}
export function numberAt(d: DataView, at: number, s: string): number {
  switch (s) {
    case "i8":
      return d.getInt8(at);
    case "u8":
    case "bool":
      return d.getUint8(at);
    case "i16":
      return d.getInt16(at, true);
    case "u16":
      return d.getUint16(at, true);
    case "i32":
      return d.getInt32(at, true);
    case "u32":
      return d.getUint32(at, true);
    case "i64":
      return Number(d.getBigInt64(at, true));
    case "u64":
    case "ptr":
      return Number(d.getBigUint64(at, true));
    case "f64":
      return d.getFloat64(at, true);
    case "f32":
      return d.getFloat32(at, true);
    case "f16": {
      const h = d.getUint16(at, true),
        e = (h >> 10) & 31,
        f = h & 1023,
        g = h & 0x8000 ? -1 : 1;
      return e === 31
        ? f
          ? NaN
          : g * Infinity
        : e
          ? g * (1024 + f) * 2 ** (e - 25)
          : g * f * 2 ** -24;
    }
    default: {
      const x = new DataView(new ArrayBuffer(4));
      x.setUint32(0, (d.getUint16(at, true) << 16) >>> 0, true);
      return x.getFloat32(0, true);
    }
  }
}
