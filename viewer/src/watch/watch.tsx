// wg_watch: the values that the threads of a launch passed at a line, as a picture. While the
// program runs: those of the newest launch.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isStatic, Watch } from "../run/api";
import { Dots, dotSize, dotsOf, useRoom } from "../picture/dots";
import { FindStep } from "../parts/find";
import { coordinates, fileName, many, shortFloat, triple } from "../run/format";
import { paint, Picture, placeOn, ring, scales, usualRange, writeValues } from "../picture/paint";
import { Button, Empty, Failure, PaneFrame } from "../parts/parts";
import { FixedControl, ScaleControls, scaleOf, SpecialKeys } from "../picture/scale";
import { allSteps, setTime } from "../run/time";
import { follow, replace } from "../parts/trail";
import { Scalar } from "../run/types";
import {
  askPicture,
  useExpression,
  useThreadValue,
  useWatchPicture,
  useWatchView,
  WatchLook,
  WatchView,
} from "./watchdata";

export function WatchRow({ watch, here, open }: { watch: Watch; here: boolean; open(): void }) {
  const text = useExpression(watch);
  const n = watch.launches.length;
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

interface PaneProps {
  pane: WatchLook;
  index: number;
  active: boolean;
  watches: Watch[];
  live: boolean;
}
type Choose = (more: Partial<WatchLook>) => void;

// The data that the pane shows, and its state.
function useWatchPane({ pane, watches }: PaneProps) {
  const watch = watches.find((x) => x.site === pane.site);
  const expression = useExpression(watch);
  const view = useWatchView(pane, watch);
  const scale = scaleOf(pane);
  const [hover, setHover] = useState(-1);
  const canvas = useRef<HTMLCanvasElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const room = useRoom(holder, { w: 600, h: 400 }, [!watch, !view.shown]);
  const fit = Math.min(room.w / view.width, room.h / Math.max(1, view.rows));
  const dots = dotsOf(dotSize(fit, pane.zoom ?? 0));
  const { picture, error } = useWatchPicture(watch, view, dots.pool);
  const usual = useMemo(() => usualRange(picture), [picture]);
  const low = pane.low ?? usual[0];
  const high = pane.high ?? usual[1];
  useEffect(() => {
    if (canvas.current && picture)
      drawWatch(canvas.current, { pane, watch, view, dots, picture, low, high, hover });
  }, [picture, scale, dots.dot, low, high, pane.log, hover]);
  const value = useThreadValue(watch, view, dots, hover);
  return {
    watch,
    expression,
    view,
    hover,
    setHover,
    canvas,
    holder,
    dots,
    picture,
    error,
    usual,
    low,
    high,
    value,
  };
}

interface Drawing {
  pane: WatchLook;
  watch?: Watch;
  view: WatchView;
  dots: Dots;
  picture: Picture;
  low: number;
  high: number;
  hover: number;
}
function drawWatch(canvas: HTMLCanvasElement, d: Drawing) {
  const { picture, watch } = d;
  const { pool, dot } = d.dots;
  const stops = scales[scaleOf(d.pane)];
  const place = placeOn(d.low, d.high, d.pane.log);
  const g = paint(canvas, picture, dot, stops, place);
  if (pool === 1 && watch && watch.type !== "f64") {
    const font = getComputedStyle(canvas).getPropertyValue("--mono");
    writeValues(g, picture, dot, watch.type === "f32", stops, place, font);
  }
  if (d.hover >= 0) {
    const at = d.view.placeOf(d.hover);
    const x = Math.floor((at % d.view.width) / pool);
    const y = Math.floor(Math.floor(at / d.view.width) / pool);
    ring(g, y * picture.columns + x, picture.columns, dot, "#1c2230");
  }
}

// Moves to a launch of the watch; 0: to the newest.
function goToLaunch(
  launch: number,
  { watch, index, pane }: { watch: Watch; index: number; pane: WatchLook },
) {
  const s = allSteps.find((x) => x.kind === "launch" && x.launch === launch);
  const newest = launch === 0 || launch === watch.launches[0]?.[0];
  replace(index, { ...pane, launch: s || newest ? 0 : launch }, false);
  if (s || newest) setTime(newest ? 0 : s!.id);
}

export function WatchPane(props: PaneProps) {
  const { pane, index, active, live } = props;
  const state = useWatchPane(props);
  const { watch, view, dots, expression, picture, error } = state;
  if (!watch)
    return (
      <PaneFrame index={index} kind="watch" active={active} title="watch">
        <Failure text="there is no such wg_watch in this run" />
      </PaneFrame>
    );
  const zoom = pane.zoom ?? 0;
  const choose: Choose = (more) => replace(index, { ...pane, ...more }, false);
  const go = (launch: number) => goToLaunch(launch, { watch, index, pane });
  const { shown } = view;
  const common = shown && { ...state, ...{ pane, index, watch, shown, zoom, choose, go } };
  return (
    <PaneFrame
      index={index}
      kind="watch"
      active={active}
      title={
        <>
          <span class="what">{watch.type}</span> {expression || "wg_watch"}
        </>
      }
      tools={
        <>
          <Button icon="minus" label="Smaller (-)" onClick={() => choose({ zoom: zoom - 1 })} />
          <Button icon="plus" label="Larger (+)" onClick={() => choose({ zoom: zoom + 1 })} />
        </>
      }
      sub={
        <>
          {fileName(watch.path ?? "")}:{watch.line}, a dot for each thread
          {dots.pool > 1
            ? `; a pixel is ${dots.pool}×${dots.pool} threads: the farthest from the mean`
            : ""}
          <span class="right">{live ? "live" : ""}</span>
        </>
      }
    >
      {!common ? (
        <Empty>no launch has come there{live ? " yet" : ""}</Empty>
      ) : (
        <>
          <WatchControls {...common} />
          {!isStatic() && watch.launches.length > 1 && <FindLaunch {...common} />}
          <LaunchControls {...common} />
          {error ? <Failure text={error} /> : <WatchCanvas {...common} />}
          <footer class="legend">
            <UnderCursor {...common} />
            <span class="keys">
              <SpecialKeys picture={picture} />
            </span>
          </footer>
        </>
      )}
    </PaneFrame>
  );
}

// The props of the parts below: the state of the pane, once there is a watch and a launch.
interface PartProps extends ReturnType<typeof useWatchPane> {
  pane: WatchLook;
  index: number;
  watch: Watch;
  shown: Watch["launches"][number];
  zoom: number;
  choose: Choose;
  go(launch: number): void;
}

function WatchControls({ pane, view, watch, usual, picture, choose }: PartProps) {
  const { isGrid, byPlace, threads, width } = view;
  return (
    <div class="controls">
      {isGrid && (
        <label>
          <input
            type="checkbox"
            checked={byPlace}
            onChange={(e) => choose({ layout: e.currentTarget.checked ? undefined : 1 })}
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
            if (n >= 1) choose({ width: Math.min(n, threads) });
          }}
        />
      </label>
      <ScaleControls
        look={pane}
        usual={picture && usual}
        number={(v) => (Number.isNaN(v) ? "–" : shortFloat(v, watch.type !== "f64"))}
        choose={choose}
      />
      <FixedControl
        title="the scale stays as it is now in all launches"
        look={pane}
        usual={usual}
        choose={choose}
      />
    </div>
  );
}

// The first launch in which a thread passed a value that matches the search.
const FindLaunch = ({ watch, view, setHover, go }: PartProps) => (
  <div class="controls">
    <FindStep
      what="launch"
      scalar={watch.type as Scalar}
      steps={[...watch.launches].reverse().map((x) => ({ id: x[0] }))}
      count={view.threads}
      width={view.width}
      load={(at, _, pool) => askPicture(watch, view, at, pool)}
      found={(at, place) => {
        go(at);
        setHover(view.threadOf(place));
      }}
    />
  </div>
);

function LaunchControls({ watch, view, shown, go }: PartProps) {
  const last = watch.launches.length - 1;
  if (last < 1)
    return (
      <div class="controls">
        <span class="dim">launch #{shown[1]}, the newest</span>
      </div>
    );
  return (
    <div class="controls time">
      <input
        type="range"
        min={0}
        max={last}
        value={last - view.at}
        aria-label="launch"
        onInput={(e) => go(watch.launches[last - Number(e.currentTarget.value)][0])}
      />
      <span>
        launch #{shown[1]}
        {view.at === 0 ? ", the newest" : ""}
      </span>
      {view.at !== 0 && (
        <Button label="The newest launch" onClick={() => go(0)}>
          newest
        </Button>
      )}
    </div>
  );
}

function onKey(e: KeyboardEvent, { index, view, dots, hover, setHover, shown }: PartProps) {
  const across = dots.pool;
  const down = view.width * dots.pool;
  const arrows: Record<string, number> = {
    ArrowLeft: -across,
    ArrowRight: across,
    ArrowUp: -down,
    ArrowDown: down,
  };
  const by = arrows[e.key];
  const to = hover < 0 ? 0 : view.placeOf(hover) + by;
  if (by && !e.ctrlKey && !e.altKey && !e.metaKey)
    setHover(to < 0 || to >= view.threads ? hover : view.threadOf(to));
  else if (e.key === "Enter" && hover >= 0) {
    (e.currentTarget as HTMLElement).blur();
    follow(index, { kind: "thread", launch: shown[0], thread: hover });
  } else return;
  e.preventDefault();
  e.stopPropagation();
}
function threadUnder(e: MouseEvent, canvas: HTMLCanvasElement, view: WatchView, dots: Dots) {
  const r = canvas.getBoundingClientRect();
  const x = Math.floor((e.clientX - r.left) / dots.dot) * dots.pool;
  const y = Math.floor((e.clientY - r.top) / dots.dot) * dots.pool;
  const i = y * view.width + x;
  return x < view.width && i < view.threads ? view.threadOf(i) : -1;
}

function WatchCanvas(props: PartProps) {
  const { index, view, dots, canvas, hover, setHover, shown, zoom } = props;
  const under = (e: MouseEvent) => threadUnder(e, canvas.current!, view, dots);
  return (
    <div
      class="canvas"
      ref={props.holder}
      tabIndex={0}
      role="group"
      aria-label={
        `picture of ${props.expression || "the values"}: arrow keys choose a thread, ` +
        `Enter opens it. ${hover >= 0 ? `thread ${hover}: ${props.value}` : ""}`
      }
      onKeyDown={(e) => onKey(e, props)}
      onWheel={(e) => {
        if (e.ctrlKey || e.metaKey) {
          e.preventDefault();
          const by = e.deltaY < 0 ? 0.5 : -0.5;
          props.choose({ zoom: Math.max(-4, Math.min(8, zoom + by)) });
        }
      }}
    >
      <canvas
        ref={canvas}
        class="dots"
        onMouseMove={(e) => setHover(under(e))}
        onMouseLeave={() => setHover(-1)}
        onClick={(e) => {
          const t = under(e);
          if (t >= 0) follow(index, { kind: "thread", launch: shown[0], thread: t });
        }}
      />
    </div>
  );
}

function UnderCursor({ pane, watch, view, hover, value, low, high }: PartProps) {
  const l = view.launch;
  const number = (v: number) => shortFloat(v, watch.type !== "f64");
  return (
    <span class="under">
      {hover >= 0 ? (
        <>
          <b>thread {hover}</b> {value}
          {l && view.isGrid && (
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
              {number(low)}{" "}
              <i class={`ramp ${scaleOf(pane).replace("-", "")}`} aria-hidden="true" />{" "}
              {number(high)}
            </>
          )}
        </span>
      )}
    </span>
  );
}
