// A buffer side by side with its other self, after another step or in another run, and their
// difference as a picture.
import { kernelName } from "../flow/flowstep";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { askBytes, Buffer, buffers } from "../run/api";
import { Dots, dotsOf, Ref, Room, useRoom } from "../picture/dots";
import { bufferName, elementName, knownOf, many, partsText } from "../run/format";
import { useAnswer, useListen } from "../parts/hooks";
import {
  decode,
  goodWidth,
  NUMBER,
  paint,
  Picture,
  placeOn,
  ring,
  scales,
  usualRange,
} from "../picture/paint";
import { Button, Empty, Failure, PaneFrame } from "../parts/parts";
import { PartControl } from "../picture/picturecontrols";
import { ShownPart, usePart } from "../picture/picturelayout";
import { ScaleControls, scaleOf } from "../picture/scale";
import { allSteps, hostTail, stepById } from "../run/time";
import { follow, Pane, replace } from "../parts/trail";
import { onTypes, Type } from "../run/types";

type TwinLook = Extract<Pane, { kind: "twin" }>;
interface TwinProps {
  pane: TwinLook;
  index: number;
  active: boolean;
  kernels: Record<string, string>;
}

function useBoth(pane: TwinLook, question: Record<string, string | number>) {
  return useAnswer(async () => {
    const [a, b] = await Promise.all([
      askBytes("picture", { ...question, allocation: pane.buffer, step: pane.step }),
      askBytes(pane.run ? "other/picture" : "picture", {
        ...question,
        allocation: pane.other,
        step: pane.otherStep,
      }),
    ]);
    return [decode(a), decode(b)] as [Picture, Picture];
  }, [pane.buffer, pane.step, pane.other, pane.otherStep, pane.run, JSON.stringify(question)]);
}
export function differenceOf(p: Picture, q: Picture): Picture {
  const n = Math.min(p.mean.length, q.mean.length);
  const d: Picture = {
    columns: p.columns,
    rows: p.rows,
    low: NaN,
    high: NaN,
    min: new Float32Array(p.mean.length),
    max: new Float32Array(p.mean.length),
    mean: new Float32Array(p.mean.length),
    flags: new Uint8Array(p.flags),
  };
  for (let i = 0; i < n; i++) {
    if (p.flags[i] & q.flags[i] & NUMBER) {
      d.min[i] = p.min[i] - q.min[i];
      d.max[i] = p.max[i] - q.max[i];
      d.mean[i] = p.mean[i] - q.mean[i];
      if (!(d.mean[i] >= d.low)) d.low = d.mean[i];
      if (!(d.mean[i] <= d.high)) d.high = d.mean[i];
    }
    d.flags[i] = p.flags[i] | q.flags[i];
  }
  return d;
}

// The elements of both, and the size of their dots.
interface TwinLayout extends Dots {
  part: ShownPart;
  count: number;
  width: number;
  rows: number;
}
// Three pictures in one, two or three columns: whichever makes them largest.
function sizeOfThree(room: Room, width: number, rows: number): number {
  const sizes = [1, 2, 3].map((across) => {
    const down = Math.ceil(3 / across);
    return Math.min(
      ((room.w || 1060) - 28 - 16 * (across - 1)) / across / width,
      ((room.h || 460) - 20 - 16 * (down - 1)) / down / rows - 24 / rows,
    );
  });
  return Math.min(32, Math.max(...sizes, 1 / 4096));
}
function useTwinLayout(pane: TwinLook, buffer: Buffer | undefined, holder: Ref<HTMLElement>) {
  const part = usePart(pane.buffer, pane.part);
  const count = buffer ? Math.floor(buffer.size / part.type.bytes) : 0;
  const width = Math.max(1, pane.width || goodWidth(count));
  const rows = Math.max(1, Math.ceil(count / width));
  const room = useRoom(holder, { w: 0, h: 0 }, []);
  return { part, count, width, rows, ...dotsOf(sizeOfThree(room, width, rows)) };
}

const questionOf = ({ part, width, rows, pool }: TwinLayout) => ({
  type: part.scalar,
  stride: part.type.bytes,
  offset: part.leaf.offset,
  width,
  rows,
  pool_x: pool,
  pool_y: pool,
  first: 0,
});

// Both pictures, their difference, and the scales of these.
function usePictures(pane: TwinLook, layout: TwinLayout) {
  const both = useBoth(pane, questionOf(layout));
  const difference = useMemo(() => both.value && differenceOf(...both.value), [both.value]);
  const usual = useMemo(() => usualRange(both.value?.[0]), [both.value]);
  const low = pane.low ?? usual[0];
  const high = pane.high ?? usual[1];
  const far = difference
    ? Math.max(Math.abs(difference.low || 0), Math.abs(difference.high || 0)) || 1
    : 1;
  const place = useMemo(() => placeOn(low, high, pane.log), [low, high, pane.log]);
  const placeDifference = useMemo(() => placeOn(-far, far, pane.log), [far, pane.log]);
  const different = useMemo(
    () => (difference && both.value ? differentPixels(difference, ...both.value) : []),
    [difference],
  );
  return { both, difference, usual, far, place, placeDifference, different };
}
// The first pixels that differ.
function differentPixels(difference: Picture, a: Picture, b: Picture): number[] {
  const out: number[] = [];
  for (let i = 0; i < difference.mean.length && out.length < 200; i++)
    if ((difference.mean[i] !== 0 && difference.flags[i] & NUMBER) || a.flags[i] !== b.flags[i])
      out.push(i);
  return out;
}

