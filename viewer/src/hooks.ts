import { useEffect, useReducer, useState } from "preact/hooks";
import { Op, PAGE, Page } from "./api";
import { errorText } from "./format";
import { onTypes } from "./types";

export function useAgain() {
  return useReducer((n: number) => n + 1, 0)[1] as () => void;
}
export function useListen(...on: ((f: () => void) => () => void)[]) {
  const again = useAgain();
  useEffect(() => {
    const off = on.map((o) => o(again));
    return () => off.forEach((f) => f());
  }, []);
}

// on: numbers and text. What was answered to something else is not given.
export function useAnswer<T>(
  ask: () => Promise<T> | undefined,
  on: unknown[],
): { value?: T; error?: string } {
  const about = JSON.stringify(on),
    [state, set] = useState<{ about: string; value?: T; error?: string }>({ about: "" });
  useEffect(() => {
    let gone = false;
    ask()?.then(
      (value) => {
        if (!gone) set({ about, value });
      },
      (e) => {
        if (!gone) set({ about, error: errorText(e) });
      },
    );
    return () => {
      gone = true;
    };
  }, [about]);
  return state.about === about ? state : {};
}

// Operations by pages, loaded as they come into sight. focus: the index the first page was looked for with.
export interface Ops {
  get(i: number): Op | undefined;
  count: number;
  least: number;
  focus: number;
  error?: string;
  loaded: boolean;
  all: boolean;
  followed?: Op;
  seen(first: number, last: number): void;
  pages: Map<number, Op[]>;
  setTotal(n: number): void;
}
// ahead: pages that are read unasked, so that it is known how many operations there are, unless there are very many
export function useOps(
  load: (skip: number, first: boolean) => Promise<Page>,
  on: unknown[],
  ahead = 0,
): Ops {
  const again = useAgain();
  const [s, reset] = useState(() => make());
  function make() {
    return {
      pages: new Map<number, Op[]>(),
      asked: new Set<number>(),
      count: 0,
      low: 0,
      high: Infinity,
      known: false,
      focus: -1,
      error: undefined as string | undefined,
      loaded: false,
      gone: false,
      followed: undefined as Op | undefined,
    };
  }
  useListen(onTypes);
  useEffect(() => {
    const n = make();
    const put = (p: Page) => {
      n.pages.set(p.skip / PAGE, p.ops);
      if (p.total !== undefined) ((n.count = p.total), (n.known = true));
      else if (!n.known && p.ops.length) {
        const end = p.skip + p.ops.length;
        n.low = Math.max(n.low, end);
        if (p.more) n.count = Math.max(n.count, Math.min(n.high, 2 * end + PAGE));
        else ((n.count = end), (n.known = true));
      } else if (!n.known) {
        n.count = n.high = Math.min(n.high, p.skip);
        if (p.skip) findEnd();
        else n.known = true;
      }
      n.loaded = true;
    };
    // How many there are may not be known. The list is then made longer as one goes down; who goes too far makes us look for the end, by halves.
    let looking = false;
    async function findEnd() {
      if (looking) return;
      looking = true;
      while (!n.known && !n.gone) {
        const first = Math.floor(Math.max(0, n.low - 1) / PAGE),
          last = n.high / PAGE;
        if (last - first <= 1) {
          ((n.count = n.low), (n.known = true));
          break;
        }
        const middle = (first + last) >> 1;
        n.asked.add(middle);
        try {
          put(await load(middle * PAGE, false));
        } catch (e) {
          n.error = errorText(e);
          break;
        }
      }
      looking = false;
      if (!n.gone) again();
    }
    async function readOn() {
      for (let k = 0; k < ahead && !n.known && !n.gone; k++) {
        const next = Math.floor(n.low / PAGE);
        if (n.asked.has(next)) break;
        n.asked.add(next);
        try {
          put(await load(next * PAGE, false));
        } catch {
          break;
        }
      }
      if (ahead && !n.gone) again();
    }
    n.asked.add(-1);
    (n as any).load = (skip: number) =>
      load(skip, false).then(
        (p) => {
          if (!n.gone) {
            put(p);
            again();
          }
        },
        (e) => {
          n.error = errorText(e);
          again();
        },
      );
    load(0, true).then(
      (p) => {
        if (n.gone) return;
        put(p);
        n.asked.add(p.skip / PAGE);
        n.focus = p.index ?? -1;
        n.followed = p.followed;
        again();
        void readOn();
      },
      (e) => {
        n.error = errorText(e);
        n.loaded = true;
        again();
      },
    );
    reset(n);
    return () => {
      n.gone = true;
    };
  }, on);
  return {
    count: s.count,
    least: s.low,
    focus: s.focus,
    error: s.error,
    loaded: s.loaded,
    all: s.known,
    pages: s.pages,
    followed: s.followed,
    setTotal(n) {
      s.count = n;
      s.known = true;
      again();
    },
    get: (i) => s.pages.get(Math.floor(i / PAGE))?.[i % PAGE],
    seen(first, last) {
      if (!s.loaded) return;
      for (let p = Math.floor(first / PAGE); p <= Math.floor(Math.max(first, last - 1) / PAGE); p++)
        if (p * PAGE < s.count && !s.asked.has(p)) {
          s.asked.add(p);
          (s as any).load?.(p * PAGE);
        }
    },
  };
}
