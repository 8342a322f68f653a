// The data of a buffer's picture: values, changes since another step, elements that some threads
// touched, the range of the scale.
import { useMemo, useRef } from "preact/hooks";
import { ask, askBytes, Buffer, FlowStep, LaunchInfo } from "../run/api";
import { bufferAt, bytesOf } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { parameterType } from "../parts/parameters";
import { BAND, NUMBER, Picture, usePicture, usualRange } from "./paint";
import { BufferLook, Layout, ShownPart } from "./picturelayout";
import { leaves } from "../run/types";

// A buffer after a step, and how it is shown.
export interface BufferView {
  pane: BufferLook;
  buffer: Buffer | undefined;
  step: number;
  part: ShownPart;
  layout: Layout;
}

// The question to the server for pictures and pixels of this buffer.
export const questionOf = ({ pane, part, layout }: BufferView) => ({
  allocation: pane.buffer,
  type: part.scalar,
  stride: part.type.bytes,
  offset: part.leaf.offset,
  width: layout.width,
  pool_x: layout.pool,
  pool_y: layout.pool,
  of: pane.by,
});

// Steps that may have changed the buffer.
export const useSteps = (steps: FlowStep[], buffer: number) =>
  useMemo(
    () => steps.filter((s) => s.uses.some((u) => u[0] === buffer && (u[1] !== 1 || !s.recorded))),
    [steps, buffer],
  );

type Named = [name: string, number: number];
type Parameter = LaunchInfo["parameters"][number];
const integers = new Set(["i32", "u32", "i64", "u64"]);
// The integers of a parameter; of a struct those of its fields, and whether one of its fields
// points to the buffer.
function numbersOf(p: Parameter, buffer: number): { numbers: Named[]; isBeside: boolean } {
  const none = { numbers: [], isBeside: false };
  if (!p.name || !p.value || p.allocation) return none;
  const d = bytesOf(p.value.toLowerCase());
  const plain = /^(u?int|unsigned|long|size_t|u?int\d+_t)/.test(p.type ?? "");
  if (plain && (p.bytes === 4 || p.bytes === 8))
    return { numbers: [[p.name, d.getUint32(0, true)]], isBeside: false };
  const type = parameterType(p);
  if (!type?.known || type.bytes !== p.bytes || d.byteLength !== p.bytes) return none;
  const all = leaves(type, 64);
  return {
    numbers: all
      .filter((l) => l.path && !l.bits && integers.has(l.scalar))
      .map((l): Named => [`${p.name}${l.path}`, d.getUint32(l.offset, true)]),
    isBeside: all.some(
      (l) => l.scalar === "ptr" && bufferAt(d.getBigUint64(l.offset, true))?.id === buffer,
    ),
  };
}
// Two numbers whose product is the number of elements are width and height: chosen by their names,
// else in this order.
// A number with a width's name in the struct that points to the buffer also counts.
const isWidth = ([name]: Named) => /(^|\.)(w|width|nx|n?cols?|columns|pitch|stride)$/i.test(name);
function widthAmong(given: Named[], beside: Named[], count: number): number | undefined {
  const pairs = given.filter(([, n], i) => given.some(([, m], k) => k !== i && n * m === count));
  return (pairs.find(isWidth) ?? pairs[0] ?? beside.find(isWidth))?.[1];
}

// Numbers that a kernel was given together with the buffer, and that divide it into rows: one of
// them may be its width. sure: it is its width.
export function useWidths(steps: FlowStep[], used: FlowStep[], view: BufferView) {
  const { count, width } = view.layout;
  const user =
    used.find((s) => s.kind === "launch" && s.launch)?.launch ??
    steps.find(
      (s) => s.kind === "launch" && s.launch && s.uses.some((u) => u[0] === view.pane.buffer),
    )?.launch;
  const given = useAnswer<LaunchInfo>(
    () => (user ? ask("launch", { id: user }) : undefined),
    [user],
  );
  const all = (given.value?.parameters ?? []).map((p) => numbersOf(p, view.pane.buffer));
  const named = (isBeside: boolean) =>
    all
      .filter((a) => a.isBeside === isBeside)
      .flatMap((a) => a.numbers)
      .filter(([, n]) => n > 1 && n < count && count % n === 0);
  const beside = named(true);
  const numbers = [...beside, ...named(false)];
  return {
    sure: widthAmong(numbers, beside, count),
    offered: numbers
      .filter(([, n], i) => n !== width && numbers.findIndex(([, m]) => m === n) === i)
      .slice(0, 3),
  };
}

