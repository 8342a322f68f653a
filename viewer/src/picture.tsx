// A buffer as a picture: a dot for each element, or for many of them; what is unlike the rest stays visible however small the dots are.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Finding, FlowStep, ask, askBytes, buffers, ofElement } from "./api";
import { Type, bufferName, bufferType, bytesText, elementName, errorText, learnTypes, many, onTypes, scalarBytes, scalarText, shortFloat, typeBytes } from "./format";
import { useListen } from "./hooks";
import { Button, Empty, Failure, PaneFrame, TypeChooser } from "./parts";
import { Look, Pane, follow, replace } from "./trail";

export interface Picture { columns: number; rows: number; low: number; high: number; min: Float32Array; max: Float32Array; mean: Float32Array; flags: Uint8Array }
export const NUMBER = 1, NAN = 2, PLUS = 4, MINUS = 8, UNWRITTEN = 16, UNRECORDED = 32, NOTHING = 64;

export function decode(b: ArrayBuffer): Picture {
  const d = new DataView(b), columns = d.getUint32(0, true), rows = d.getUint32(4, true), n = columns * rows;
  const floats = (k: number) => new Float32Array(b, 24 + 4 * n * k, n);
  return { columns, rows, low: d.getFloat64(8, true), high: d.getFloat64(16, true), min: floats(0), max: floats(1), mean: floats(2), flags: new Uint8Array(b, 24 + 12 * n, n) };
}

// Colour scales from dark to light, as stops.
export const scales: Record<string, number[][]> = {
  viridis: [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]],
  grey: [[20, 20, 20], [245, 245, 245]],
  "blue-red": [[33, 60, 143], [94, 135, 199], [190, 205, 226], [240, 240, 240], [233, 190, 170], [206, 104, 84], [150, 20, 38]],
};
const special: Record<string, [number, number, number]> = { nan: [255, 0, 170], plus: [255, 140, 0], minus: [0, 150, 255], unwritten: [214, 48, 49], unrecorded: [128, 128, 136] };
function colour(t: number, stops: number[][]): number[] {
  const x = Math.max(0, Math.min(1, t)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(x)), f = x - i;
  return stops[i].map((c, k) => c + (stops[i + 1][k] - c) * f);
}

// A square for plain arrays; a width that somebody has chosen otherwise.
export function goodWidth(count: number) { const w = 2 ** Math.round(Math.log2(Math.max(1, Math.sqrt(count)))); return Math.max(1, Math.min(count, Math.max(16, w))); }

// A large picture is asked for in bands, a few at a time, and shown as they come. BAND: bytes of a buffer that the server looks at in a moment.
const BAND = 1 << 20;
export function usePicture(key: unknown[], whole: { columns: number; rows: number } | undefined, rowsOfBand: number, load: (first: number, rows: number) => Promise<ArrayBuffer>): { picture?: Picture; done: number; error?: string } {
  const [state, set] = useState<{ picture?: Picture; done: number; error?: string }>({ done: 0 });
  useEffect(() => {
    if (!whole) return;
    let gone = false, next = 0, done = 0;
    const { columns, rows } = whole, n = columns * rows, bands = Math.max(1, Math.ceil(rows / rowsOfBand));
    const all: Picture = { columns, rows, low: NaN, high: NaN, min: new Float32Array(n), max: new Float32Array(n), mean: new Float32Array(n), flags: new Uint8Array(n).fill(NOTHING) };
    const take = (first: number, p: Picture) => {
      const at = first * columns;
      all.min.set(p.min, at); all.max.set(p.max, at); all.mean.set(p.mean, at); all.flags.set(p.flags, at);
      if (!(all.low <= p.low)) all.low = Number.isNaN(p.low) ? all.low : p.low;
      if (!(all.high >= p.high)) all.high = Number.isNaN(p.high) ? all.high : p.high;
    };
    const worker = async () => {
      while (!gone && next < bands) {
        const first = next++ * rowsOfBand;
        try { take(first, decode(await load(first, Math.min(rowsOfBand, rows - first)))); } catch (e) { if (!gone) { gone = true; set({ done: 1, error: errorText(e) }); } return; }
        if (!gone) set({ picture: { ...all }, done: ++done / bands });
      }
    };
    for (let i = 0; i < 3; i++) void worker();
    return () => { gone = true; };
  }, key);
  return state;
}

