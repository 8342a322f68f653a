// Draws the picture of a buffer on its canvas: dots, numbers of rows and columns, elements that
// some threads touched, and frames around findings and the chosen element.
import { Finding } from "../run/api";
import { middleOf, NOTHING, paint, Picture, placeOn, ring, scales, writeValues } from "./paint";
import { BufferView } from "./picturedata";
import { Cell, Layout, LEFT, pixelOf, TOP } from "./picturelayout";
import { scaleOf } from "./scale";

export interface Drawing {
  view: BufferView;
  picture: Picture;
  low: number;
  high: number;
  findings: Finding[];
  marks?: Uint8Array; // of each element: 1 read, 2 written by the chosen threads
  cell?: Cell;
}
// The pixels that are seen.
interface Seen {
  across: number;
  down: number;
}
const isInside = (l: Layout, { across, down }: Seen, p: Cell) =>
  p.x >= l.x0 && p.y >= l.y0 && p.x < l.x0 + across && p.y < l.y0 + down;

function cutOut(picture: Picture, l: Layout, { across, down }: Seen): Picture {
  const part: Picture = {
    columns: across,
    rows: down,
    low: 0,
    high: 0,
    min: new Float32Array(across * down),
    max: new Float32Array(across * down),
    mean: new Float32Array(across * down),
    flags: new Uint8Array(across * down).fill(NOTHING),
  };
  for (let y = 0; y < down; y++) {
    const k = l.y0 + y - l.from;
    if (k < 0 || k >= picture.rows) continue;
    for (let x = 0; x < across; x++) {
      const i = k * l.columns + l.x0 + x;
      const o = y * across + x;
      part.min[o] = picture.min[i];
      part.max[o] = picture.max[i];
      part.mean[o] = picture.mean[i];
      part.flags[o] = picture.flags[i];
    }
  }
  return part;
}

// A canvas with the dots alone, and values in those that have room for them.
function drawDots(d: Drawing, seen: Seen, font: string): HTMLCanvasElement {
  const { pane, part: shown, layout } = d.view;
  const dots = document.createElement("canvas");
  const part = cutOut(d.picture, layout, seen);
  const stops = scales[scaleOf(pane)];
  const place = placeOn(d.low, d.high, pane.log);
  const painted = paint(dots, part, layout.dot, stops, place, middleOf(d.picture));
  const { scalar, leaf } = shown;
  if (layout.pool === 1 && !pane.by && scalar !== "f64" && leaf.scalar !== "ptr")
    writeValues(painted, part, layout.dot, scalar === "f32", stops, place, font);
  return dots;
}

// Elements from one number at a ruler to the next, at least so many pixels apart.
function rulerStep(l: Layout, pixels: number) {
  const raw = (pixels / Math.max(1, l.dot)) * l.pool;
  const p = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  return Math.max(1, [1, 2, 5, 10].map((k) => k * p).find((k) => k >= raw) ?? raw);
}
function drawRulers(g: CanvasRenderingContext2D, l: Layout, { across, down }: Seen) {
  const { x0, y0, pool, dot } = l;
  const everyX = rulerStep(l, 64);
  const everyY = rulerStep(l, 28);
  const lastX = Math.min(l.width, (x0 + across) * pool);
  const lastY = Math.min(l.rows, (y0 + down) * pool);
  g.textAlign = "center";
  for (let x = Math.ceil((x0 * pool) / everyX) * everyX; x < lastX; x += everyX)
    g.fillText(String(x), LEFT + (x / pool - x0) * dot + dot / 2, 11);
  g.textAlign = "right";
  g.textBaseline = "middle";
  for (let y = Math.ceil((y0 * pool) / everyY) * everyY; y < lastY; y += everyY)
    g.fillText(String(y), LEFT - 6, TOP + (y / pool - y0) * dot + dot / 2);
}

