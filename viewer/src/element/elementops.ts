// The operations on an element: read by pages, the writes among them, and which of them race.
import { At, Buffer, Kind, launches, ofElement, Op, PAGE, writes } from "../run/api";
import { addressOf } from "../run/format";
import { Ops, useOps } from "../parts/hooks";
import { stepBefore, timeStep } from "../run/time";
import { Pane } from "../parts/trail";

export type ElementPlace = Extract<Pane, { kind: "element" }>;

const END = 0xffffffff; // a step after all others

// Reads after a write belong to it until the next write.
export function instanceOf(ops: Ops, i: number) {
  for (let k = i; k >= 0; k--) {
    const o = ops.get(k);
    if (!o) return undefined;
    if (writes(o)) return o;
  }
  return null;
}
// The server marks unordered operations. Returns the marked ones of the same launch that operation
// i may race with.
export function rivals(ops: Ops, i: number): Op[] {
  const o = ops.get(i)!,
    out: Op[] = [];
  for (const d of [-1, 1])
    for (let k = i + d; o.race && k >= 0 && k < ops.count && Math.abs(k - i) < 256; k += d) {
      const x = ops.get(k);
      if (!x || x.launch !== o.launch) break;
      if (x.race && (writes(x) || writes(o)) && x.thread !== o.thread) out.push(x);
    }
  return out;
}

// A read whose value follows from a write that has rivals.
export function undecided(ops: Ops, i: number): boolean {
  for (let k = i; k >= 0; k--) {
    const o = ops.get(k);
    if (!o) return false;
    if (writes(o)) return o.race;
  }
  return false;
}

export const elementPage = (
  b: Buffer,
  pane: ElementPlace,
  skip: number,
  focus?: At | { step: number; write?: boolean },
) => ofElement(pane.buffer, addressOf(b, pane.offset), pane.bytes, skip, focus);

// If the pane names no operation, the time cursor chooses the last operation up to its step.
export function useElementOps(pane: ElementPlace, b: Buffer | undefined): Ops {
  const step = pane.at ? 0 : (pane.step ?? timeStep());
  const atEnd = !pane.at && !step;
  return useOps(
    async (skip, first) => {
      if (!b) throw new Error("there is no such buffer");
      if (!first || !atEnd)
        return elementPage(b, pane, skip, first ? (pane.at ?? { step }) : undefined);
      // At the end of the run people want to see the last value: in long lists the server finds its
      // page.
      const beginning = await elementPage(b, pane, skip);
      const page = beginning.more
        ? await elementPage(b, pane, skip, { step: END, write: true })
        : beginning;
      const last = page.ops.map(writes).lastIndexOf(true);
      return { ...page, index: last >= 0 ? page.skip + last : page.index };
    },
    [pane.buffer, pane.offset, pane.bytes, b?.base, JSON.stringify(pane.at), step],
    5,
  );
}

// The next write, or the one before (by: 1 or -1): its index, and whether its page has been read.
// Thousands of reads may lie between two writes.
export async function findWrite(
  { ops, pane, buffer }: { ops: Ops; pane: ElementPlace; buffer: Buffer },
  selected: number,
  by: number,
): Promise<{ op: Op; index: number; known: boolean } | undefined> {
  let i = (selected < 0 ? (by > 0 ? -1 : ops.count) : selected) + by;
  for (let looked = 0; i >= 0 && looked < 2000; looked++) {
    const k = Math.floor(i / PAGE);
    const known = ops.pages.get(k);
    const page = known ? { ops: known, more: true } : await elementPage(buffer, pane, k * PAGE);
    for (let j = i - k * PAGE; j >= 0 && j < page.ops.length; j += by)
      if (writes(page.ops[j])) return { op: page.ops[j], index: k * PAGE + j, known: !!known };
    if (!page.ops.length || (by > 0 && (!page.more || page.ops.length < PAGE))) return undefined;
    i = by > 0 ? (k + 1) * PAGE : k * PAGE - 1;
  }
  return undefined;
}

// The step whose results the neighbours show beside an operation: for a load the step before its
// launch, because the launch starts from that state.
export function stepSeenBy(o: Op | undefined): number {
  if (!o) return 0;
  return o.kind === Kind.Load ? stepBefore(launches.get(o.launch)?.step || o.step) : o.step;
}