// The values of an element in both.
async function valuesText(pane: TwinLook, t: Type, element: number): Promise<string> {
  const q = { offset: element * t.bytes, bytes: t.bytes };
  const values = await Promise.all([
    askBytes("contents", { ...q, allocation: pane.buffer, step: pane.step }),
    askBytes(pane.run ? "other/contents" : "contents", {
      ...q,
      allocation: pane.other,
      step: pane.otherStep,
    }),
  ]);
  const [x, y] = values.map((v) =>
    knownOf(new Uint8Array(v, t.bytes, t.bytes), t, 0)
      ? "not known"
      : partsText(new DataView(v, 0, t.bytes), t, 0),
  );
  return `${elementName(pane.buffer, element * t.bytes, t.bytes)}: ${x} and ${y}`;
}
function useValuesText(pane: TwinLook, t: Type, element: number, on: unknown[]): string {
  const [text, setText] = useState("");
  useEffect(() => {
    if (element < 0) {
      setText("");
      return;
    }
    let gone = false;
    const timer = setTimeout(async () => {
      try {
        const values = await valuesText(pane, t, element);
        if (!gone) setText(values);
      } catch {
        /* the picture says what is wrong */
      }
    }, 30);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, on);
  return text;
}

interface SideProps {
  title: string;
  picture: Picture;
  dot: number;
  stops: number[][];
  place(v: number): number;
  at: number;
  choose(i: number): void;
  open(i: number): void;
}
function Side({ title, picture, dot, stops, place, at, choose, open }: SideProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) {
      const g = paint(canvas.current, picture, dot, stops, place);
      if (at >= 0) ring(g, at, picture.columns, dot, "#1c2230");
    }
  }, [picture, dot, stops, place, at]);
  const under = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect();
    const x = Math.floor((e.clientX - r.left) / dot);
    const y = Math.floor((e.clientY - r.top) / dot);
    return x >= 0 && x < picture.columns && y >= 0 && y < picture.rows
      ? y * picture.columns + x
      : -1;
  };
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div class="sidebox">
        <canvas
          ref={canvas}
          class="dots"
          onMouseMove={(e) => choose(under(e))}
          onMouseLeave={() => choose(-1)}
          onClick={(e) => open(under(e))}
        />
      </div>
    </figure>
  );
}

function stepText(id: number, kernels: Record<string, string>): string {
  const s = stepById(id);
  return !id
    ? "at the end"
    : s
      ? s.kind === "launch"
        ? `after ${kernelName(kernels[s.kernel])} #${s.number}`
        : `after ${s.call || s.kind}${hostTail(s.id)}`
      : `after step ${id}`;
}

// The data that the pane shows, and its state.
function useTwinPane({ pane }: TwinProps) {
  useListen(onTypes);
  const buffer = buffers.get(pane.buffer);
  const holder = useRef<HTMLDivElement>(null);
  const layout = useTwinLayout(pane, buffer, holder);
  const pictures = usePictures(pane, layout);
  const [at, setAt] = useState(-1); // a pixel
  const elementAt = (i: number) => {
    const { count, pool, width } = layout;
    const c = pictures.difference?.columns ?? 1;
    return i < 0 ? -1 : Math.min(count - 1, Math.floor(i / c) * pool * width + (i % c) * pool);
  };
  const text = useValuesText(pane, layout.part.type, elementAt(at), [at, pictures.both.value]);
  const steps = useMemo(
    () =>
      allSteps.filter((s) => s.uses.some((u) => u[0] === pane.buffer && u[1] !== 1)).slice(0, 500),
    [pane.buffer, allSteps.length],
  );
  return { buffer, holder, layout, ...pictures, at, setAt, elementAt, text, steps };
}