function changeOf(p: Picture, q: Picture): Picture {
  const d: Picture = {
    ...p,
    min: new Float32Array(p.min.length),
    max: new Float32Array(p.min.length),
    mean: new Float32Array(p.min.length),
    low: NaN,
    high: NaN,
  };
  for (let i = 0; i < p.flags.length; i++) {
    d.mean[i] = p.mean[i] - q.mean[i];
    d.min[i] = p.min[i] - q.min[i];
    d.max[i] = p.max[i] - q.max[i];
    if (p.flags[i] & NUMBER) {
      if (!(d.mean[i] >= d.low)) d.low = d.mean[i];
      if (!(d.mean[i] <= d.high)) d.high = d.mean[i];
    }
  }
  return d;
}

// The picture, or its difference to the one after another step; done: how much of it is read.
export function useBufferPicture(view: BufferView) {
  const { pane, buffer, step, part, layout: l } = view;
  const question = questionOf(view);
  const bytesOfLine = part.type.bytes * l.width * l.pool;
  const rowsOfBand = Math.max(1, Math.floor((pane.by ? BAND / 4 : BAND) / bytesOfLine));
  const load = (at: number) => (first: number, n: number) =>
    askBytes("picture", {
      ...question,
      step: at,
      first: l.first + (l.from + first) * l.pool * l.width,
      rows: Math.min(n * l.pool, l.rows - (l.from + first) * l.pool),
    });
  const what = [
    pane.buffer,
    l.width,
    l.rows,
    l.first,
    part.scalar,
    part.type.bytes,
    part.leaf.offset,
    l.pool,
    l.from,
    l.loaded,
    pane.by ?? "",
    !l.room.w,
  ];
  const whole = buffer && l.count && l.room.w ? { columns: l.columns, rows: l.loaded } : undefined;
  // The old picture stays until one of another step, width or part of the same elements is read.
  const elements = [pane.buffer, part.scalar, part.type.bytes, part.leaf.offset, pane.by].join();
  const now = usePicture([...what, step], whole, rowsOfBand, load(step), elements);
  const other = usePicture(
    [...what, pane.minus],
    pane.minus !== undefined ? whole : undefined,
    rowsOfBand,
    load(pane.minus ?? 0),
    elements,
  );
  const picture = useMemo(() => {
    const p = now.picture;
    const q = pane.minus !== undefined && !pane.by ? other.picture : undefined;
    return !p || !q || p.flags.length !== q.flags.length ? p : changeOf(p, q);
  }, [now.picture, other.picture, pane.minus]);
  return { picture, done: now.done, error: now.error };
}

// Elements that some threads of a launch touched, drawn over the picture.
export function useTouched({ pane, buffer, part }: BufferView) {
  const touched = useAnswer(
    () =>
      pane.ofLaunch && buffer
        ? askBytes("touched", {
            launch: pane.ofLaunch,
            first: pane.firstThread ?? 0,
            last: pane.lastThread ?? 0,
            allocation: pane.buffer,
            stride: part.type.bytes,
          })
        : undefined,
    [pane.ofLaunch, pane.firstThread, pane.lastThread, pane.buffer, part.type.bytes],
  );
  return useMemo(() => touched.value && new Uint8Array(touched.value), [touched.value]);
}

// By default the scale covers the first picture without the farthest hundredth at either end, and
// stays, so that it does not change with every move.
export function useUsualScale(view: BufferView, picture: Picture | undefined, done: number) {
  const { pane, step, part, layout } = view;
  const zoom = pane.zoom ?? 0;
  const kept = useRef<{ key: string; range: [number, number] } | undefined>(undefined);
  return useMemo(() => {
    const key = JSON.stringify([
      pane.buffer,
      step,
      layout.width,
      part.scalar,
      part.leaf.offset,
      layout.slice,
      pane.minus,
      pane.by,
    ]);
    const range: [number, number] =
      pane.by && picture ? [picture.low, picture.high] : usualRange(picture);
    if (kept.current?.key !== key || done < 1 || !zoom) kept.current = { key, range };
    return kept.current.range;
  }, [picture, zoom]);
}
