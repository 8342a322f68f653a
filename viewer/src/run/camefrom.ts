// The origin of an operation's value: for a read the writes of that value, for a write the loads
// that reach it.
import { ask, Kind, launches, ofThread, Op, sites, writersOf } from "./api";

// Loads whose result may reach an instruction: registers are followed backwards through the
// kernel's PTX, whatever the path.
const closures = new Map<string, Promise<Set<number> | undefined>>();
async function loadsBehind(kernel: number, line: number): Promise<Set<number> | undefined> {
  const ptx = await ask<{ pieces: { line: number; text: string }[] }>("ptx", { kernel }).catch(
    () => undefined,
  );
  if (!ptx?.pieces.length) return undefined;
  const defs = new Map<string, { line: number; uses: string[]; load: boolean }[]>();
  let wanted: string[] = [];
  for (const piece of ptx.pieces)
    piece.text.split("\n").forEach((text, i) => {
      const code = text.replace(/\/\/.*$/, "").trim(),
        m = /^(?:@!?(%\w+)\s+)?([a-z][\w.]*)\s+(.*?);?$/.exec(code);
      if (!m || code.startsWith(".")) return;
      const n = piece.line + i;
      const registers = (s: string) => s.match(/%[a-z]+\w*\d/g) ?? [];
      const writesNothing = /^(st|red|bra|bar|ret|exit|membar|fence|prefetch)\b/.test(m[2]);
      const cut = m[3].startsWith("{") ? m[3].indexOf("}") + 1 : m[3].search(/,|$/);
      const to = writesNothing ? [] : registers(m[3].slice(0, cut));
      const from = [...registers(writesNothing ? m[3] : m[3].slice(cut)), ...(m[1] ? [m[1]] : [])];
      if (n === line) wanted = from;
      for (const r of to) {
        const l = defs.get(r) ?? [];
        l.push({
          line: n,
          uses: from,
          load: /^(ld|ldu|atom)\b/.test(m[2]) && !/^ld\.param/.test(m[2]),
        });
        defs.set(r, l);
      }
    });
  const seen = new Set<string>(),
    out = new Set<number>();
  while (wanted.length) {
    const r = wanted.pop()!;
    if (seen.has(r)) continue;
    seen.add(r);
    for (const d of defs.get(r) ?? []) {
      if (d.load) out.add(d.line);
      wanted.push(...d.uses);
    }
  }
  return out;
}
const behind = (kernel: number, line: number) => {
  const k = `${kernel}.${line}`;
  if (!closures.has(k)) closures.set(k, loadsBehind(kernel, line));
  return closures.get(k)!;
};

export interface Branch {
  ops: Op[];
  note?: string;
}
// The operations that a value may come from: for a read, the writes of that value; for a write, the
// thread's last earlier read by each load that can reach it.
export async function cameFrom(o: Op): Promise<Branch> {
  if (o.kind === Kind.Load || (o.kind === Kind.Atomic && !o.refused)) {
    const w = await writersOf(o);
    return {
      ops: w.ops.slice(0, 20),
      note: w.never_written
        ? "never written"
        : w.ops.length > 1
          ? "nothing orders these writes"
          : w.ops.length
            ? undefined
            : (w.why ?? "nobody that was recorded"),
    };
  }
  if (o.kind !== Kind.Store) return { ops: [], note: o.launch ? undefined : "by the host" };
  const kernel = launches.get(o.launch)?.kernel ?? 0;
  const lines = await behind(kernel, sites.get(o.site)?.ptx_line ?? -1);
  const page = await ofThread(o.launch, o.thread, 0, { record: o.record, lane: o.lane });
  const at = page.ops.findIndex((x) => x.record === o.record && x.lane === o.lane);
  const found = new Map<number, Op>();
  for (let i = at - 1; i >= 0; i--) {
    const x = page.ops[i],
      line = sites.get(x.site)?.ptx_line ?? -1;
    if (
      (x.kind === Kind.Load || x.kind === Kind.Atomic) &&
      !found.has(line) &&
      (!lines || lines.has(line))
    )
      found.set(line, x);
    if (found.size >= 12) break;
  }
  return {
    ops: [...found.values()].reverse(),
    note: found.size
      ? lines
        ? undefined
        : "loads before it: its PTX is not in the file"
      : "from parameters and constants",
  };
}
