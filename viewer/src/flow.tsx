// The flow chart: launches, copies and sets from top to bottom, buffers as columns; a filled mark writes, a hollow one reads.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { FlowStep, buffers } from "./api";
import { bufferName, bytesText, duration, many } from "./format";
import { Button } from "./parts";

export interface Flow { steps: FlowStep[]; kernels: Record<string, string>; total: number }
interface Props { flow: Flow; current: number; currentBuffer: number; openLaunch(id: number): void; openBuffer(id: number, step: number): void }

export const kernelName = (readable: string | undefined) => (readable ?? "?").replace(/^void /, "").replace(/[<(].*$/, "");
const HEAD = 22, LABEL = 158, LANE = 15;

export function FlowChart({ flow, current, currentBuffer, openLaunch, openBuffer }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null), box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ w: 300, h: 300 }), [top, setTop] = useState(0), [row, setRow] = useState(20), [hover, setHover] = useState<{ x: number; y: number } | undefined>(), [theme, setTheme] = useState(0);
  const { steps } = flow;
  // Buffers that are used most come first; what does not fit is left out.
  const lanes = useMemo(() => {
    const used = new Map<number, number>(), first = new Map<number, number>();
    steps.forEach((s, i) => s.uses.forEach(u => { used.set(u[0], (used.get(u[0]) ?? 0) + 1); if (!first.has(u[0])) first.set(u[0], i); }));
    return [...used.keys()].sort((a, b) => used.get(b)! - used.get(a)!).slice(0, Math.max(1, Math.floor((size.w - LABEL - 8) / LANE))).sort((a, b) => a - b);
  }, [steps, size.w]);
  const laneX = useMemo(() => new Map(lanes.map((b, i) => [b, LABEL + 10 + i * Math.min(44, Math.max(LANE, (size.w - LABEL - 16) / lanes.length))])), [lanes, size.w]);
  const highest = Math.max(0, steps.length * row - (size.h - HEAD));
  const at = Math.min(top, highest);

  useLayoutEffect(() => {
    const o = new ResizeObserver(() => { const e = box.current; if (e) setSize({ w: e.clientWidth, h: e.clientHeight }); });
    o.observe(box.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)"), changed = () => setTheme(n => n + 1);
    dark.addEventListener("change", changed);
    const m = new MutationObserver(changed);
    m.observe(document.documentElement, { attributes: true });
    return () => { o.disconnect(); m.disconnect(); dark.removeEventListener("change", changed); };
  }, []);
  useEffect(() => {
    const i = steps.findIndex(s => s.id === current);
    if (i >= 0 && (i * row < at || (i + 1) * row > at + size.h - HEAD)) setTop(Math.max(0, Math.min(highest, i * row - (size.h - HEAD) / 2)));
  }, [current, steps]);

  useEffect(() => {
    const c = canvas.current!, ratio = devicePixelRatio || 1, style = getComputedStyle(c), v = (n: string) => style.getPropertyValue(n).trim();
    c.width = size.w * ratio, c.height = size.h * ratio;
    const g = c.getContext("2d")!;
    g.scale(ratio, ratio);
    g.clearRect(0, 0, size.w, size.h);
    g.textBaseline = "middle";
    const ink = v("--ink"), dim = v("--dim"), rule = v("--rule"), accent = v("--accent"), error = v("--error"), read = v("--load"), write = v("--store"), soft = v("--soft"), surface = v("--surface");
    const first = Math.max(0, Math.floor(at / row)), last = Math.min(steps.length, Math.ceil((at + size.h - HEAD) / row));
    const mark = Math.max(1, Math.min(4.5, row / 3.2));
    // Life lines.
    for (const [b, x] of laneX) {
      g.strokeStyle = b === currentBuffer ? accent : rule;
      g.lineWidth = b === currentBuffer ? 1.5 : 1;
      g.beginPath(); g.moveTo(x, HEAD); g.lineTo(x, HEAD + Math.min(size.h - HEAD, steps.length * row - at)); g.stroke();
    }
    // Rows thinner than a pixel share one: findings must still be seen.
    for (let i = first; i < last; i++) {
      const s = steps[i], y = HEAD + i * row - at, middle = y + row / 2, here = s.id === current;
      if (here) { g.fillStyle = soft; g.fillRect(0, y, size.w, Math.max(row, 2)); g.fillStyle = accent; g.fillRect(0, y, 3, Math.max(row, 2)); }
      else if (hover && hover.y >= y && hover.y < y + row && row >= 10) { g.fillStyle = surface; g.fillRect(0, y, size.w, row); }
      let from = LABEL - 6;
      for (const u of s.uses) {
        const x = laneX.get(u[0]);
        if (x === undefined) continue;
        if (row >= 8) { g.strokeStyle = here ? accent : rule; g.lineWidth = 1; g.beginPath(); g.moveTo(from, middle); g.lineTo(x, middle); g.stroke(); from = Math.min(from, x); }
      }
      for (const u of s.uses) {
        const x = laneX.get(u[0]);
        if (x === undefined) continue;
        g.beginPath(); g.arc(x, middle, mark, 0, 7);
        g.fillStyle = u[1] & 2 ? write : v("--paper"); g.fill();
        if (!(u[1] & 2)) { g.strokeStyle = u[1] ? read : dim; g.lineWidth = 1.5; g.stroke(); }
        if (u[1] === 3) { g.strokeStyle = read; g.lineWidth = 1.5; g.stroke(); }
      }
      if (row >= 12) {
        g.font = `${here ? "600 " : ""}12px ${v("--sans")}`;
        g.fillStyle = s.kind === "launch" ? ink : dim;
        const label = s.kind === "launch" ? kernelName(flow.kernels[s.kernel]) : s.call || s.kind, tail = s.kind === "launch" ? ` #${s.number}` : "";
        let text = label;
        while (text.length > 3 && g.measureText(text + tail).width > LABEL - 30) text = text.slice(0, -2) + "…";
        g.fillText(text + tail, 20, middle);
      }
      if (s.findings) {
        g.fillStyle = error; g.beginPath(); g.arc(11, middle, Math.max(2, Math.min(4, row / 3)), 0, 7); g.fill();
      }
    }
    g.fillStyle = v("--paper"); g.fillRect(0, 0, size.w, HEAD);
    g.font = `11px ${v("--mono")}`;
    const fits = Math.max(1, Math.floor(Math.min(44, (size.w - LABEL - 16) / Math.max(1, lanes.length)) / 6.8));
    for (const [b, x] of laneX) {
      const name = bufferName(buffers.get(b), b);
      g.fillStyle = b === currentBuffer ? accent : dim;
      g.textAlign = "center";
      g.fillText(name.length > fits ? name.slice(0, Math.max(1, fits - 1)) + "…" : name, x, HEAD / 2);
      g.textAlign = "left";
    }
    // Where in the whole this is.
    if (steps.length * row > size.h - HEAD) {
      const h = size.h - HEAD, bar = Math.max(16, h * h / (steps.length * row));
      g.fillStyle = rule; g.fillRect(size.w - 3, HEAD + (h - bar) * (highest ? at / highest : 0), 3, bar);
    }
  }, [flow, size, at, row, current, currentBuffer, hover, laneX, theme]);

  const zoom = (by: number, y = size.h / 2) => {
    const next = Math.max(Math.min(1, (size.h - HEAD) / Math.max(1, steps.length)), Math.min(32, row * by)), step = (at + y - HEAD) / row;
    setRow(next); setTop(Math.max(0, step * next - (y - HEAD)));
  };
  const hit = hover && hover.y > HEAD ? steps[Math.floor((hover.y - HEAD + at) / row)] : undefined;
  const lane = hover && [...laneX].find(([, x]) => Math.abs(x - hover.x) < 8)?.[0];
  const how = hit && lane ? hit.uses.find(u => u[0] === lane)?.[1] : undefined;
  return <div class="flow">
    <div class="flowhead"><h3>Flow</h3><span class="dim">{many(flow.total)} steps{steps.length < flow.total ? `, the first ${many(steps.length)}` : ""}</span>
      <Button icon="minus" label="See more steps at once" onClick={() => zoom(1 / 1.6)} /><Button icon="plus" label="See fewer steps, larger" onClick={() => zoom(1.6)} /></div>
    <div class="flowbox" ref={box} tabIndex={0} role="application" aria-label="flow chart: arrow keys scroll, plus and minus zoom"
      onKeyDown={e => { const by = { ArrowDown: row, ArrowUp: -row, PageDown: size.h, PageUp: -size.h }[e.key]; if (by) { setTop(Math.max(0, Math.min(highest, at + by))); e.preventDefault(); e.stopPropagation(); } else if (e.key === "+") zoom(1.6); else if (e.key === "-") zoom(1 / 1.6); }}
      onWheel={e => { e.preventDefault(); if (e.ctrlKey || e.metaKey) zoom(e.deltaY < 0 ? 1.25 : 0.8, e.offsetY); else setTop(Math.max(0, Math.min(highest, at + e.deltaY))); }}
      onMouseMove={e => { const r = e.currentTarget.getBoundingClientRect(); setHover({ x: e.clientX - r.left, y: e.clientY - r.top }); }} onMouseLeave={() => setHover(undefined)}
      onClick={() => { if (hover && hover.y <= HEAD && lane) openBuffer(lane, 0); else if (hit && lane && how !== undefined) openBuffer(lane, hit.id); else if (hit?.launch) openLaunch(hit.launch); else if (hit?.uses.length) openBuffer(hit.uses[hit.uses.length - 1][0], hit.id); }}>
      <canvas ref={canvas} />
    </div>
    <div class="flowfoot">{hit ? <>{hit.kind === "launch" ? <>{kernelName(flow.kernels[hit.kernel])} #{hit.number}: {many(hit.blocks)} × {hit.threads} threads{hit.ns ? `, ${duration(hit.ns)}` : ""}{hit.findings ? `, ${hit.findings} findings` : ""}</> : <>{hit.call || hit.kind}: {bytesText(hit.bytes)}</>}
      {lane && how !== undefined && <> — {how === 3 ? "reads and writes" : how === 2 ? "writes" : how === 1 ? "reads" : "is given"} {bufferName(buffers.get(lane), lane)}</>}</> : <><i class="m-write" /> writes <i class="m-read" /> reads <i class="m-bad" /> findings</>}</div>
  </div>;
}
