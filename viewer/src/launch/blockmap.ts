// The map of a launch's blocks: a value for each of them, its text, and the picture of all.
import { useMemo, useState } from "preact/hooks";
import { Finding, Launch, ask } from "../run/api";
import { counted, duration, triple } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { colour, scales } from "../picture/paint";
import { bufferType, leaves } from "../run/types";

// What the launch did, by block and by site.
export interface LaunchCounts {
  blocks: number[];
  began: number[];
  took: number[];
  counts: [site: number, operations: number, records: number, divergent: number, passes: number][];
}

// The first number of a buffer's elements, where their type is known.
export function firstLeaf(buffer: number) {
  const t = bufferType(buffer),
    l = t.known ? leaves(t, 1)[0] : undefined;
  return l && l.scalar !== "ptr" && !l.bits
    ? { scalar: l.scalar === "bool" ? "u8" : l.scalar, stride: t.bytes, offset: l.offset }
    : undefined;
}

export const blockThreads = (l: Launch) => l.block[0] * l.block[1] * l.block[2];
export const blockPlace = (l: Launch, b: number) => [
  b % l.grid[0],
  Math.floor(b / l.grid[0]) % l.grid[1],
  Math.floor(b / l.grid[0] / l.grid[1]),
];

// Findings of each block.
function useBlockFindings(findings: Finding[], per: number) {
  return useMemo(() => {
    const m = new Map<number, number>();
    for (const f of findings)
      if (f.thread !== undefined) {
        const b = Math.floor(f.thread / per);
        m.set(b, (m.get(b) ?? 0) + f.count);
      }
    return m;
  }, [findings, per]);
}

// The mean of what each block stored in a buffer; 0: none.
function useBlockMeans(launch: number, buffer: number) {
  const leaf = buffer ? firstLeaf(buffer) : undefined;
  return useAnswer<{ means: (number | null)[]; odd: number[] }>(
    () =>
      leaf
        ? ask("block_values", {
            launch,
            allocation: buffer,
            type: leaf.scalar,
            stride: leaf.stride,
            offset: leaf.offset,
          })
        : undefined,
    [launch, buffer],
  );
}

// The values that colours stand for. by: their kind, "buffer 3" or a word
export function useBlockMap(l: Launch, findings: Finding[]) {
  const [by, setBy] = useState("operations");
  const counts = useAnswer<LaunchCounts>(() => ask("counts", { launch: l.id }), [l.id]);
  const blocks = counts.value?.blocks ?? [];
  const n = l.grid[0] * l.grid[1] * l.grid[2];
  const found = useBlockFindings(findings, blockThreads(l));
  const buffer = by.startsWith("buffer ") ? Number(by.slice(7)) : 0;
  const means = useBlockMeans(l.id, buffer);
  const values = useMemo<(number | null)[]>(() => {
    if (by === "findings") return Array.from({ length: n }, (_, i) => found.get(i) ?? null);
    if (by === "began" || by === "took")
      return (counts.value?.[by] ?? []).map((x) => (x < 0 ? null : x));
    return buffer ? (means.value?.means ?? []) : blocks.map((x) => x || null);
  }, [by, counts.value, means.value, found]);
  const [least, most] = useMemo(() => {
    let low = Infinity;
    let high = -Infinity;
    for (const v of values)
      if (v !== null) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
    return [by === "findings" ? 0 : low, high];
  }, [values]);
  return { by, setBy, counts, blocks, n, found, buffer, means, values, least, most };
}
export type BlockMap = ReturnType<typeof useBlockMap>;

export function blockValueText(by: string, v: number): string {
  switch (by) {
    case "operations":
      return counted(v, "operation");
    case "findings":
      return counted(v, "finding");
    case "began":
      return `began ${duration(v)} after the first`;
    case "took":
      return `took ${duration(v)}`;
    default:
      return `stored ${Number(v.toPrecision(6))} in the mean`;
  }
}

export function blockText(l: Launch, map: BlockMap, b: number): string {
  const { by, values, found } = map;
  const value = by === "operations" || by === "findings" ? undefined : values[b];
  return [
    `block ${triple(blockPlace(l, b))}: ${counted(map.blocks[b] ?? 0, "operation")}`,
    value !== null && value !== undefined && blockValueText(by, value),
    map.buffer && map.means.value?.odd.includes(b) && "NaN or infinite among them",
    found.has(b) && counted(found.get(b)!, "finding"),
  ]
    .filter(Boolean)
    .join(", ");
}

// Rows of so many blocks, each a square of so many pixels.
export interface BlockGrid {
  width: number;
  rows: number;
  dot: number;
}
export function blockGrid(l: Launch): BlockGrid {
  const n = l.grid[0] * l.grid[1] * l.grid[2];
  const square = Math.min(n, Math.max(1, Math.ceil(Math.sqrt(n * 3))));
  const width = l.grid[1] * l.grid[2] > 1 ? l.grid[0] : square;
  const rows = Math.ceil(n / width);
  const dot = Math.max(1, Math.min(36, Math.floor(420 / width), Math.floor(300 / rows) || 1));
  return { width, rows, dot };
}

function blockColour(map: BlockMap, v: number | null): string {
  if (v === null) return "rgba(128, 128, 128, .25)";
  const { by, least, most } = map;
  const t = most > least ? (v - least) / (most - least) : 0.5;
  if (map.buffer) return `rgb(${colour(t, scales.viridis).map(Math.round).join()})`;
  const hue = by === "findings" ? 0 : by === "operations" ? 215 : 30;
  return `hsl(${hue} 65% ${88 - 50 * t}%)`;
}

export function paintBlocks(canvas: HTMLCanvasElement, map: BlockMap, grid: BlockGrid) {
  const { width, rows, dot } = grid;
  canvas.width = width * dot;
  canvas.height = rows * dot;
  const g = canvas.getContext("2d")!;
  const odd = new Set(map.buffer ? map.means.value?.odd : []);
  const inside = Math.max(1, dot - (dot > 3 ? 1 : 0));
  for (let i = 0; i < map.n; i++) {
    const x = (i % width) * dot;
    const y = Math.floor(i / width) * dot;
    g.fillStyle = blockColour(map, map.values[i] ?? null);
    g.fillRect(x, y, inside, inside);
    if (odd.has(i)) {
      g.fillStyle = "rgb(255, 0, 170)";
      g.fillRect(x, y, Math.max(2, dot / 2), Math.max(2, dot / 2));
    }
    if (map.by !== "findings" && map.found.has(i)) {
      g.fillStyle = "#d70015";
      g.fillRect(x, y, Math.max(2, dot / 3), Math.max(2, dot / 3));
    }
  }
}
