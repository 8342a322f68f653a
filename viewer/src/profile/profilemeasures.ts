// The measures of a kernel, by the lines of its source.
import { Access, Kernel, unitsOf } from "./profiledata";

// The measures of a line: how much of the kernel's it has.
export const measures = [
  { key: "requests", name: "requests", help: "memory requests of warps" },
  { key: "sectors", name: "sectors", help: "sectors of 32 bytes of global memory" },
  {
    key: "excess",
    name: "excess",
    help: "sectors, wavefronts and words that an ideal access would not need",
  },
  { key: "wavefronts", name: "wavefronts", help: "wavefronts of shared memory" },
  { key: "parted", name: "parted", help: "warps that a branch parts" },
  {
    key: "samples",
    name: "samples",
    help: "samples of warps at this line, while they ran or waited",
  },
] as const;
export type LineMeasures = Record<(typeof measures)[number]["key"], number> & {
  accesses: Access[];
};

export function measuresByLine(k: Kernel, path: string): Map<number, LineMeasures> {
  const out = new Map<number, LineMeasures>(),
    line = (n: number) => {
      let l = out.get(n);
      if (!l)
        out.set(
          n,
          (l = {
            requests: 0,
            sectors: 0,
            excess: 0,
            wavefronts: 0,
            parted: 0,
            samples: 0,
            accesses: [],
          }),
        );
      return l;
    };
  for (const a of k.accesses)
    if (a.file === path && a.line) {
      const l = line(a.line);
      l.requests += a.requests;
      l.sectors += a.sectors ?? 0;
      l.wavefronts += a.wavefronts ?? 0;
      l.excess += Math.max(0, unitsOf(a) - a.ideal);
      l.accesses.push(a);
    }
  for (const b of k.branches) if (b.file === path && b.line) line(b.line).parted += b.parted;
  for (const s of k.stall_lines ?? [])
    if (s.file === path && s.line) line(s.line).samples += s.samples;
  return out;
}
// The number of requests that were inspected: on a GPU the profiler inspects only some.
export const lookedAt = (a: Access) => a.looked_at ?? a.requests;
// Accesses of a line that differ in nothing but their place in memory are one.
export function alike(list: Access[]): Access[] {
  const out = new Map<string, Access>();
  for (const a of list) {
    const key = [a.what, a.space, a.bytes, a.pattern].join(),
      known = out.get(key);
    if (!known) out.set(key, { ...a });
    else {
      known.looked_at = lookedAt(known) + lookedAt(a);
      known.requests += a.requests;
      known.threads += a.threads;
      known.ideal += a.ideal;
      if (a.sectors) known.sectors! += a.sectors;
      if (a.wavefronts) known.wavefronts! += a.wavefronts;
      if (a.words) known.words! += a.words;
    }
  }
  return [...out.values()];
}
export const shortCount = (n: number) =>
  n < 10000
    ? String(Math.round(n))
    : n < 1e6
      ? `${(n / 1e3).toFixed(0)}k`
      : n < 1e9
        ? `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)}M`
        : `${(n / 1e9).toFixed(1)}G`;