// The accesses of the threads in each visible pixel.
function touchedPixels(l: Layout, seen: Seen, marks: Uint8Array): Map<number, number> {
  const out = new Map<number, number>();
  for (let e = l.first; e < Math.min(l.count, l.first + l.rows * l.width); e++)
    if (marks[e]) {
      const p = pixelOf(l, e);
      if (isInside(l, seen, p)) {
        const k = p.y * l.columns + p.x;
        out.set(k, (out.get(k) ?? 0) | marks[e]);
      }
    }
  return out;
}
function drawTouched(
  g: CanvasRenderingContext2D,
  l: Layout,
  seen: Seen,
  marks: Uint8Array,
  paper: string,
) {
  const { x0, y0, dot, columns } = l;
  const touched = touchedPixels(l, seen, marks);
  g.globalAlpha = 0.35;
  g.fillStyle = paper;
  for (let y = y0; y < y0 + seen.down; y++)
    for (let x = x0; x < x0 + seen.across; x++)
      if (!touched.has(y * columns + x))
        g.fillRect(LEFT + (x - x0) * dot, TOP + (y - y0) * dot, dot, dot);
  g.globalAlpha = 1;
  g.lineWidth = Math.max(1, Math.min(2, dot / 5));
  for (const [k, how] of touched) {
    g.strokeStyle = how & 2 ? "rgb(255, 90, 40)" : "rgb(40, 200, 150)";
    const x = LEFT + ((k % columns) - x0) * dot;
    const y = TOP + (Math.floor(k / columns) - y0) * dot;
    if (dot >= 4) g.strokeRect(x + 0.5, y + 0.5, dot - 2, dot - 2);
    else {
      g.fillStyle = g.strokeStyle;
      g.fillRect(x, y, Math.max(1, dot), Math.max(1, dot));
    }
  }
}

// Elements of the picture that findings are about; of findings about the same byte the first.
function elementsFound({ view, findings }: Drawing): [element: number, finding: Finding][] {
  const { buffer, layout: l, part } = view;
  const first = new Map<number, Finding>();
  for (const f of findings)
    if (f.allocation === view.pane.buffer && f.offset >= 0 && !first.has(f.offset))
      first.set(f.offset, f);
  return [...first.values()]
    .filter((f) => buffer && f.offset < buffer.size)
    .map((f) => [Math.floor(f.offset / part.type.bytes), f] as [number, Finding])
    .filter(([e]) => e >= l.first && e < l.first + l.rows * l.width);
}
function drawFrame(g: CanvasRenderingContext2D, l: Layout, seen: Seen, p: Cell, colour: string) {
  if (!isInside(l, seen, p)) return;
  g.save();
  g.translate(LEFT + (p.x - l.x0) * l.dot, TOP + (p.y - l.y0) * l.dot);
  ring(g, 0, 1, l.dot, colour);
  g.restore();
}

export function drawBuffer(c: HTMLCanvasElement, d: Drawing) {
  const l = d.view.layout;
  const seen = {
    across: Math.min(l.columns - l.x0, l.seenX),
    down: Math.min(l.lines - l.y0, l.seenY),
  };
  if (!seen.across || !seen.down) return;
  const style = getComputedStyle(c);
  const font = style.getPropertyValue("--mono");
  const dots = drawDots(d, seen, font);
  c.width = l.room.w;
  c.height = l.room.h;
  const g = c.getContext("2d")!;
  g.drawImage(dots, LEFT, TOP);
  g.font = `10px ${font}`;
  g.fillStyle = style.getPropertyValue("--dim");
  drawRulers(g, l, seen);
  if (d.marks) drawTouched(g, l, seen, d.marks, style.getPropertyValue("--paper"));
  for (const [element, f] of elementsFound(d))
    drawFrame(g, l, seen, pixelOf(l, element), f.severity === "error" ? "#d70015" : "#b25000");
  if (d.cell) drawFrame(g, l, seen, d.cell, "#1c2230");
}
