// Findings of a thread: which of its operations they are about, and which of its peers have some.
import { Finding, isStatic, key, launches, occurrencesOf, Op, sites } from "../run/api";
import { Ops, useAnswer } from "../parts/hooks";
import { ThreadPlace } from "./threadops";

// An access outside of every buffer, in any of the threads that a finding of the same instruction
// was counted in: the finding knows which buffer it missed.
function sameCode(op: Op, f: Finding): boolean {
  const s = sites.get(op.site),
    other = sites.get(f.site);
  return (
    !!s?.ptx_line &&
    s.ptx_line === other?.ptx_line &&
    s.function === other?.function &&
    launches.get(f.launch)?.kernel === launches.get(op.launch)?.kernel
  );
}
export interface Missed {
  headline: string;
  allocation: number;
  offset: number;
}
export function missed(op: Op, findings: Finding[]): Missed | undefined {
  if (op.buffer || op.space || op.address === null) return undefined;
  const at = BigInt(op.address);
  for (const f of findings) {
    if (!f.allocation || !f.address) continue;
    const there = BigInt(f.address);
    if ((f.launch === op.launch && there >= at && there < at + BigInt(op.bytes)) || sameCode(op, f))
      return {
        headline: f.headline,
        allocation: f.allocation,
        offset: f.offset + Number(at - there),
      };
  }
  return undefined;
}

function touches(f: Finding, o: Op): boolean {
  if (!f.address || !o.address) return false;
  const there = BigInt(f.address);
  return there >= BigInt(o.address) && there < BigInt(o.address) + BigInt(o.bytes);
}

// All threads in which findings of this kernel occurred, not only the first of each. For findings
// that occurred several times: the operations that the recording shows.
function useOccurrences(pane: ThreadPlace, findings: Finding[]) {
  const l = launches.get(pane.launch);
  const repeated = findings
    .filter(
      (f) =>
        f.count > 1 &&
        f.thread !== undefined &&
        (f.launch === pane.launch || (l && launches.get(f.launch)?.kernel === l.kernel)),
    )
    .slice(0, 6);
  const elsewhere = useAnswer(
    () =>
      isStatic() || !repeated.length
        ? undefined
        : Promise.all(repeated.map((f) => occurrencesOf(f.id, 0))),
    [repeated.map((f) => f.id).join(), pane.launch],
  );
  const answers = elsewhere.value ?? [];
  const threads = new Map<number, Set<number>>(
    answers.map((x, i) => [
      repeated[i].id,
      new Set(x.ops.filter((o) => o.launch === pane.launch).map((o) => o.thread)),
    ]),
  );
  const shown = new Set(answers.flatMap((x) => x.ops.map(key)));
  return { repeated, threads, shown };
}

// mine: findings of this thread; isMeant: whether one of them is about an operation; marked: the
// threads of the launch that have some, and how bad those are.
export function useThreadFindings(pane: ThreadPlace, findings: Finding[], ops: Ops) {
  const { repeated, threads, shown } = useOccurrences(pane, findings);
  const mine = findings.filter(
    (f) =>
      (f.launch === pane.launch && f.thread === pane.thread) || threads.get(f.id)?.has(pane.thread),
  );
  // The operations that a finding is about: those that the recording shows, or the one of the
  // finding's own instruction; without one, all that touch its address.
  const exact = mine.filter((f) =>
    [...ops.pages.values()].some((page) =>
      page.some((o) => shown.has(key(o)) || (touches(f, o) && sameCode(o, f))),
    ),
  );
  const isMeant = (o: Op) =>
    shown.has(key(o)) || mine.some((f) => touches(f, o) && (sameCode(o, f) || !exact.includes(f)));
  const marked = new Map(
    findings
      .filter((f) => f.launch === pane.launch && f.thread !== undefined)
      .map((f) => [f.thread!, f.severity]),
  );
  for (const f of repeated)
    threads.get(f.id)?.forEach((t) => {
      if (!marked.has(t)) marked.set(t, f.severity);
    });
  return { mine, isMeant, marked };
}
