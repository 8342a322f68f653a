// wg_watch: what each thread of a launch said at a line, as a picture. While the program runs, of the newest launch.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Watch, ask, askBytes } from "./api";
import { errorText, fileName, many, shortFloat } from "./format";
import { Button, Empty, Failure, PaneFrame } from "./parts";
import { Picture, ScaleControls, SpecialKeys, decode, goodWidth, paint, placeOn, ring, scaleOf, scales, usualRange } from "./picture";
import { Pane, follow, replace } from "./trail";

// The argument, from the text of its line.
const texts = new Map<string, Promise<string>>();
export function useExpression(w: Watch | undefined): string {
  const [text, set] = useState("");
  useEffect(() => {
    if (!w || w.file < 0) return;
    const key = `${w.file}`;
    if (!texts.has(key)) texts.set(key, ask<{ text?: string }>("source", { file: w.file }).then(s => s.text ?? "", () => ""));
    texts.get(key)!.then(source => {
      const line = source.split("\n")[w.line - 1] ?? "", m = /wg_(?:watch|record)\s*\((.*)\)\s*;/.exec(line);
      set(m ? m[1].trim() : "");
    });
  }, [w?.file, w?.line]);
  return text;
}

export function WatchRow({ watch, here, open }: { watch: Watch; here: boolean; open(): void }) {
  const text = useExpression(watch), n = watch.launches.length;
  return <button type="button" class={`bufferrow ${here ? "here" : ""}`} onClick={open} title={watch.path}>
    <b>{text || `line ${watch.line}`}</b><span class="dim">{watch.type}, line {watch.line}</span><span class="dim num">{n === 1 ? "1 launch" : `${many(n)} launches`}</span></button>;
}

