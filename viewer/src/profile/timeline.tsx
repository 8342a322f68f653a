// The timeline of a profile: ranges above (a row for each depth of a thread), the host below them,
// then streams. Wheel: zoom; drag: along time.
import { useRef, useState } from "preact/hooks";
import { bytesText, many } from "../run/format";
import { Call, RangeBar } from "./profiledata";

const MOST_RANGE_ROWS = 8;
const W = 900;
const LEFT = 84;
const ROW = 22;

const rangeRow = (r: RangeBar) =>
  `${String(r.thread).padStart(10, "0")}:${String(r.depth).padStart(4, "0")}`;
const asked = (c: Call, i: number): [from: number, upto: number] => [
  c.begin ?? i,
  Math.max(c.end ?? i + 0.8, (c.begin ?? i) + 0.001),
];

// The part of the whole time that is in sight, from 0 to 1, and how wheel and mouse change it.
function useTimeView() {
  const box = useRef<SVGSVGElement>(null);
  const [view, setView] = useState<[number, number]>([0, 1]);
  const drag = useRef<{ x: number; view: [number, number] } | undefined>(undefined);
  const place = (e: { clientX: number }) => {
    const r = box.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, (((e.clientX - r.left) / r.width) * W - LEFT) / (W - LEFT)));
  };
  const zoom = (by: number, at: number) =>
    setView(([a, b]) => {
      const width = Math.max(1e-6, Math.min(1, (b - a) / by));
      const anchor = a + (b - a) * at;
      const first = Math.max(0, Math.min(1 - width, anchor - width * at));
      return [first, first + width];
    });
  const handlers = {
    onWheel: (e: WheelEvent) => {
      e.preventDefault();
      zoom(e.deltaY < 0 ? 1.3 : 1 / 1.3, place(e));
    },
    onKeyDown: (e: KeyboardEvent) => {
      if (e.key === "+" || e.key === "-") {
        e.stopPropagation();
        zoom(e.key === "+" ? 1.5 : 1 / 1.5, 0.5);
      }
    },
    onPointerDown: (e: PointerEvent & { currentTarget: Element }) => {
      drag.current = { x: place(e), view };
      e.currentTarget.setPointerCapture(e.pointerId);
    },
    onPointerUp: () => {
      drag.current = undefined;
    },
    onPointerMove: (e: PointerEvent) => {
      const d = drag.current;
      if (!d) return;
      const width = d.view[1] - d.view[0];
      const first = Math.max(0, Math.min(1 - width, d.view[0] + (d.x - place(e)) * width));
      setView([first, first + width]);
    },
  };
  return { box, view, handlers };
}

// Data that all bars share. X: the x coordinate of a time; kernel: the chosen one
interface Times {
  X(t: number): number;
  timed: boolean;
  kernel?: string;
}
type Barred = Pick<Call, "kind" | "name" | "bytes">;

function Bar({
  call: c,
  span: [a, b],
  row,
  times: { X, timed, kernel },
}: {
  call: Barred;
  span: [from: number, upto: number];
  row: number;
  times: Times;
}) {
  if (X(b) < LEFT || X(a) > W) return null;
  const x = Math.max(LEFT, X(a));
  const width = Math.max(1, Math.min(W, X(b)) - x);
  const y = row * ROW + 3;
  const name = c.name ?? c.kind;
  return (
    <g>
      <rect
        x={x}
        y={y}
        width={width}
        height={ROW - 6}
        class={`call ${c.kind.replace(" ", "-")} ${kernel && c.name === kernel ? "here" : ""}`}
      >
        <title>
          {name +
            (c.bytes ? `, ${bytesText(c.bytes)}` : "") +
            (timed ? `, ${((b - a) / 1000).toFixed(1)} µs` : "")}
        </title>
      </rect>
      {width > 60 && (
        <text x={x + 4} y={y + 12} class="on">
          {name.slice(0, Math.floor(width / 7))}
        </text>
      )}
    </g>
  );
}