// Of several elements in one pixel the one that is farthest from the mean of all is shown.
export function middleOf(picture: Picture) {
  let sum = 0, n = 0;
  for (let i = 0; i < picture.mean.length; i++) if (picture.flags[i] & NUMBER) sum += picture.mean[i], n++;
  return n ? sum / n : 0;
}
export function paint(c: HTMLCanvasElement, picture: Picture, dot: number, stops: number[][], place: (v: number) => number): CanvasRenderingContext2D {
  c.width = picture.columns * dot, c.height = picture.rows * dot;
  const g = c.getContext("2d")!, image = g.createImageData(c.width, c.height);
  const middle = middleOf(picture), gap = dot > 4 ? 1 : 0, round = dot >= 8;
  for (let i = 0; i < picture.flags.length; i++) {
    const f = picture.flags[i];
    if (f & NOTHING) continue;
    const v = Math.abs(picture.max[i] - middle) >= Math.abs(picture.min[i] - middle) ? picture.max[i] : picture.min[i];
    const rgb = f & NAN ? special.nan : f & PLUS ? special.plus : f & MINUS ? special.minus : f & UNWRITTEN ? special.unwritten : f & UNRECORDED ? special.unrecorded : colour(place(v), stops);
    const x0 = i % picture.columns * dot, y0 = Math.floor(i / picture.columns) * dot, r = (dot - gap) / 2;
    for (let y = 0; y < dot - gap; y++) for (let x = 0; x < dot - gap; x++) {
      if (round && (x + .5 - r) ** 2 + (y + .5 - r) ** 2 > r * r) continue;
      const k = ((y0 + y) * c.width + x0 + x) * 4;
      image.data[k] = rgb[0], image.data[k + 1] = rgb[1], image.data[k + 2] = rgb[2], image.data[k + 3] = 255;
    }
  }
  g.putImageData(image, 0, 0);
  return g;
}

// A frame around a pixel's dot, seen on every colour.
export function ring(g: CanvasRenderingContext2D, at: number, columns: number, dot: number, style: string) {
  const gap = dot > 4 ? 1 : 0, x = at % columns * dot, y = Math.floor(at / columns) * dot, m = Math.max(dot - gap, 3) + 5;
  for (const [width, colour] of [[4, "rgba(255, 255, 255, .85)"], [1.75, style]] as [number, string][]) { g.strokeStyle = colour, g.lineWidth = width; g.strokeRect(x + (dot - gap - m) / 2, y + (dot - gap - m) / 2, m, m); }
}

// The scale for all but the farthest hundredth at either end.
export function usualRange(picture: Picture | undefined): [number, number] {
  if (!picture) return [0, 1];
  const all: number[] = [], every = Math.max(1, Math.floor(picture.mean.length / 20000));
  for (let i = 0; i < picture.mean.length; i += every) if (picture.flags[i] & NUMBER) all.push(picture.mean[i]);
  all.sort((a, b) => a - b);
  const at = (q: number) => all.length ? all[Math.min(all.length - 1, Math.floor(q * all.length))] : 0;
  return all.length < 50 ? [picture.low, picture.high] : [at(.01), at(.99)];
}

// Where a value is on the scale, from 0 to 1.
export function placeOn(low: number, high: number, log?: boolean) {
  const f = log ? (x: number) => Math.sign(x) * Math.log1p(Math.abs(x)) : (x: number) => x;
  return (v: number) => f(high) > f(low) ? (f(v) - f(low)) / (f(high) - f(low)) : 0.5;
}

