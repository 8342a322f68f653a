// Hooks that several panes use: answers of the server, and drawing again.
import { useEffect, useReducer, useState } from "preact/hooks";
import { Op, Page, PAGE } from "../run/api";
import { errorText } from "../run/format";
import { OpList } from "./oplist";
import { onTypes } from "../run/types";

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

// on: numbers and text. Never returns the answer to an earlier question.
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

// Operations by pages, loaded as they come into sight. focus: the index of the operation that the
// first page was searched for.
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
// ahead: so many pages are read in advance, so that the number of operations is known unless it is
// very large
export function useOps(
  load: (skip: number, first: boolean) => Promise<Page>,
  on: unknown[],
  ahead = 0,
): Ops {
  const again = useAgain();
  const [list, reset] = useState(() => new OpList(load, again));
  useListen(onTypes);
  useEffect(() => {
    const next = new OpList(load, again);
    next.begin(ahead);
    reset(next);
    return () => {
      next.gone = true;
    };
  }, on);
  return {
    count: list.count,
    least: list.low,
    focus: list.focus,
    error: list.error,
    loaded: list.loaded,
    all: list.known,
    pages: list.pages,
    followed: list.followed,
    setTotal(n) {
      list.setTotal(n);
      again();
    },
    get: (i) => list.pages.get(Math.floor(i / PAGE))?.[i % PAGE],
    seen: (first, last) => list.want(first, last),
  };
}