export function WatchPane({ pane, index, active, watches, live }: { pane: Extract<Pane, { kind: "watch" }>; index: number; active: boolean; watches: Watch[]; live: boolean }) {
  const w = watches.find(x => x.site === pane.site), expression = useExpression(w);
  const at = w ? Math.max(0, w.launches.findIndex(l => l[0] === pane.launch)) : 0, shown = w?.launches[at];
  const threads = shown?.[2] ?? 0, width = pane.width || goodWidth(threads), rows = Math.ceil(threads / Math.max(1, width));
  const scale = scaleOf(pane), [picture, setPicture] = useState<Picture>(), [error, setError] = useState<string>(), [hover, setHover] = useState(-1), [value, setValue] = useState("");
  const canvas = useRef<HTMLCanvasElement>(null), holder = useRef<HTMLDivElement>(null), [room, setRoom] = useState({ w: 600, h: 400 });
  useLayoutEffect(() => {
    const o = new ResizeObserver(() => { const e = holder.current; if (e) setRoom({ w: e.clientWidth, h: e.clientHeight }); });
    if (holder.current) o.observe(holder.current);
    return () => o.disconnect();
  }, [!w, !shown]);
  const fit = Math.min(room.w / width, room.h / Math.max(1, rows)), size = Math.max(fit >= 1 ? Math.floor(Math.min(fit, 24)) : fit, 1 / 4096);
  const pool = Math.max(1, Math.ceil(1 / size)), dot = pool > 1 ? 1 : Math.max(1, Math.floor(size));
  useEffect(() => {
    if (!w || !shown) return;
    let gone = false;
    askBytes("watch", { launch: shown[0], site: w.site, type: w.type, width, pool }).then(b => { if (!gone) { setPicture(decode(b)); setError(undefined); } }, e => { if (!gone) setError(errorText(e)); });
    return () => { gone = true; };
  }, [shown?.[0], w?.site, width, pool]);
  const usual = useMemo(() => usualRange(picture), [picture]), low = pane.low ?? usual[0], high = pane.high ?? usual[1];
  useEffect(() => {
    if (!canvas.current || !picture) return;
    const g = paint(canvas.current, picture, dot, scales[scale], placeOn(low, high, pane.log));
    if (hover >= 0) ring(g, Math.floor(Math.floor(hover / width) / pool) * picture.columns + Math.floor(hover % width / pool), picture.columns, dot, "#1c2230");
  }, [picture, scale, dot, low, high, pane.log, hover]);
  useEffect(() => {
    if (hover < 0 || !w || !shown) { setValue(""); return; }
    const timer = setTimeout(() => ask<{ value?: string }>("watch", { launch: shown[0], site: w.site, type: w.type, width, pool, thread: hover }).then(v => setValue(v.value ?? "said nothing"), () => setValue("")), 30);
    return () => clearTimeout(timer);
  }, [hover, shown?.[0]]);
  const threadAt = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect(), x = Math.floor((e.clientX - r.left) / dot) * pool, y = Math.floor((e.clientY - r.top) / dot) * pool, i = y * width + x;
    return x < width && i < threads ? i : -1;
  };
  const onKey = (e: KeyboardEvent) => {
    const by = ({ ArrowLeft: -pool, ArrowRight: pool, ArrowUp: -width * pool, ArrowDown: width * pool } as Record<string, number>)[e.key];
    if (by && !e.ctrlKey && !e.altKey && !e.metaKey) setHover(hover < 0 ? 0 : hover + by < 0 || hover + by >= threads ? hover : hover + by);
    else if (e.key === "Enter" && hover >= 0 && shown) { (e.currentTarget as HTMLElement).blur(); follow(index, { kind: "thread", launch: shown[0], thread: hover }); }
    else return;
    e.preventDefault(); e.stopPropagation();
  };
  const go = (launch: number) => replace(index, { ...pane, launch }, false);
  if (!w) return <PaneFrame index={index} kind="watch" active={active} title="watch"><Failure text="there is no such wg_watch in this run" /></PaneFrame>;
  return <PaneFrame index={index} kind="watch" active={active} title={<><span class="what">{w.type}</span> {expression || "wg_watch"}</>}
    sub={<>{fileName(w.path ?? "")}:{w.line}, a dot for each thread{pool > 1 ? `; a pixel is ${pool}×${pool} threads: the farthest from the mean` : ""}<span class="right">{live ? "live" : ""}</span></>}>
    {!shown ? <Empty>no launch has come there{live ? " yet" : ""}</Empty> : <>
      <div class="controls">
        <label>threads in a row <input type="number" min={1} max={threads} value={width} onChange={e => { const n = Number(e.currentTarget.value); if (n >= 1) replace(index, { ...pane, width: Math.min(n, threads) }, false); }} /></label>
        <ScaleControls look={pane} usual={picture && usual} number={v => shortFloat(v, w.type !== "f64")} choose={more => replace(index, { ...pane, ...more }, false)} />
      </div>
      <div class="controls time"><input type="range" min={0} max={w.launches.length - 1} value={w.launches.length - 1 - at} aria-label="launch" onInput={e => go(w.launches[w.launches.length - 1 - Number(e.currentTarget.value)][0])} />
        <span>launch #{shown[1]}{pane.launch === 0 ? ", the newest" : ""}</span>
        {pane.launch !== 0 && <Button label="The newest launch" onClick={() => go(0)}>newest</Button>}
</div>
      {error ? <Failure text={error} /> : <div class="canvas" ref={holder} tabIndex={0} role="group" aria-label={`picture of ${expression || "the values"}: arrow keys choose a thread, Enter opens it. ${hover >= 0 ? `thread ${hover}: ${value}` : ""}`} onKeyDown={onKey}><canvas ref={canvas} class="dots" onMouseMove={e => setHover(threadAt(e))} onMouseLeave={() => setHover(-1)}
        onClick={e => { const t = threadAt(e); if (t >= 0) follow(index, { kind: "thread", launch: shown[0], thread: t }); }} /></div>}
      <footer class="legend"><span class="under">{hover >= 0 ? <><b>thread {hover}</b> {value}</> : <span class="dim">{shortFloat(low, w.type !== "f64")} <i class={`ramp ${scale.replace("-", "")}`} /> {shortFloat(high, w.type !== "f64")}</span>}</span><span class="keys"><SpecialKeys picture={picture} /></span></footer>
    </>}
  </PaneFrame>;
}