export function TwinPane(props: TwinProps) {
  const { pane, index, active } = props;
  const state = useTwinPane(props);
  const { layout, at, elementAt, different } = state;
  const { bytes } = layout.part.type;
  const choose = (more: Partial<TwinLook>) => replace(index, { ...pane, ...more }, false);
  const label = (id: number) => stepText(id, props.kernels);
  const open = (i: number) => {
    const e = elementAt(i);
    if (e >= 0)
      follow(index, {
        kind: "element",
        buffer: pane.buffer,
        offset: e * bytes,
        bytes,
        step: pane.step || undefined,
      });
  };
  const go = (by: number) => {
    const k = different.findIndex((i) => i === at);
    const n = different[Math.max(0, Math.min(different.length - 1, k < 0 ? 0 : k + by))];
    if (n !== undefined) state.setAt(n);
  };
  const common = { ...state, pane, choose, label, open, go };
  return (
    <PaneFrame
      index={index}
      kind="twin"
      active={active}
      title={
        <>
          <span class="what">compare</span> {bufferName(state.buffer, pane.buffer)}[
          {many(layout.count)}]
        </>
      }
      sub={
        pane.run
          ? `this run and the other, ${label(pane.step)}`
          : `${label(pane.step)} and ${label(pane.otherStep)}`
      }
      tools={
        pane.run && pane.other ? (
          <a
            class="button"
            target="_blank"
            rel="noopener"
            href={`other/#/b:${pane.other}.${pane.otherStep}.0`}
          >
            in the other run
          </a>
        ) : undefined
      }
    >
      <TwinControls {...common} />
      <div class="twinroom" ref={state.holder}>
        <TwinPictures {...common} />
      </div>
      <TwinLegend {...common} />
    </PaneFrame>
  );
}

// The props of the parts below.
interface PartProps extends ReturnType<typeof useTwinPane> {
  pane: TwinLook;
  choose(more: Partial<TwinLook>): void;
  label(step: number): string;
  open(pixel: number): void;
  go(by: number): void;
}

function TwinControls({ pane, layout, both, usual, steps, choose, label }: PartProps) {
  const { part, count } = layout;
  return (
    <div class="controls">
      <label>
        width{" "}
        <input
          type="number"
          min={1}
          max={Math.max(1, count)}
          value={layout.width}
          onChange={(e) => {
            const n = Math.floor(Number(e.currentTarget.value));
            if (n >= 1 && n <= count) choose({ width: n });
          }}
        />
      </label>
      {part.all.length > 1 && <PartControl shown={part} choose={choose} />}
      {!pane.run &&
        (["step", "otherStep"] as const).map((k, i) => (
          <label>
            {i ? "and" : ""}{" "}
            <select
              aria-label={i ? "the other step" : "the step"}
              value={pane[k]}
              onChange={(e) => choose({ [k]: Number(e.currentTarget.value) })}
            >
              {steps.map((s) => (
                <option value={s.id}>{label(s.id)}</option>
              ))}
              <option value={0}>at the end</option>
            </select>
          </label>
        ))}
      <ScaleControls
        look={pane}
        usual={both.value && usual}
        number={(n) => String(Number(n.toPrecision(6)))}
        choose={choose}
      />
    </div>
  );
}

function onKey(e: KeyboardEvent, { at, go, open }: PartProps) {
  if (e.key === "ArrowRight" || e.key === "ArrowDown") go(1);
  else if (e.key === "ArrowLeft" || e.key === "ArrowUp") go(-1);
  else if (e.key === "Enter" && at >= 0) open(at);
  else return;
  e.preventDefault();
  e.stopPropagation();
}
function TwinPictures(props: PartProps) {
  const { pane, both, difference, layout, place, at, setAt, open, label } = props;
  if (both.error) return <Failure text={both.error} />;
  if (!both.value || !difference) return <Empty>reading…</Empty>;
  const common = { dot: layout.dot, at, choose: setAt, open };
  const stops = scales[scaleOf(pane)];
  return (
    <div
      class="twins canvas"
      tabIndex={0}
      role="group"
      aria-label={
        "two pictures and their difference: arrow keys go over what differs, " +
        `Enter opens it. ${props.text}`
      }
      onKeyDown={(e) => onKey(e, props)}
    >
      <Side
        {...common}
        title={pane.run ? "this run" : label(pane.step)}
        picture={both.value[0]}
        stops={stops}
        place={place}
      />
      <Side
        {...common}
        title={pane.run ? "the other run" : label(pane.otherStep)}
        picture={both.value[1]}
        stops={stops}
        place={place}
      />
      <Side
        {...common}
        title="difference"
        picture={difference}
        stops={scales["blue-red"]}
        place={props.placeDifference}
      />
    </div>
  );
}

function TwinLegend({ text, different, far, layout, go }: PartProps) {
  const n = different.length;
  const isPooled = layout.pool > 1;
  return (
    <footer class="legend">
      <span class="under">
        {text ? (
          <b>{text}</b>
        ) : (
          <span class="dim">
            {n === 1
              ? `1 ${isPooled ? "pixel" : "element"} differs`
              : `${n === 200 ? "200 or more" : n} ${isPooled ? "pixels" : "elements"} differ`}
            {far !== 1 || n ? `, by at most ${Number(far.toPrecision(4))}` : ""}
          </span>
        )}
      </span>
      <Button icon="left" label="What differs before" onClick={() => go(-1)} />
      <Button icon="right" label="What differs next" onClick={() => go(1)} />
    </footer>
  );
}
