// The page of flow: which part of the run is in sight, where steps and buffers stand, and what is
// under the mouse.
import { useMemo, useState } from "preact/hooks";
import { Buffer, FlowStep, buffers } from "../run/api";
import { Size } from "../parts/canvas";
import { Flow } from "./flowstep";
import { Spans, spansOf } from "./flowtime";
import { bufferName } from "../run/format";

export const NAMES = 190; // pixels for the names of lanes and buffers
export const LANE = 26;
export const ROW = 20;
export const HEAD = 24;

// from, upto: what is in sight, in steps, or by the clock in units of flowtime.ts
export interface FlowLayout {
  flow: Flow;
  rows: Buffer[];
  size: Size;
  spans: Spans | undefined;
  from: number;
  upto: number;
  perStep: number;
  lanesHigh: number;
  at: number;
  highest: number;
}
export interface Point {
  x: number;
  y: number;
}

export const xOf = (l: FlowLayout, unit: number) => NAMES + (unit - l.from) * l.perStep;
// In the view by steps, each step is a unit wide; in the view by the clock, as wide as its time.
export const beginOf = (l: FlowLayout, i: number) => (l.spans ? l.spans.begin[i] : i);
export const widthOf = (l: FlowLayout, i: number) =>
  l.spans ? (l.spans.end[i] - l.spans.begin[i]) * l.perStep : l.perStep;

export const hasFault = (s: FlowStep, races: Map<number, number>) =>
  s.findings > 0 || (races.get(s.launch) ?? 0) > 0;

// Filters steps and buffers by a text, by findings and by use.
export function useFlowFilter(flow: Flow, list: Buffer[], races: Map<number, number>) {
  const [text, setText] = useState("");
  const [onlyUsed, setOnlyUsed] = useState(true);
  const [bad, setBad] = useState(false);
  const { names, uses } = flow.index;
  const { steps } = flow;
  const words = text.trim().toLowerCase();
  const rows = useMemo(
    () =>
      list.filter(
        (b) =>
          (!onlyUsed || uses.has(b.id)) &&
          (!words ||
            bufferName(b).toLowerCase().includes(words) ||
            (uses.get(b.id) ?? []).some(([i]) => names[i].toLowerCase().includes(words))),
      ),
    [list, onlyUsed, words, flow],
  );
  const wanted = (i: number) =>
    (!words && !bad) ||
    ((!words ||
      names[i].toLowerCase().includes(words) ||
      steps[i].uses.some((u) =>
        bufferName(buffers.get(u[0]), u[0]).toLowerCase().includes(words),
      )) &&
      (!bad || hasFault(steps[i], races)));
  return { text, setText, onlyUsed, setOnlyUsed, bad, setBad, words, rows, wanted };
}
export type FlowFilter = ReturnType<typeof useFlowFilter>;

// The part of the run that is in sight, and how it moves.
export function useFlowView(flow: Flow, rows: Buffer[], size: Size) {
  const [view, setView] = useState({ from: 0, upto: 0 });
  const [top, setTop] = useState(0);
  const [byTime, setByTime] = useState(false);
  const n = flow.steps.length;
  const from = view.upto ? view.from : 0;
  const upto = view.upto || Math.max(1, n);
  const perStep = (size.w - NAMES) / Math.max(1e-9, upto - from);
  const lanesHigh = HEAD + flow.index.lanes.length * LANE + 6;
  const highest = Math.max(0, rows.length * ROW - (size.h - lanesHigh));
  const at = Math.min(top, highest);
  const spans = useMemo(() => (byTime ? spansOf(flow.steps) : undefined), [byTime, flow.steps]);
  const show = (start: number, width: number) => setView({ from: start, upto: start + width });
  const startOf = (start: number, width: number) => Math.max(0, Math.min(n - width, start));
  const zoom = (by: number, x = size.w / 2) => {
    const width = Math.max(spans ? n / 1e7 : 2, Math.min(n, (upto - from) / by));
    const anchor = from + (Math.max(NAMES, x) - NAMES) / perStep;
    const share = (anchor - from) / Math.max(1e-9, upto - from);
    show(startOf(anchor - share * width, width), width);
  };
  const panTo = (start: number, width: number) => show(startOf(start, width), width);
  const layout: FlowLayout = {
    ...{ flow, rows, size, spans },
    ...{ from, upto, perStep, lanesHigh, at, highest },
  };
  return {
    layout,
    byTime,
    setByTime,
    setTop,
    zoom,
    panTo,
    pan: (by: number) => panTo(from + by, upto - from),
    showAll: () => setView({ from: 0, upto: 0 }),
    scrollTo: (to: number) => setTop(Math.max(0, Math.min(highest, to))),
  };
}
export type FlowView = ReturnType<typeof useFlowView>;

// What is under the mouse: a buffer's row, or a lane (-1: none), and the step there (-1: none).
export interface FlowHit {
  row: Buffer | undefined;
  lane: number;
  step: number;
}
export function hitAt(l: FlowLayout, hover: Point | undefined): FlowHit {
  if (!hover) return { row: undefined, lane: -1, step: -1 };
  const row =
    hover.y > l.lanesHigh ? l.rows[Math.floor((hover.y - l.lanesHigh + l.at) / ROW)] : undefined;
  const lane = hover.y > HEAD && hover.y < l.lanesHigh ? Math.floor((hover.y - HEAD) / LANE) : -1;
  return { row, lane, step: hover.y > HEAD ? stepAt(l, hover.x, row, lane) : -1 };
}
function stepAt(l: FlowLayout, x: number, row: Buffer | undefined, lane: number): number {
  if (l.spans) return x >= NAMES ? nearest(l, x, row, lane) : -1;
  const i = Math.floor(l.from + (x - NAMES) / l.perStep);
  return x >= NAMES && i >= 0 && i < l.flow.steps.length ? i : -1;
}
// By the clock: the nearest step of the lane, or the nearest step that uses the buffer.
function nearest(l: FlowLayout, x: number, row: Buffer | undefined, lane: number): number {
  const { uses, laneOf } = l.flow.index;
  let best = -1;
  let away = 6;
  const look = (i: number) => {
    const begin = xOf(l, beginOf(l, i));
    const distance = x < begin ? begin - x : Math.max(0, x - begin - widthOf(l, i));
    if (distance < away) {
      away = distance;
      best = i;
    }
  };
  if (row) for (const [i] of uses.get(row.id) ?? []) look(i);
  else for (let i = 0; i < l.flow.steps.length && lane >= 0; i++) if (laneOf[i] === lane) look(i);
  return best;
}
