// The flow by the clock: where each step begins and ends. The whole run is as many units long as it
// has steps, so that zoom and moving are the same as in the flow by steps.
import type { FlowStep } from "../run/api";

export interface Spans {
  begin: Float64Array;
  end: Float64Array;
  first: number;
  perUnit: number;
} // first: nanoseconds of the clock; perUnit: nanoseconds

// undefined: the run does not know when anything happened.
export function spansOf(steps: FlowStep[]): Spans | undefined {
  const n = steps.length,
    begin = new Float64Array(n),
    end = new Float64Array(n);
  let first = Infinity,
    last = -Infinity;
  for (let i = 0; i < n; i++) {
    begin[i] = steps[i].began || steps[i].asked;
    end[i] = begin[i] + steps[i].ns;
    if (begin[i] && begin[i] < first) first = begin[i];
    if (end[i] > last) last = end[i];
  }
  if (!(last > first)) return undefined;
  const perUnit = (last - first) / n;
  for (let i = 0; i < n; i++) {
    begin[i] = Math.max(0, (begin[i] - first) / perUnit);
    end[i] = Math.max(begin[i], (end[i] - first) / perUnit);
  }
  return { begin, end, first, perUnit };
}

// Times to write above the lanes: round ones, at least `apart` units apart.
export function ticksOf(spans: Spans, from: number, upto: number, apart: number): number[] {
  const raw = apart * spans.perUnit,
    power = 10 ** Math.floor(Math.log10(Math.max(1, raw))),
    each = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw) ?? raw,
    out: number[] = [];
  for (
    let t = Math.ceil((from * spans.perUnit) / each) * each;
    t <= upto * spans.perUnit && out.length < 100;
    t += each
  )
    out.push(t);
  return out;
}