export const scaleOf = (look: Look) => look.colours && scales[look.colours] ? look.colours : "viridis";
export function ScaleControls({ look, usual, number, choose }: { look: Look; usual?: [number, number]; number(v: number): string; choose(more: Look): void }) {
  const limit = (name: "low" | "high", text: string, i: 0 | 1) => <label>{text} <input type="number" step="any" value={look[name] ?? ""} placeholder={usual ? number(usual[i]) : ""} onChange={e => choose({ [name]: e.currentTarget.value === "" ? undefined : Number(e.currentTarget.value) })} /></label>;
  return <><label>colours <select value={scaleOf(look)} onChange={e => choose({ colours: e.currentTarget.value })}>{Object.keys(scales).map(s => <option>{s}</option>)}</select></label>
    {limit("low", "from", 0)}{limit("high", "to", 1)}
    <label><input type="checkbox" checked={!!look.log} onChange={e => choose({ log: e.currentTarget.checked || undefined })} /> log</label></>;
}

// The colours of what is no number, of those that are there.
export function SpecialKeys({ picture }: { picture?: Picture }) {
  const present = useMemo(() => { let f = 0; for (const x of picture?.flags ?? []) f |= x; return f; }, [picture]);
  return <>{([[UNWRITTEN, "unwritten", "never written"], [NAN, "nan", "NaN"], [PLUS, "plus", "+inf"], [MINUS, "minus", "−inf"], [UNRECORDED, "unrecorded", "not recorded"]] as [number, string, string][])
    .filter(k => present & k[0]).map(k => <><i class={`c-${k[1]}`} />{k[2]} </>)}</>;
}

