// Pictures of a profile: roofline, occupancy, the addresses of a warp, the timeline.
import { useRef, useState } from "preact/hooks";
import { bytesText, many } from "./format";

export interface Access {
  file?: string;
  line?: number;
  ptx_line?: number;
  space: string;
  what: string;
  bytes: number;
  requests: number;
  looked_at?: number;
  threads: number;
  sectors?: number;
  wavefronts?: number;
  words?: number;
  lines?: number;
  ideal: number;
  pattern: string;
  stride?: number;
}
export interface Advice {
  rule: string;
  kernel?: string;
  file?: string;
  line?: number;
  evidence: string;
  worth_ms: number | null;
  instead: string;
}
export interface Call {
  kind: string;
  name?: string;
  stream: number;
  bytes: number;
  file?: string;
  line: number;
  begin?: number;
  end?: number;
  started?: number;
  ended?: number;
}
export interface RangeBar {
  name: string;
  depth: number;
  thread: number;
  begin: number;
  end: number;
}
export interface Kernel {
  kernel: string;
  instructions: number;
  warp_instructions: number;
  launches: number;
  ns?: number;
  accesses: Access[];
  branches: { file?: string; line?: number; warps: number; parted: number }[];
  waves?: { waves: number; last_full: number };
  occupancy?: {
    arch: number;
    registers: number;
    shared: number;
    threads: number;
    warps: number;
    most_warps: number;
    limit: string;
  };
  roofline: {
    bytes: number;
    floats: number;
    intensity: number;
    bound: string;
    share_of_roof?: number;
  };
  nodes?: number;
  node_runs?: number;
  uniform?: number;
  mix?: Record<string, number>;
  achieved_warps?: number;
  working_set?: { moved_bytes: number; launch_bytes: number; multiprocessor_bytes: number };
  stall_lines?: { file: string; line: number; samples: number; reason?: string }[];
  curves?: {
    threads: [number, number][];
    registers: [number, number][];
    shared: [number, number][];
  };
}
export interface Peaks {
  device: string;
  memory: number;
  float: number;
}

export const unitsOf = (a: Access) => a.sectors ?? a.wavefronts ?? a.words ?? 0;

const W = 520,
  H = 250,
  LEFT = 56,
  LOW = 30;
const log = (v: number, from: number, upto: number) =>
  (Math.log10(v) - Math.log10(from)) / (Math.log10(upto) - Math.log10(from));

// Both axes are logarithmic: FP instructions for each byte, and FP instructions in a nanosecond.
export function RooflinePlot({
  kernels,
  peaks,
  chosen,
  choose,
}: {
  kernels: Kernel[];
  peaks: Peaks;
  chosen: number;
  choose(i: number): void;
}) {
  const shown = kernels.map((k, i) => ({ k, i })).filter(({ k }) => k.roofline.intensity > 0);
  const fromX = 1 / 128,
    uptoX = 256,
    topY = peaks.float * 2,
    fromY = topY / 1e5;
  const X = (v: number) =>
      LEFT + (W - LEFT - 12) * log(Math.min(uptoX, Math.max(fromX, v)), fromX, uptoX),
    Y = (v: number) =>
      H - LOW - (H - LOW - 10) * log(Math.min(topY, Math.max(fromY, v)), fromY, topY);
  const roof = (v: number) => Math.min(peaks.float, v * peaks.memory),
    knee = peaks.float / peaks.memory;
  const marks = [1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64];
  return (
    <figure class="plot">
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label="roofline">
        {marks.map((m) => (
          <g>
            <line class="grid" x1={X(m)} x2={X(m)} y1={10} y2={H - LOW} />
            <text x={X(m)} y={H - 16} text-anchor="middle">
              {m < 1 ? `1/${1 / m}` : m}
            </text>
          </g>
        ))}
        {[1e-3, 1e-2, 1e-1, 1]
          .map((s) => peaks.float * s)
          .map((v) => (
            <g>
              <line class="grid" x1={LEFT} x2={W - 12} y1={Y(v)} y2={Y(v)} />
              <text x={LEFT - 6} y={Y(v) + 4} text-anchor="end">
                {v >= 1000 ? `${(v / 1000).toFixed(0)} T` : `${v.toFixed(0)} G`}
              </text>
            </g>
          ))}
        <path
          class="roof"
          d={`M${X(fromX)} ${Y(roof(fromX))}L${X(knee)} ${Y(peaks.float)}L${X(uptoX)} ${Y(peaks.float)}`}
        />
        {shown.map(({ k, i }) => {
          const at = k.ns ? k.roofline.floats / k.ns : roof(k.roofline.intensity);
          return (
            <g class={`kernel ${i === chosen ? "here" : ""}`} onClick={() => choose(i)}>
              <circle
                cx={X(k.roofline.intensity)}
                cy={Y(at)}
                r={i === chosen ? 6 : 4.5}
                class={k.ns ? "" : "untimed"}
              />
              <title>{`${k.kernel}: ${k.roofline.intensity.toPrecision(3)} FP instructions a byte${k.ns ? "" : "; no times: its place on the roof"}`}</title>
            </g>
          );
        })}
        <text x={(W + LEFT) / 2} y={H - 2} text-anchor="middle">
          FP instructions for each byte of memory
        </text>
      </svg>
      <figcaption>
        FP instructions in a nanosecond, below the roof of {peaks.device}. An FMA counts once.
        {shown.some((s) => !s.k.ns)
          ? " Hollow: there are no times, so the place on the roof is shown."
          : ""}
        {shown.length < kernels.length
          ? ` Kernels without arithmetic or global memory are not on it: ${many(kernels.length - shown.length)}.`
          : ""}
      </figcaption>
    </figure>
  );
}