// When a call ran on its stream; without times, when it was asked for.
function ranAt(c: Call, i: number, timed: boolean): [from: number, upto: number] | undefined {
  if (c.kind === "wait") return undefined;
  if (c.started !== undefined) return [c.started, c.ended!];
  return timed ? undefined : asked(c, i);
}

interface Rows {
  ranges: string[];
  streams: number[];
}
function RowNames({ rows: { ranges, streams } }: { rows: Rows }) {
  const host = ranges.length;
  return (
    <>
      {host > 0 && (
        <text x={4} y={16}>
          ranges
        </text>
      )}
      <text x={4} y={host * ROW + 16}>
        host
      </text>
      {streams.map((s, i) => (
        <text x={4} y={(host + i + 1) * ROW + 16}>
          {s <= 2 ? "default" : `stream ${i}`}
        </text>
      ))}
    </>
  );
}

function Bars({
  calls,
  ranges,
  rows,
  times,
}: {
  calls: Call[];
  ranges: RangeBar[];
  rows: Rows;
  times: Times;
}) {
  const host = rows.ranges.length;
  return (
    <>
      {ranges.map((r, i) => {
        const row = rows.ranges.indexOf(rangeRow(r));
        const call = { kind: "range", name: r.name, bytes: 0 };
        return row < 0 ? null : (
          <Bar key={`r${i}`} call={call} span={[r.begin, r.end]} row={row} times={times} />
        );
      })}
      {calls.map((c, i) => (
        <Bar key={`h${i}`} call={c} span={asked(c, i)} row={host} times={times} />
      ))}
      {calls.map((c, i) => {
        const span = ranAt(c, i, times.timed);
        const row = host + rows.streams.indexOf(c.stream) + 1;
        return span ? <Bar key={`d${i}`} call={c} span={span} row={row} times={times} /> : null;
      })}
    </>
  );
}

export function Timeline({
  calls,
  total,
  kernel,
  ranges,
}: {
  calls: Call[];
  total: number;
  kernel?: string;
  ranges: RangeBar[];
}) {
  const rows = {
    ranges: [...new Set(ranges.map(rangeRow))].sort().slice(0, MOST_RANGE_ROWS),
    streams: [...new Set(calls.filter((c) => c.kind !== "wait").map((c) => c.stream))],
  };
  const timed = calls.some((c) => c.started !== undefined);
  const end = [
    ...calls.map((c, i) => Math.max(asked(c, i)[1], c.ended ?? 0)),
    ...ranges.map((r) => r.end),
  ].reduce((a, b) => Math.max(a, b), 1);
  const { box, view, handlers } = useTimeView();
  const X = (t: number) => LEFT + ((W - LEFT) * (t / end - view[0])) / (view[1] - view[0]);
  const low = (rows.ranges.length + rows.streams.length + 1) * ROW;
  const ms = (share: number) => `${((share * end) / 1e6).toFixed(3)} ms`;
  return (
    <figure class="plot timeline">
      <svg
        ref={box}
        viewBox={`0 0 ${W} ${low + 20}`}
        role="img"
        aria-label="timeline: wheel zooms"
        tabIndex={0}
        {...handlers}
      >
        <RowNames rows={rows} />
        <Bars calls={calls} ranges={ranges} rows={rows} times={{ X, timed, kernel }} />
        <text x={LEFT} y={low + 16}>
          {timed ? ms(view[0]) : `call ${Math.floor(view[0] * end) + 1}`}
        </text>
        <text x={W} y={low + 16} text-anchor="end">
          {timed ? ms(view[1]) : `call ${Math.ceil(view[1] * end)}`}
        </text>
      </svg>
      <figcaption>
        {timed
          ? "What the host asked for, and when it ran."
          : "The order of calls: the virtual device has no times."}{" "}
        The wheel zooms, dragging moves.
        {total > calls.length ? ` The first ${many(calls.length)} of ${many(total)} calls.` : ""}
      </figcaption>
    </figure>
  );
}
