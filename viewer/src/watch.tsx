// wg_watch: what each thread of a launch said at a line, as a picture. While the program runs, of the newest launch.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { LaunchInfo, Watch, ask, askBytes, isStatic } from "./api";
import { FindStep } from "./find";
import {
  errorText,
  fileName,
  many,
  placeOfThread,
  shortFloat,
  threadAt,
  triple,
  coordinates,
} from "./format";
import { useAnswer, useListen } from "./hooks";
import { allSteps, onTime, setTime, timeStep } from "./time";
import { Button, Empty, Failure, PaneFrame } from "./parts";
import {
  LARGEST_DOT,
  Picture,
  ScaleControls,
  SpecialKeys,
  decode,
  goodWidth,
  paint,
  placeOn,
  ring,
  scaleOf,
  scales,
  usualRange,
  writeValues,
} from "./picture";
import { Pane, follow, replace } from "./trail";
import { Scalar } from "./types";

// The argument of wg_watch or wg_record in a line; "": there is none.
export function watchedExpression(line: string): string {
  const at = /wg_(?:watch|record)\s*\(/.exec(line);
  if (!at) return "";
  let depth = 1,
    i = at.index + at[0].length;
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

export function WatchRow({ watch, here, open }: { watch: Watch; here: boolean; open(): void }) {
  const text = useExpression(watch),
    n = watch.launches.length;
  return (
    <button
      type="button"
      class={`bufferrow ${here ? "here" : ""}`}
      onClick={open}
      title={watch.path}
    >
      <b>{text || `line ${watch.line}`}</b>
      <span class="dim">
        {watch.type}, line {watch.line}
      </span>
      <span class="dim num">{n === 1 ? "1 launch" : `${many(n)} launches`}</span>
    </button>
  );
}

export function WatchPane({
  pane,
  index,
  active,
  watches,
  live,
}: {
  pane: Extract<Pane, { kind: "watch" }>;
  index: number;
  active: boolean;
  watches: Watch[];
  live: boolean;
}) {
  const w = watches.find((x) => x.site === pane.site),
    expression = useExpression(w);
  useListen(onTime);
  // The cursor of time chooses the launch: the newest up to its step. An address may name one.
  const now = timeStep(),
    upto = w?.launches.findIndex((l) => !now || l[0] <= now) ?? 0;
  const at = !w
      ? 0
      : pane.launch
        ? Math.max(
            0,
            w.launches.findIndex((l) => l[0] === pane.launch),
          )
        : upto < 0
          ? w.launches.length - 1
          : upto,
    shown = w?.launches[at];
  const info = useAnswer<LaunchInfo>(
      () => (shown ? ask("launch", { id: shown[0] }) : undefined),
      [shown?.[0]],
    ),
    l = info.value?.launch;
  // Threads of a launch of more than one dimension stand where they are in the grid, unless somebody wants them in the order of their numbers.
  const grid = !!l && (l.grid[1] * l.block[1] > 1 || l.grid[2] * l.block[2] > 1),
    byPlace = grid && pane.layout !== 1;
  const threads = shown?.[2] ?? 0,
    width = byPlace ? l!.grid[0] * l!.block[0] : pane.width || goodWidth(threads),
    rows = Math.ceil(threads / Math.max(1, width));
  const threadOf = useMemo(() => (byPlace ? threadAt(l!) : (i: number) => i), [byPlace, l]),
    placeOf = (thread: number) => (byPlace ? placeOfThread(l!, thread) : thread);
  const scale = scaleOf(pane),
    [picture, setPicture] = useState<Picture>(),
    [error, setError] = useState<string>(),
    [hover, setHover] = useState(-1),
    [value, setValue] = useState("");
  const canvas = useRef<HTMLCanvasElement>(null),
    holder = useRef<HTMLDivElement>(null),
    [room, setRoom] = useState({ w: 600, h: 400 });
  useLayoutEffect(() => {
    const o = new ResizeObserver(() => {
      const e = holder.current;
      if (e) setRoom({ w: e.clientWidth, h: e.clientHeight });
    });
    if (holder.current) o.observe(holder.current);
    return () => o.disconnect();
  }, [!w, !shown]);
  const fit = Math.min(room.w / width, room.h / Math.max(1, rows)),
    zoom = pane.zoom ?? 0,
    size = Math.max(
      (fit >= 1 ? Math.floor(Math.min(fit, LARGEST_DOT)) : fit) * 2 ** zoom,
      1 / 4096,
    );
  const pool = Math.max(1, Math.ceil(1 / size)),
    dot = pool > 1 ? 1 : Math.max(1, Math.floor(size));
  useEffect(() => {
    if (!w || !shown || !info.value) return;
    let gone = false;
    askBytes("watch", {
      launch: shown[0],
      site: w.site,
      type: w.type,
      width,
      pool,
      layout: byPlace ? 1 : undefined,
    }).then(
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
  }, [shown?.[0], w?.site, width, pool, byPlace, !info.value]);
  const usual = useMemo(() => usualRange(picture), [picture]),
    low = pane.low ?? usual[0],
    high = pane.high ?? usual[1];
  useEffect(() => {
    if (!canvas.current || !picture) return;
    const g = paint(canvas.current, picture, dot, scales[scale], placeOn(low, high, pane.log));
    if (pool === 1 && w && w.type !== "f64")
      writeValues(
        g,
        picture,
        dot,
        w.type === "f32",
        scales[scale],
        placeOn(low, high, pane.log),
        getComputedStyle(canvas.current).getPropertyValue("--mono"),
      );
    if (hover >= 0)
      ring(
        g,
        Math.floor(Math.floor(placeOf(hover) / width) / pool) * picture.columns +
          Math.floor((placeOf(hover) % width) / pool),
        picture.columns,
        dot,
        "#1c2230",
      );
  }, [picture, scale, dot, low, high, pane.log, hover]);
  useEffect(() => {
    if (hover < 0 || !w || !shown) {
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
          thread: hover,
        }).then(
          (v) => setValue(v.value ?? "said nothing"),
          () => setValue(""),
        ),
      30,
    );
    return () => clearTimeout(timer);
  }, [hover, shown?.[0]]);
  const threadUnder = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect(),
      x = Math.floor((e.clientX - r.left) / dot) * pool,
      y = Math.floor((e.clientY - r.top) / dot) * pool,
      i = y * width + x;
    return x < width && i < threads ? threadOf(i) : -1;
  };
  const onKey = (e: KeyboardEvent) => {
    const by = (
      {
        ArrowLeft: -pool,
        ArrowRight: pool,
        ArrowUp: -width * pool,
        ArrowDown: width * pool,
      } as Record<string, number>
    )[e.key];
    const to = hover < 0 ? 0 : placeOf(hover) + by;
    if (by && !e.ctrlKey && !e.altKey && !e.metaKey)
      setHover(to < 0 || to >= threads ? hover : threadOf(to));
    else if (e.key === "Enter" && hover >= 0 && shown) {
      (e.currentTarget as HTMLElement).blur();
      follow(index, { kind: "thread", launch: shown[0], thread: hover });
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const go = (launch: number) => {
    const s = allSteps.find((x) => x.kind === "launch" && x.launch === launch),
      newest = launch === 0 || launch === w?.launches[0]?.[0];
    replace(index, { ...pane, launch: s || newest ? 0 : launch }, false);
    if (s || newest) setTime(newest ? 0 : s!.id);
  };
  if (!w)
    return (
      <PaneFrame index={index} kind="watch" active={active} title="watch">
        <Failure text="there is no such wg_watch in this run" />
      </PaneFrame>
    );
  return (
    <PaneFrame
      index={index}
      kind="watch"
      active={active}
      title={
        <>
          <span class="what">{w.type}</span> {expression || "wg_watch"}
        </>
      }
      tools={
        <>
          <Button
            icon="minus"
            label="Smaller (-)"
            onClick={() => replace(index, { ...pane, zoom: zoom - 1 }, false)}
          />
          <Button
            icon="plus"
            label="Larger (+)"
            onClick={() => replace(index, { ...pane, zoom: zoom + 1 }, false)}
          />
        </>
      }
      sub={
        <>
          {fileName(w.path ?? "")}:{w.line}, a dot for each thread
          {pool > 1 ? `; a pixel is ${pool}×${pool} threads: the farthest from the mean` : ""}
          <span class="right">{live ? "live" : ""}</span>
        </>
      }
    >
      {!shown ? (
        <Empty>no launch has come there{live ? " yet" : ""}</Empty>
      ) : (
        <>
          <div class="controls">
            {grid && (
              <label>
                <input
                  type="checkbox"
                  checked={byPlace}
                  onChange={(e) =>
                    replace(
                      index,
                      { ...pane, layout: e.currentTarget.checked ? undefined : 1 },
                      false,
                    )
                  }
                />{" "}
                as in the grid
              </label>
            )}
            <label>
              threads in a row{" "}
              <input
                type="number"
                min={1}
                max={threads}
                value={width}
                disabled={byPlace}
                onChange={(e) => {
                  const n = Number(e.currentTarget.value);
                  if (n >= 1) replace(index, { ...pane, width: Math.min(n, threads) }, false);
                }}
              />
            </label>
            <ScaleControls
              look={pane}
              usual={picture && usual}
              number={(v) => (Number.isNaN(v) ? "–" : shortFloat(v, w.type !== "f64"))}
              choose={(more) => replace(index, { ...pane, ...more }, false)}
            />
            <label title="the scale stays as it is now in all launches">
              <input
                type="checkbox"
                checked={pane.low !== undefined && pane.high !== undefined}
                onChange={(e) =>
                  replace(
                    index,
                    {
                      ...pane,
                      low: e.currentTarget.checked ? usual[0] : undefined,
                      high: e.currentTarget.checked ? usual[1] : undefined,
                    },
                    false,
                  )
                }
              />{" "}
              fixed
            </label>
          </div>
          {!isStatic() && w.launches.length > 1 && (
            <div class="controls">
              <FindStep
                what="launch"
                scalar={w.type as Scalar}
                steps={[...w.launches].reverse().map((x) => ({ id: x[0] }))}
                count={threads}
                width={width}
                load={(at, _, k) =>
                  askBytes("watch", {
                    launch: at,
                    site: w.site,
                    type: w.type,
                    width,
                    pool: k,
                    layout: byPlace ? 1 : undefined,
                  })
                }
                found={(at, place) => {
                  go(at);
                  setHover(threadOf(place));
                }}
              />
            </div>
          )}
          {w.launches.length > 1 ? (
            <div class="controls time">
              <input
                type="range"
                min={0}
                max={w.launches.length - 1}
                value={w.launches.length - 1 - at}
                aria-label="launch"
                onInput={(e) =>
                  go(w.launches[w.launches.length - 1 - Number(e.currentTarget.value)][0])
                }
              />
              <span>
                launch #{shown[1]}
                {at === 0 ? ", the newest" : ""}
              </span>
              {at !== 0 && (
                <Button label="The newest launch" onClick={() => go(0)}>
                  newest
                </Button>
              )}
            </div>
          ) : (
            <div class="controls">
              <span class="dim">launch #{shown[1]}, the newest</span>
            </div>
          )}
          {error ? (
            <Failure text={error} />
          ) : (
            <div
              class="canvas"
              ref={holder}
              tabIndex={0}
              role="group"
              aria-label={`picture of ${expression || "the values"}: arrow keys choose a thread, Enter opens it. ${hover >= 0 ? `thread ${hover}: ${value}` : ""}`}
              onKeyDown={onKey}
              onWheel={(e) => {
                if (e.ctrlKey || e.metaKey) {
                  e.preventDefault();
                  replace(
                    index,
                    {
                      ...pane,
                      zoom: Math.max(-4, Math.min(8, zoom + (e.deltaY < 0 ? 0.5 : -0.5))),
                    },
                    false,
                  );
                }
              }}
            >
              <canvas
                ref={canvas}
                class="dots"
                onMouseMove={(e) => setHover(threadUnder(e))}
                onMouseLeave={() => setHover(-1)}
                onClick={(e) => {
                  const t = threadUnder(e);
                  if (t >= 0) follow(index, { kind: "thread", launch: shown[0], thread: t });
                }}
              />
            </div>
          )}
          <footer class="legend">
            <span class="under">
              {hover >= 0 ? (
                <>
                  <b>thread {hover}</b> {value}
                  {l && grid && (
                    <span class="dim">
                      {" "}
                      block {triple(coordinates(l, hover).block)} thread{" "}
                      {triple(coordinates(l, hover).thread)}
                    </span>
                  )}
                </>
              ) : (
                <span class="dim">
                  {Number.isNaN(low) ? (
                    "no numbers"
                  ) : (
                    <>
                      {shortFloat(low, w.type !== "f64")}{" "}
                      <i class={`ramp ${scale.replace("-", "")}`} />{" "}
                      {shortFloat(high, w.type !== "f64")}
                    </>
                  )}
                </span>
              )}
            </span>
            <span class="keys">
              <SpecialKeys picture={picture} />
            </span>
          </footer>
        </>
      )}
    </PaneFrame>
  );
}