function Curve({
  points,
  at,
  most,
  label,
  unit,
}: {
  points: [number, number][];
  at: number;
  most: number;
  label: string;
  unit: (n: number) => string;
}) {
  const w = 210,
    h = 120,
    last = points[points.length - 1]?.[0] ?? 1,
    X = (v: number) => 26 + ((w - 34) * v) / last,
    Y = (v: number) => h - 22 - ((h - 32) * v) / most;
  const path = points.map(([x, y], i) => `${i ? `H${X(x)}` : `M${X(x)} ${Y(y)}`}V${Y(y)}`).join("");
  return (
    <svg viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`warps by ${label}`}>
      {[0, most / 2, most].map((v) => (
        <g>
          <line class="grid" x1={26} x2={w - 8} y1={Y(v)} y2={Y(v)} />
          <text x={22} y={Y(v) + 4} text-anchor="end">
            {v}
          </text>
        </g>
      ))}
      <path class="curve" d={path} />
      <line class="now" x1={X(at)} x2={X(at)} y1={8} y2={h - 22} />
      <text x={Math.max(40, Math.min(w - 30, X(at)))} y={h - 9} text-anchor="middle" class="now">
        {unit(at)}
      </text>
      <text x={w - 8} y={h - 9} text-anchor="end">
        {unit(last)}
      </text>
      <title>{`warps that a multiprocessor holds, by ${label}`}</title>
    </svg>
  );
}
export function OccupancyPlots({ k }: { k: Kernel }) {
  const o = k.occupancy,
    c = k.curves;
  if (!o || !c)
    return (
      <p class="dim">Registers are not known: ptxas was not installed where the program ran.</p>
    );
  return (
    <figure class="plot curves">
      <div>
        <Curve
          points={c.threads}
          at={o.threads}
          most={o.most_warps}
          label="threads of a block"
          unit={(n) => `${n} threads`}
        />
        <Curve
          points={c.registers}
          at={o.registers}
          most={o.most_warps}
          label="registers of a thread"
          unit={(n) => `${n} registers`}
        />
        <Curve
          points={c.shared}
          at={o.shared}
          most={o.most_warps}
          label="shared memory of a block"
          unit={(n) => bytesText(n)}
        />
      </div>
      <figcaption>
        {o.warps} of {o.most_warps} warps fit on a multiprocessor of sm_{o.arch}, limited by{" "}
        {o.limit}
        {k.waves ? `; the largest launch fills the device ${k.waves.waves.toFixed(2)} times` : ""}
      </figcaption>
    </figure>
  );
}

