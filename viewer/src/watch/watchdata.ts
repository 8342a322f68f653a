// The data of a wg_watch: its expression, the shown launch, the places of its threads in the
// picture, and their values.
import { useEffect, useMemo, useState } from "preact/hooks";
import { ask, askBytes, Launch, LaunchInfo, Watch } from "../run/api";
import { Dots } from "../picture/dots";
import { errorText, placeOfThread, threadAt } from "../run/format";
import { useAnswer, useListen } from "../parts/hooks";
import { decode, goodWidth, Picture } from "../picture/paint";
import { onTime, timeStep } from "../run/time";
import { Pane } from "../parts/trail";

export type WatchLook = Extract<Pane, { kind: "watch" }>;

// The argument of wg_watch or wg_record in a line; "": there is none.
export function watchedExpression(line: string): string {
  const at = /wg_(?:watch|record)\s*\(/.exec(line);
  if (!at) return "";
  let depth = 1;
  let i = at.index + at[0].length;
  for (const from = i; i < line.length; i++) {
    if (line[i] === "(") depth++;
    else if (line[i] === ")" && !--depth) return line.slice(from, i).trim();
  }
  return "";
}
// The argument, from the text of its line.
const texts = new Map<string, Promise<string>>();
export function useExpression(w: Watch | undefined): string {
  const [text, set] = useState("");
  useEffect(() => {
    if (!w || w.file < 0) return;
    const key = `${w.file}`;
    if (!texts.has(key))
      texts.set(
        key,
        ask<{ text?: string }>("source", { file: w.file }).then(
          (s) => s.text ?? "",
          () => "",
        ),
      );
    texts.get(key)!.then((source) => {
      set(watchedExpression(source.split("\n")[w.line - 1] ?? ""));
    });
  }, [w?.file, w?.line]);
  return text;
}

// The cursor of time chooses the launch: the newest up to its step. An address may name one.
function launchIndex(w: Watch | undefined, chosen: number): number {
  const now = timeStep();
  const upto = w?.launches.findIndex((l) => !now || l[0] <= now) ?? 0;
  if (!w) return 0;
  if (chosen)
    return Math.max(
      0,
      w.launches.findIndex((l) => l[0] === chosen),
    );
  return upto < 0 ? w.launches.length - 1 : upto;
}

// Which launch is shown (at: its place among those of the watch), and how its threads lie.
export interface WatchView {
  at: number;
  shown?: Watch["launches"][number];
  launch?: Launch;
  isRead: boolean; // the server has said what launch it is
  isGrid: boolean; // of more than one dimension
  byPlace: boolean; // threads stand where they are in the grid
  threads: number;
  width: number;
  rows: number;
  threadOf(place: number): number;
  placeOf(thread: number): number;
}
export function useWatchView(pane: WatchLook, w: Watch | undefined): WatchView {
  useListen(onTime);
  const at = launchIndex(w, pane.launch);
  const shown = w?.launches[at];
  const info = useAnswer<LaunchInfo>(
    () => (shown ? ask("launch", { id: shown[0] }) : undefined),
    [shown?.[0]],
  );
  const l = info.value?.launch;
  // Threads of a launch of more than one dimension stand where they are in the grid, unless
  // somebody wants them in the order of their numbers.
  const isGrid = !!l && (l.grid[1] * l.block[1] > 1 || l.grid[2] * l.block[2] > 1);
  const byPlace = isGrid && pane.layout !== 1;
  const threads = shown?.[2] ?? 0;
  const width = byPlace ? l!.grid[0] * l!.block[0] : pane.width || goodWidth(threads);
  const threadOf = useMemo(() => (byPlace ? threadAt(l!) : (i: number) => i), [byPlace, l]);
  return {
    at,
    shown,
    launch: l,
    isRead: !!info.value,
    isGrid,
    byPlace,
    threads,
    width,
    rows: Math.ceil(threads / Math.max(1, width)),
    threadOf,
    placeOf: (thread) => (byPlace ? placeOfThread(l!, thread) : thread),
  };
}

// The picture of one launch. pool: so many by so many threads in a pixel.
export const askPicture = (w: Watch, view: WatchView, launch: number, pool: number) =>
  askBytes("watch", {
    launch,
    site: w.site,
    type: w.type,
    width: view.width,
    pool,
    layout: view.byPlace ? 1 : undefined,
  });

export function useWatchPicture(w: Watch | undefined, view: WatchView, pool: number) {
  const [picture, setPicture] = useState<Picture>();
  const [error, setError] = useState<string>();
  const { shown, width, byPlace, isRead } = view;
  useEffect(() => {
    if (!w || !shown || !isRead) return;
    let gone = false;
    askPicture(w, view, shown[0], pool).then(
      (b) => {
        if (!gone) {
          setPicture(decode(b));
          setError(undefined);
        }
      },
      (e) => {
        if (!gone) setError(errorText(e));
      },
    );
    return () => {
      gone = true;
    };
  }, [shown?.[0], w?.site, width, pool, byPlace, !isRead]);
  return { picture, error };
}

// The value that a thread passed.
export function useThreadValue(
  w: Watch | undefined,
  { shown, width }: WatchView,
  { pool }: Dots,
  thread: number,
): string {
  const [value, setValue] = useState("");
  useEffect(() => {
    if (thread < 0 || !w || !shown) {
      setValue("");
      return;
    }
    const timer = setTimeout(
      () =>
        ask<{ value?: string }>("watch", {
          launch: shown[0],
          site: w.site,
          type: w.type,
          width,
          pool,
          thread,
        }).then(
          (v) => setValue(v.value ?? "said nothing"),
          () => setValue(""),
        ),
      30,
    );
    return () => clearTimeout(timer);
  }, [thread, shown?.[0]]);
  return value;
}