export function BufferPane({ pane, index, active, steps, findings }: { pane: Extract<Pane, { kind: "buffer" }>; index: number; active: boolean; steps: FlowStep[]; findings: Finding[] }) {
  const b = buffers.get(pane.buffer);
  useListen(onTypes);
  const t: Type = bufferType(pane.buffer) ?? { scalar: b && b.size % 4 ? "u8" : "i32", components: 1, name: "int" };
  const count = b ? Math.floor(b.size / typeBytes(t)) : 0, width = pane.width || goodWidth(count), rows = Math.ceil(count / width);
  const component = Math.min(pane.part ?? 0, t.components - 1), scale = scaleOf(pane), zoom = pane.zoom ?? 0;
  const [pixel, setPixel] = useState(-1), [shown, setShown] = useState({ element: -1, text: "" });       // under the mouse or the keyboard's cursor: a pixel, and the element that makes it look so
  const canvas = useRef<HTMLCanvasElement>(null), holder = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ w: 0, h: 0 });      // not known yet: nothing is asked for
  useLayoutEffect(() => {
    const o = new ResizeObserver(() => { const e = holder.current; if (e) setRoom({ w: e.clientWidth, h: e.clientHeight }); });
    if (holder.current) o.observe(holder.current);
    return () => o.disconnect();
  }, []);
  // Pixels of an element; below one, several elements share a pixel.
  const fit = Math.min((room.w || 600) / width, (room.h || 400) / Math.max(1, rows));
  const size = Math.max(fit >= 1 ? Math.floor(Math.min(fit, 24)) : fit, 1 / 4096) * 2 ** zoom;
  const pool = Math.max(1, Math.ceil(1 / size)), dot = pool > 1 ? 1 : Math.max(1, Math.floor(size));

  const used = useMemo(() => steps.filter(s => s.uses.some(u => u[0] === pane.buffer && u[1] !== 1)), [steps, pane.buffer]);
  const shownStep = steps.find(s => s.id === pane.step);

  // What it is made of is known from whoever touched it.
  useEffect(() => { if (b && !bufferType(b.id)) ofElement(b.id, b.base, Math.min(b.size, 256), 0).then(p => learnTypes(p.ops), () => {}); }, [b]);
  const columns = Math.ceil(width / pool), lines = Math.ceil(rows / pool), rowsOfBand = Math.max(1, Math.floor(BAND / (typeBytes(t) * width * pool)));
  const { picture, done, error } = usePicture([pane.buffer, pane.step, width, rows, t.scalar, t.components, component, pool, !room.w], b && count && room.w ? { columns, rows: lines } : undefined, rowsOfBand, (first, n) =>
    askBytes("picture", { allocation: pane.buffer, step: pane.step, type: t.scalar, components: t.components, component, first: first * pool * width, width, rows: Math.min(n * pool, rows - first * pool), pool_x: pool, pool_y: pool }));

  // Without a word from somebody the scale is for all but the farthest hundredth at either end.
  const usual = useMemo(() => usualRange(picture), [picture]);
  const low = pane.low ?? usual[0], high = pane.high ?? usual[1];
  useEffect(() => {
    const c = canvas.current;
    if (!c || !picture) return;
    const g = paint(c, picture, dot, scales[scale], placeOn(low, high, pane.log));
    const pixelOf = (element: number) => Math.floor(Math.floor(element / width) / pool) * columns + Math.floor(element % width / pool);
    const ringed = new Set<number>();
    for (const f of findings) if (f.allocation === pane.buffer && f.offset >= 0 && b && f.offset < b.size && !ringed.has(f.offset) && ringed.add(f.offset)) ring(g, pixelOf(Math.floor(f.offset / typeBytes(t))), columns, dot, f.severity === "error" ? "#d70015" : "#b25000");
    if (pixel >= 0) ring(g, pixel, columns, dot, "#1c2230");
  }, [picture, scale, pane.low, pane.high, pane.log, dot, pixel, findings]);

  const pixelAt = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect(), x = Math.floor((e.clientX - r.left) / dot), y = Math.floor((e.clientY - r.top) / dot);
    return x >= 0 && y >= 0 && x < columns && y < lines && y * pool * width + x * pool < count ? y * columns + x : -1;
  };
  // The element that gave a pixel its colour: the same order as in paint().
  const elementOf = async (at: number): Promise<number> => {
    const x = at % columns, y = Math.floor(at / columns);
    if (pool === 1 || !picture) return y * pool * width + x * pool;
    const p = await ask<Record<string, number>>("pixel", { allocation: pane.buffer, step: pane.step, type: t.scalar, components: t.components, component, width, pool_x: pool, pool_y: pool, x, y });
    const middle = middleOf(picture), far = Math.abs(picture.max[at] - middle) >= Math.abs(picture.min[at] - middle) ? p.high : p.low;
    return p.nan ?? p.plus ?? p.minus ?? p.unwritten ?? p.unrecorded ?? far ?? y * pool * width + x * pool;
  };
  useEffect(() => {
    if (pixel < 0 || !b) { setShown({ element: -1, text: "" }); return; }
    let gone = false;
    const timer = setTimeout(async () => {
      try {
        const element = await elementOf(pixel), n = typeBytes(t), a = await askBytes("contents", { allocation: pane.buffer, step: pane.step, offset: element * n, bytes: n });
        const d = new DataView(a, 0, n), known = new Uint8Array(a, n, n), parts: string[] = [];
        for (let k = 0; k < t.components; k++) parts.push(scalarText(d, k * scalarBytes[t.scalar], t.scalar));
        if (!gone) setShown({ element, text: known.some(k => k === 0) ? "never written" : known.some(k => k > 1) ? "written by something that was not recorded" : parts.join(", ") });
      } catch { /* the picture says what is wrong */ }
    }, 30);
    return () => { gone = true; clearTimeout(timer); };
  }, [pixel, pane.step, picture]);

  if (!b) return <PaneFrame index={index} kind="buffer" active={active} title="buffer"><Failure text="there is no such buffer in this run" /></PaneFrame>;
  const choose = (more: Partial<typeof pane>) => replace(index, { ...pane, ...more }, false);
  const open = (at: number) => { if (at >= 0) elementOf(at).then(i => follow(index, { kind: "element", buffer: pane.buffer, offset: i * typeBytes(t), bytes: typeBytes(t) }), () => {}); };
  const onKey = (e: KeyboardEvent) => {
    const by: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, PageUp: -16 * columns, PageDown: 16 * columns, Home: -1e15, End: 1e15 };
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (by[e.key]) { const last = columns * lines - 1, to = pixel < 0 ? 0 : pixel + by[e.key]; setPixel(to < 0 || to > last ? Math.abs(by[e.key]) > columns * lines ? Math.max(0, Math.min(last, to)) : pixel : to); }
    else if (e.key === "Enter" || e.key === " ") { open(pixel); (e.currentTarget as HTMLElement).blur(); }      // keys are for the new pane now
    else if (e.key === "Escape") { setPixel(-1); (e.currentTarget as HTMLElement).blur(); }
    else return;
    e.preventDefault(); e.stopPropagation();
  };
  const at = used.findIndex(s => s.id >= pane.step), slider = pane.step === 0 ? used.length : at < 0 ? used.length : used[at].id === pane.step ? at : Math.max(0, at - 1);
  const number = (v: number) => shortFloat(v, t.scalar !== "f64");
  return <PaneFrame index={index} kind="buffer" active={active} title={<><span class="what">{t.name}</span> {bufferName(b)}[{many(count)}]</>}
    tools={<>
      <Button icon="minus" label="Smaller (-)" onClick={() => choose({ zoom: zoom - 1 })} /><Button icon="plus" label="Larger (+)" onClick={() => choose({ zoom: zoom + 1 })} />
      <TypeChooser buffer={pane.buffer} type={t} />
    </>}
    sub={<>{bytesText(b.size)} of {b.kind ?? "device"} memory at {b.base}<span class="right">{pool > 1 ? `a pixel is ${pool}×${pool} elements: the farthest from the mean` : ""}</span></>}>
    <div class="controls">
      <label>width <input type="number" min={1} max={Math.max(1, count)} value={width} onChange={e => { const n = Math.floor(Number(e.currentTarget.value)); if (n >= 1 && n <= count) choose({ width: n }); }} /></label>
      {t.components > 1 && <label>part <select value={component} onChange={e => choose({ part: Number(e.currentTarget.value) })}>{Array.from({ length: t.components }, (_, i) => <option value={i}>{t.components <= 4 ? "xyzw"[i] : i}</option>)}</select></label>}
      <ScaleControls look={pane} usual={picture && usual} number={number} choose={choose} />
    </div>
    <div class="controls time">
      <input type="range" aria-label="after which step" min={0} max={used.length} value={slider} onInput={e => { const i = Number(e.currentTarget.value); choose({ step: i >= used.length ? 0 : used[i].id }); }} />
      <span>{pane.step === 0 ? "at the end" : shownStep ? `after ${shownStep.kind === "launch" ? `launch #${shownStep.number}` : `${shownStep.call || shownStep.kind} #${shownStep.number}`}` : `after step ${pane.step}`}</span>
    </div>
    {error ? <Failure text={error} /> : <div class="canvas" ref={holder} tabIndex={0} role="group" aria-label={`picture of ${bufferName(b)}: arrow keys choose an element, Enter opens it. ${shown.element >= 0 ? `${elementName(pane.buffer, shown.element * typeBytes(t), typeBytes(t))} ${shown.text}` : ""}`} onKeyDown={onKey}>
      {!picture && <Empty>reading…</Empty>}
      <canvas ref={canvas} class="dots" onMouseMove={e => setPixel(pixelAt(e))} onMouseLeave={() => setPixel(-1)} onClick={e => open(pixelAt(e))} />
    </div>}
    <footer class="legend">
      <span class="under">{shown.element >= 0 ? <><b>{elementName(pane.buffer, shown.element * typeBytes(t), typeBytes(t))}</b> {shown.text}</> : done < 1 ? <span class="dim">{Math.round(100 * done)} %</span> : <span class="dim">{number(low)} <i class={`ramp ${scale.replace("-", "")}`} /> {number(high)}</span>}</span>
      <span class="keys"><SpecialKeys picture={picture} />{findings.some(f => f.allocation === pane.buffer) && <><i class="c-finding" />finding</>}</span>
    </footer>
  </PaneFrame>;
}