// One request of a full warp: the sectors (or banks) that its 32 lanes touch. What is known of the pattern is drawn; without a regular one only the count is.
export function WarpPicture({ a }: { a: Access }) {
  const stride = /^one address/.test(a.pattern)
    ? 0
    : /^unit stride/.test(a.pattern)
      ? a.bytes
      : a.stride;
  const each = unitsOf(a) / Math.max(1, a.requests),
    ideal = a.ideal / Math.max(1, a.requests),
    cell = 14;
  if (stride === undefined || stride > 1 << 16)
    return (
      <p class="dim">
        {a.pattern}: {each.toFixed(1)} a request, {ideal.toFixed(1)} would do
      </p>
    );
  const shared = a.space === "shared",
    off = /misaligned by (\d+)/.exec(a.pattern),
    start = off ? Number(off[1]) : /misaligned/.test(a.pattern) ? 4 : 0;
  const lanes = Array.from({ length: 32 }, (_, l) => start + l * stride);
  if (shared) {
    const banks = Array.from({ length: 32 }, () => new Set<number>());
    lanes.forEach((x) => {
      for (let b = x; b < x + Math.max(4, a.bytes); b += 4) banks[(b / 4) & 31].add(b >> 2);
    });
    const high = Math.max(...banks.map((b) => b.size));
    return (
      <figure class="plot warp">
        <svg
          viewBox={`0 0 ${32 * cell + 2} ${Math.min(32, high) * 6 + 20}`}
          role="img"
          aria-label="banks"
        >
          {banks.map((b, i) =>
            Array.from({ length: Math.min(32, b.size) }, (_, n) => (
              <rect
                class={n ? "bad" : "good"}
                x={i * cell + 1}
                y={(Math.min(32, high) - 1 - n) * 6 + 1}
                width={cell - 2}
                height={5}
              />
            )),
          )}
          {[0, 8, 16, 24, 31].map((i) => (
            <text x={i * cell + cell / 2} y={Math.min(32, high) * 6 + 15} text-anchor="middle">
              {i}
            </text>
          ))}
        </svg>
        <figcaption>
          words that a warp wants from each of the 32 banks: {each.toFixed(1)} wavefronts a request,{" "}
          {ideal.toFixed(1)} would do
        </figcaption>
      </figure>
    );
  }
  const sectors = [...new Set(lanes.flatMap((x) => [x >> 5, (x + a.bytes - 1) >> 5]))],
    used = new Map(sectors.map((s) => [s, 0]));
  lanes.forEach((x) => {
    for (let b = x; b < x + a.bytes; b++)
      if (!(stride === 0 && b > x + a.bytes))
        used.set(b >> 5, Math.min(32, (used.get(b >> 5) ?? 0) + (stride === 0 ? 1 / 32 : 1)));
  });
  return (
    <figure class="plot warp">
      <svg viewBox={`0 0 ${32 * cell + 2} 64`} role="img" aria-label="sectors">
        {lanes.map((x, l) => {
          const s = sectors.indexOf(x >> 5);
          return (
            <line
              class="lane"
              x1={l * cell + cell / 2}
              y1={12}
              x2={((s + 0.5) * cell * 32) / Math.max(sectors.length, 4)}
              y2={42}
            />
          );
        })}
        {lanes.map((_, l) => (
          <circle cx={l * cell + cell / 2} cy={9} r={3.2} class="lane" />
        ))}
        {sectors.map((s, i) => {
          const w = (cell * 32) / Math.max(sectors.length, 4);
          return (
            <g>
              <rect class="sector" x={i * w + 1} y={42} width={w - 2} height={12} />
              <rect
                class="good"
                x={i * w + 1}
                y={42}
                width={((w - 2) * (used.get(s) ?? 0)) / 32}
                height={12}
              />
            </g>
          );
        })}
      </svg>
      <figcaption>
        32 lanes, and the sectors of 32 bytes they touch, filled as far as they are used:{" "}
        {each.toFixed(1)} a request, {ideal.toFixed(1)} would do
      </figcaption>
    </figure>
  );
}

