// The small flow chart: which buffers have a column, where columns and rows are, and how the rows
// scroll and zoom.
import { useMemo, useState } from "preact/hooks";
import { buffers } from "../run/api";
import { Size } from "../parts/canvas";
import { Flow } from "./flowstep";
import { bufferName } from "../run/format";

export const LABEL = 158; // pixels for the names of steps
const LANE = 15;
export const LETTER = 6.7;
// Names of buffers that do not fit beside each other stand aslant, at 60 degrees.
const SLOPE = 0.87;
const LETTERS = 14; // of a name; more are cut

// The buffers that have a column. head: pixels for their names; missing: how many have none.
export interface ChartColumns {
  lanes: number[];
  missing: number;
  names: Map<number, string>;
  laneX: Map<number, number>;
  apart: number;
  each: number; // pixels from one line to the next
  aslant: boolean;
  head: number;
}
// How many of the buffers have room: names aslant lean to the right, beyond the last line.
function roomFor(all: number[], width: number): number {
  const most = Math.max(1, Math.floor((width - LABEL - 16) / LANE));
  const longest = Math.max(...all.slice(0, most).map((b) => bufferName(buffers.get(b), b).length));
  const lean = (Math.min(longest, LETTERS) * LETTER) / 2;
  return Math.max(1, Math.floor((width - LABEL - 16 - lean) / LANE));
}
// For buffers that do not fit there is a page of its own.
export function useChartColumns(flow: Flow, width: number): ChartColumns {
  const { uses } = flow.index;
  const lanes = useMemo(() => {
    const all = flow.index.order.length
      ? flow.index.order
      : [...uses.keys()].sort((a, b) => uses.get(b)!.length - uses.get(a)!.length);
    return all.slice(0, roomFor(all, width)).sort((a, b) => a - b);
  }, [flow, width]);
  const names = useMemo(
    () => new Map(lanes.map((b) => [b, bufferName(buffers.get(b), b)])),
    [lanes, buffers.size],
  );
  const room = width - LABEL - 16;
  const apart = lanes.length > 1 ? Math.min(44, Math.max(LANE, room / lanes.length)) : room;
  const longest = Math.max(0, ...[...names.values()].map((n) => n.length));
  const aslant = longest * LETTER > apart - 4;
  const letters = Math.min(longest, LETTERS);
  const head = aslant ? Math.ceil(letters * LETTER * SLOPE) + 14 : 22;
  const lean = aslant ? (letters * LETTER) / 2 : 0;
  const each = Math.min(44, Math.max(LANE / 2, (room - lean) / lanes.length));
  const laneX = useMemo(
    () => new Map(lanes.map((b, i) => [b, LABEL + 10 + i * each])),
    [lanes, width, lean],
  );
  const missing = uses.size - lanes.length;
  return { lanes, missing, names, laneX, apart, each, aslant, head };
}

// Which rows are in sight. at: pixels above the first one; row: the height of each
export function useChartView(steps: number, size: Size, head: number) {
  const [top, setTop] = useState(0);
  const [row, setRow] = useState(20);
  const highest = Math.max(0, steps * row - (size.h - head));
  const at = Math.min(top, highest);
  const scrollTo = (to: number) => setTop(Math.max(0, Math.min(highest, to)));
  const zoom = (by: number, y = size.h / 2) => {
    const least = Math.min(1, (size.h - head) / Math.max(1, steps));
    const next = Math.max(least, Math.min(32, row * by));
    const step = (at + y - head) / row;
    setRow(next);
    setTop(Math.max(0, step * next - (y - head)));
  };
  // Scrolls so that a step is in the middle, unless it is in sight.
  const reveal = (step: number) => {
    if (step * row < at || (step + 1) * row > at + size.h - head)
      scrollTo(step * row - (size.h - head) / 2);
  };
  return { at, row, highest, scrollTo, zoom, reveal };
}
export type ChartView = ReturnType<typeof useChartView>;
