// The layout of a buffer's picture: rows and columns, the elements of a pixel, and the visible
// part.
import { useMemo } from "preact/hooks";
import { Buffer } from "../run/api";
import { Dots, dotsOf, dotSize, Room } from "./dots";
import { goodWidth } from "./paint";
import { Pane } from "../parts/trail";
import { bufferType, Leaf, leaves, Type } from "../run/types";

export type BufferLook = Extract<Pane, { kind: "buffer" }>;
export const LEFT = 44; // room for the numbers of rows
export const TOP = 18; // … and of columns

// Which member of its elements is shown; scalar: the type the server is asked for.
export interface ShownPart {
  type: Type;
  all: Leaf[];
  part: number;
  leaf: Leaf;
  scalar: string;
}
export function usePart(buffer: number, chosen: number | undefined): ShownPart {
  const type = bufferType(buffer);
  const all = useMemo(() => leaves(type), [type]);
  const part = Math.min(chosen ?? 0, all.length - 1);
  const leaf = all[Math.max(0, part)];
  const scalar = leaf.scalar === "bool" ? "u8" : leaf.scalar === "ptr" ? "u64" : leaf.scalar;
  return { type, all, part, leaf, scalar };
}

// Elements in rows; of 3-D data a slice of so many rows (depth) at a time.
export interface Rows {
  count: number; // of all elements
  width: number;
  rows: number; // of the slice
  depth: number;
  slice: number;
  slices: number;
  first: number; // element of the slice
}
export function rowsOf(pane: BufferLook, buffer: Buffer | undefined, bytes: number): Rows {
  const dims = (buffer?.dims ?? "")
    .split(",")
    .map(Number)
    .filter((n) => n > 0);
  const count = buffer ? Math.floor(buffer.size / bytes) : 0;
  const usual = dims.length > 1 ? dims[dims.length - 1] : goodWidth(count);
  const width = Math.max(1, pane.width || usual);
  const depth = pane.rows ?? 0;
  const slice = pane.slice ?? 0;
  const first = depth ? slice * depth * width : 0;
  return {
    count,
    width,
    depth,
    slice,
    first,
    slices: depth ? Math.ceil(count / (depth * width)) : 1,
    rows: Math.max(1, Math.min(depth || Infinity, Math.ceil((count - first) / width))),
  };
}

// The picture in pixels, each of pool × pool elements, and the part that is seen.
export interface Layout extends Rows, Dots {
  room: Room;
  fit: number;
  columns: number;
  lines: number;
  seenX: number;
  seenY: number;
  x0: number; // the pixel at the upper left corner
  y0: number;
  from: number; // lines that are asked for
  loaded: number;
}
export interface Cell {
  x: number; // a pixel of the whole picture
  y: number;
}

// Requests only the rows around the visible ones of a tall picture.
function linesToLoad(lines: number, seenY: number, y0: number) {
  const chunk = Math.max(64, 2 * seenY);
  if (lines <= 2 * chunk) return { from: 0, loaded: lines };
  const from = Math.max(0, Math.floor((y0 - seenY / 2) / (chunk / 2)) * (chunk / 2));
  return { from, loaded: Math.min(lines, from + 2 * chunk) - from };
}

export function layoutOf(pane: BufferLook, elements: Rows, room: Room): Layout {
  const w = Math.max(1, (room.w || 600) - LEFT);
  const h = Math.max(1, (room.h || 400) - TOP);
  const fit = Math.min(w / elements.width, h / elements.rows);
  const { pool, dot } = dotsOf(dotSize(fit, pane.zoom ?? 0));
  const columns = Math.ceil(elements.width / pool);
  const lines = Math.ceil(elements.rows / pool);
  const seenX = Math.ceil(w / dot);
  const seenY = Math.ceil(h / dot);
  const corner = (element: number | undefined, all: number, seen: number) =>
    Math.max(0, Math.min(all - Math.min(all, seen), Math.round((element ?? 0) / pool)));
  const x0 = corner(pane.x, columns, seenX);
  const y0 = corner(pane.y, lines, seenY);
  return {
    ...elements,
    room,
    fit,
    pool,
    dot,
    columns,
    lines,
    seenX,
    seenY,
    x0,
    y0,
    ...linesToLoad(lines, seenY, y0),
  };
}

// The pixel of an element, and the first element of a pixel.
export const pixelOf = (l: Layout, element: number): Cell => ({
  x: Math.floor(((element - l.first) % l.width) / l.pool),
  y: Math.floor(Math.floor((element - l.first) / l.width) / l.pool),
});
export const firstElementOf = (l: Layout, p: Cell) =>
  l.first + p.y * l.pool * l.width + p.x * l.pool;

// What is under the mouse.
export function cellAt(l: Layout, canvas: HTMLCanvasElement, e: MouseEvent): Cell | undefined {
  const r = canvas.getBoundingClientRect();
  const x = l.x0 + Math.floor((e.clientX - r.left - LEFT) / l.dot);
  const y = l.y0 + Math.floor((e.clientY - r.top - TOP) / l.dot);
  return e.clientX - r.left >= LEFT &&
    e.clientY - r.top >= TOP &&
    x < l.columns &&
    y < l.lines &&
    firstElementOf(l, { x, y }) < l.count
    ? { x, y }
    : undefined;
}

// Where arrow keys lead; the end of a row leads to the next one.
export function movedCell(l: Layout, cell: Cell | undefined, [dx, dy]: [number, number]): Cell {
  if (!cell) return { x: l.x0, y: l.y0 };
  if (dx === 1 && cell.x === l.columns - 1 && cell.y + 1 < l.lines) return { x: 0, y: cell.y + 1 };
  return {
    x: Math.max(0, Math.min(l.columns - 1, cell.x + dx)),
    y: Math.max(0, Math.min(l.lines - 1, cell.y + dy)),
  };
}
export const isSeen = (l: Layout, p: Cell) =>
  p.x >= l.x0 && p.x < l.x0 + l.seenX && p.y >= l.y0 && p.y < l.y0 + l.seenY;
// The picture moved so that a pixel is in the middle.
export const centredOn = (l: Layout, p: Cell) => ({
  x: Math.max(0, (p.x - Math.floor(l.seenX / 2)) * l.pool),
  y: Math.max(0, (p.y - Math.floor(l.seenY / 2)) * l.pool),
});

// Zooms about a point of the canvas: the element under it stays there.
export function zoomed(l: Layout, zoom: number, by: number, px: number, py: number) {
  const next = Math.max(-4, Math.min(12, zoom + by));
  const ex = (l.x0 + (px - LEFT) / l.dot) * l.pool;
  const ey = (l.y0 + (py - TOP) / l.dot) * l.pool;
  const size = dotSize(l.fit, next);
  const perPixel = size >= 1 ? 1 / Math.floor(size) : Math.ceil(1 / size);
  return {
    zoom: next,
    x: Math.max(0, Math.round(ex - (px - LEFT) * perPixel)),
    y: Math.max(0, Math.round(ey - (py - TOP) * perPixel)),
  };
}