// Ranges above (a row for each depth of a thread), the host below them, then streams. Wheel: zoom; drag: along time.
const MOST_RANGE_ROWS = 8;
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
  const rowOf = (r: RangeBar) =>
      `${String(r.thread).padStart(10, "0")}:${String(r.depth).padStart(4, "0")}`,
    rows = [...new Set(ranges.map(rowOf))].sort().slice(0, MOST_RANGE_ROWS),
    host = rows.length;
  const timed = calls.some((c) => c.started !== undefined),
    box = useRef<SVGSVGElement>(null);
  const from = (c: Call, i: number) => c.begin ?? i,
    upto = (c: Call, i: number) => Math.max(c.end ?? i + 0.8, (c.begin ?? i) + 0.001);
  const end = [
    ...calls.map((c, i) => Math.max(upto(c, i), c.ended ?? 0)),
    ...ranges.map((r) => r.end),
  ].reduce((a, b) => Math.max(a, b), 1);
  const [view, setView] = useState<[number, number]>([0, 1]),
    drag = useRef<{ x: number; view: [number, number] } | undefined>(undefined);
  const streams = [...new Set(calls.filter((c) => c.kind !== "wait").map((c) => c.stream))],
    w = 900,
    left = 84,
    row = 22,
    X = (t: number) => left + ((w - left) * (t / end - view[0])) / (view[1] - view[0]);
  const bar = (c: Call, a: number, b: number, y: number, key: string) => {
    const x = Math.max(left, X(a)),
      width = Math.max(1, Math.min(w, X(b)) - x);
    if (X(b) < left || X(a) > w) return null;
    return (
      <g key={key}>
        <rect
          x={x}
          y={y}
          width={width}
          height={row - 6}
          class={`call ${c.kind.replace(" ", "-")} ${kernel && c.name === kernel ? "here" : ""}`}
        >
          <title>{`${c.name ?? c.kind}${c.bytes ? `, ${bytesText(c.bytes)}` : ""}${timed ? `, ${((b - a) / 1000).toFixed(1)} µs` : ""}`}</title>
        </rect>
        {width > 60 && (
          <text x={x + 4} y={y + 12} class="on">
            {(c.name ?? c.kind).slice(0, Math.floor(width / 7))}
          </text>
        )}
      </g>
    );
  };
  const zoom = (by: number, at: number) =>
    setView(([a, b]) => {
      const width = Math.max(1e-6, Math.min(1, (b - a) / by)),
        anchor = a + (b - a) * at,
        first = Math.max(0, Math.min(1 - width, anchor - width * at));
      return [first, first + width];
    });
  const place = (e: { clientX: number }) => {
    const r = box.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, (((e.clientX - r.left) / r.width) * w - left) / (w - left)));
  };
  return (
    <figure class="plot timeline">
      <svg
        ref={box}
        viewBox={`0 0 ${w} ${(host + streams.length + 1) * row + 20}`}
        role="img"
        aria-label="timeline: wheel zooms"
        tabIndex={0}
        onWheel={(e) => {
          e.preventDefault();
          zoom(e.deltaY < 0 ? 1.3 : 1 / 1.3, place(e));
        }}
        onKeyDown={(e) => {
          if (e.key === "+" || e.key === "-") {
            e.stopPropagation();
            zoom(e.key === "+" ? 1.5 : 1 / 1.5, 0.5);
          }
        }}
        onPointerDown={(e) => {
          drag.current = { x: place(e), view };
          e.currentTarget.setPointerCapture(e.pointerId);
        }}
        onPointerUp={() => {
          drag.current = undefined;
        }}
        onPointerMove={(e) => {
          const d = drag.current;
          if (!d) return;
          const width = d.view[1] - d.view[0],
            first = Math.max(0, Math.min(1 - width, d.view[0] + (d.x - place(e)) * width));
          setView([first, first + width]);
        }}
      >
        {host > 0 && (
          <text x={4} y={16}>
            ranges
          </text>
        )}
        <text x={4} y={host * row + 16}>
          host
        </text>
        {streams.map((s, i) => (
          <text x={4} y={(host + i + 1) * row + 16}>
            {s <= 2 ? "default" : `stream ${i}`}
          </text>
        ))}
        {ranges.map((r, i) =>
          rows.includes(rowOf(r))
            ? bar(
                { kind: "range", name: r.name, stream: 0, bytes: 0, line: 0 },
                r.begin,
                r.end,
                rows.indexOf(rowOf(r)) * row + 3,
                `r${i}`,
              )
            : null,
        )}
        {calls.map((c, i) => bar(c, from(c, i), upto(c, i), host * row + 3, `h${i}`))}
        {calls.map((c, i) =>
          c.kind === "wait"
            ? null
            : c.started !== undefined
              ? bar(
                  c,
                  c.started,
                  c.ended!,
                  (host + streams.indexOf(c.stream) + 1) * row + 3,
                  `d${i}`,
                )
              : timed
                ? null
                : bar(
                    c,
                    from(c, i),
                    upto(c, i),
                    (host + streams.indexOf(c.stream) + 1) * row + 3,
                    `d${i}`,
                  ),
        )}
        <text x={left} y={(host + streams.length + 1) * row + 16}>
          {timed
            ? `${((view[0] * end) / 1e6).toFixed(3)} ms`
            : `call ${Math.floor(view[0] * end) + 1}`}
        </text>
        <text x={w} y={(host + streams.length + 1) * row + 16} text-anchor="end">
          {timed ? `${((view[1] * end) / 1e6).toFixed(3)} ms` : `call ${Math.ceil(view[1] * end)}`}
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
