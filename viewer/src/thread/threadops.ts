// The operations of a thread: read by pages, filtered, with the writers of the values they read.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  Kind,
  conflictsOf,
  Finding,
  isStatic,
  key,
  ofThread,
  Op,
  PAGE,
  searchThread,
  ThreadSearch,
  Writers,
  writersOf,
} from "../run/api";
import { Ops, useAgain, useOps } from "../parts/hooks";
import { mainPlace } from "../parts/parts";
import { Pane } from "../parts/trail";

// The writers of the values that these loads saw: requested for visible rows, a few at a time.
export function useOrigins(ops: Ops) {
  const again = useAgain();
  const state = useRef({
    known: new Map<string, Writers>(),
    queue: [] as Op[],
    running: 0,
  }).current;
  function pump() {
    while (state.running < 3 && state.queue.length) {
      const o = state.queue.pop()!;
      if (state.known.has(key(o))) continue;
      state.running++;
      writersOf(o)
        .then(
          (w) => {
            state.known.set(key(o), w);
            again();
          },
          () => {},
        )
        .finally(() => {
          state.running--;
          pump();
        });
    }
  }
  return {
    of: (o: Op) => state.known.get(key(o)),
    lookAtAll: (o: Op) =>
      writersOf(o, true).then(
        (w) => {
          state.known.set(key(o), w);
          again();
        },
        () => {},
      ),
    want(first: number, last: number) {
      state.queue = [];
      for (let i = Math.min(last, ops.count) - 1; i >= first; i--) {
        const o = ops.get(i);
        if (o && (o.kind === Kind.Load || o.kind === Kind.Atomic) && !state.known.has(key(o)))
          state.queue.push(o);
      }
      pump();
    },
  };
}

export function useConflicts(launch: number, thread: number, ops: Ops) {
  const again = useAgain();
  const known = useMemo(() => new Map<number, Op[]>(), [launch, thread]),
    asked = useMemo(() => new Set<number>(), [launch, thread]);
  useEffect(() => {
    for (const p of ops.pages.keys()) {
      if (asked.has(p)) continue;
      asked.add(p);
      conflictsOf(launch, thread, p * PAGE).then(
        (m) => {
          m.forEach((v, k) => known.set(k, v));
          if (m.size) again();
        },
        () => {},
      );
    }
  });
  return known;
}

export type ThreadPlace = Extract<Pane, { kind: "thread" }>;

// The operations of the thread, all or those that a filter lets through. fit, all: how many those
// are, where that is known; numbers: of those that fit, their places among all.
export function useThreadOps(pane: ThreadPlace, findings: Finding[]) {
  const [search, setSearch] = useState<ThreadSearch>({});
  const [all, setAll] = useState<number>();
  const [fit, setFit] = useState<number>();
  const numbers = useRef(new Map<number, number>()).current;
  const { launch, thread } = pane;
  const filtered = !!(search.kinds || search.line || search.allocation);
  useEffect(() => {
    setSearch({});
    setAll(undefined);
    setFit(undefined);
  }, [launch, thread]);
  const loadAll = (skip: number, first: boolean) =>
    ofThread(
      launch,
      thread,
      first && pane.skip ? Math.floor(pane.skip / PAGE) * PAGE : skip,
      first ? pane.at : undefined,
      findings.find((f) => f.id === pane.finding)?.site,
    );
  const loadFitting = async (skip: number) => {
    const wanted = { ...search, file: file ?? undefined };
    const found = await searchThread(launch, thread, wanted, skip);
    found.numbers.forEach((n, i) => numbers.set(skip + i, n));
    setFit(found.total);
    setAll(found.all);
    return found;
  };
  const ops = useOps(
    async (skip, first) => (filtered ? loadFitting(skip) : loadAll(skip, first)),
    [launch, thread, JSON.stringify(pane.at), pane.skip, JSON.stringify(search)],
  );
  useCount({ launch, thread, filtered, ops, all, setAll });
  const firstOp = ops.get(Math.max(0, ops.focus)) ?? ops.get(0);
  const file = firstOp && mainPlace(firstOp.site)?.[0];
  return { ops, search, setSearch, filtered, all, fit, numbers, firstOp, file };
}
export type ThreadOps = ReturnType<typeof useThreadOps>;

// Of a long thread the page does not say how many operations there are; counting takes a moment.
function useCount({
  launch,
  thread,
  filtered,
  ops,
  all,
  setAll,
}: {
  launch: number;
  thread: number;
  filtered: boolean;
  ops: Ops;
  all: number | undefined;
  setAll(n: number): void;
}) {
  useEffect(() => {
    if (filtered || ops.all || !ops.loaded || ops.error || isStatic()) return;
    if (all !== undefined) {
      ops.setTotal(all);
      return;
    }
    let gone = false;
    searchThread(launch, thread, {}, 0).then(
      (f) => {
        if (!gone) {
          setAll(f.all);
          ops.setTotal(f.all);
        }
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [ops.loaded, ops.all, launch, thread, filtered]);
}
