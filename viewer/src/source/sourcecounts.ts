// How often all threads of a launch executed each line, and whether warps diverged there.
import { useMemo } from "preact/hooks";
import { ask, isStatic, sites } from "../run/api";
import { many } from "../run/format";
import { useAnswer } from "../parts/hooks";

// Counts of all threads of a launch in each line: operations, warps' records, and records with
// lanes missing.
export interface LineCount {
  operations: number;
  records: number;
  divergent: number;
}
export function useCounts(launch: number, wanted: boolean) {
  const j = useAnswer<{ counts: [number, number, number, number][] }>(
    () => (wanted && launch && !isStatic() ? ask("counts", { launch }) : undefined),
    [launch, wanted],
  );
  const bySite = useMemo(() => new Map((j.value?.counts ?? []).map((c) => [c[0], c])), [j.value]);
  return { bySite, busy: wanted && !!launch && !j.value && !j.error };
}
export function perLine(
  bySite: Map<number, [number, number, number, number]>,
  file: number,
): Map<number, LineCount> {
  const out = new Map<number, LineCount>();
  for (const [site, c] of bySite)
    for (const line of new Set(
      (sites.get(site)?.places ?? []).filter((p) => p[0] === file).map((p) => p[1]),
    )) {
      const l = out.get(line) ?? { operations: 0, records: 0, divergent: 0 };
      l.operations += c[1];
      l.records += c[2];
      l.divergent += c[3];
      out.set(line, l);
    }
  return out;
}
export const short = (n: number) =>
  n < 10000
    ? String(n)
    : n < 1e6
      ? `${(n / 1e3).toFixed(n < 1e5 ? 1 : 0)}k`
      : n < 1e9
        ? `${(n / 1e6).toFixed(n < 1e8 ? 1 : 0)}M`
        : `${(n / 1e9).toFixed(1)}G`;

// How often a line ran, and how often with a part of a warp only.
export function countText(c: { operations: number; divergent: number; records: number }) {
  const share = Math.round((100 * c.divergent) / c.records);
  return (
    `${many(c.operations)} operations of all threads` +
    (c.divergent ? `; in ${share} % of the warps' executions some lanes did not take part` : "")
  );
}
