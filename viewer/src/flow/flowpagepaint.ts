// Draws the page of flow: loops or times at the top, lanes of steps, rows of buffers below. Only
// what is in sight is drawn.
import { FlowStep } from "../run/api";
import { Paper, fitText, isDark, line, paperOf, troubleMark, useMark } from "../parts/canvas";
import { FlowLayout, HEAD, LANE, NAMES, ROW, beginOf, widthOf, xOf } from "./flowpagelayout";
import { ticksOf } from "./flowtime";
import { bufferName, bytesText, duration, many } from "../run/format";
import { hostTail } from "../run/time";

// now: the step at the cursor of time; cursor: that of the keyboard (-1: none)
export interface FlowScene {
  layout: FlowLayout;
  now: number;
  cursor: number;
  races: Map<number, number>;
  wanted(step: number): boolean;
}
interface Painter extends FlowScene {
  paper: Paper;
}

// Kernels, as they come, from green to violet: red and amber are left to findings and races.
const FIRST_HUE = 85;
const HUES = 220;
const hues = new Map<string, number>();
function hue(name: string) {
  const known = hues.get(name);
  if (known !== undefined) return known;
  const h = FIRST_HUE + ((hues.size * 0.618 * HUES) % HUES);
  hues.set(name, h);
  return h;
}

export function paintFlow(canvas: HTMLCanvasElement, scene: FlowScene) {
  const painter = { ...scene, paper: paperOf(canvas, scene.layout.size) };
  painter.paper.g.font = `11px ${painter.paper.sans}`;
  paintTimes(painter);
  paintLoops(painter);
  paintCursors(painter);
  paintLanes(painter);
  paintBuffers(painter);
  paintLaneNames(painter);
  paintScrollBar(painter);
}

function paintTimes({ paper: { g, colour }, layout: l }: Painter) {
  if (!l.spans) return;
  for (const t of ticksOf(l.spans, l.from, l.upto, 90 / l.perStep)) {
    const x = xOf(l, t / l.spans.perUnit);
    if (x < NAMES) continue;
    g.fillStyle = colour.dim;
    g.fillText(duration(t), x + 4, HEAD / 2 - 1);
    g.fillStyle = colour.rule;
    g.fillRect(x, 3, 1, HEAD + l.flow.index.lanes.length * LANE - 3);
  }
}

// Loops as brackets at the top.
function paintLoops({ paper: { g, colour }, layout: l }: Painter) {
  if (l.spans) return;
  const { names, loops } = l.flow.index;
  for (const loop of loops) {
    const begin = xOf(l, loop.first);
    const end = xOf(l, loop.first + loop.length * loop.turns);
    if (end < NAMES || begin > l.size.w || end - begin < 14) continue;
    const left = Math.max(NAMES, begin);
    g.fillStyle = colour.surface;
    g.fillRect(left + 1, 3, Math.min(end, l.size.w) - left - 2, HEAD - 7);
    g.fillStyle = colour.dim;
    const what = loop.length === 1 ? names[loop.first] : `${loop.length} steps`;
    const label = `${many(loop.turns)} × ${what}`;
    if (end - left > g.measureText(label).width + 10) g.fillText(label, left + 6, HEAD / 2 - 1);
  }
}

function paintCursors({ paper: { g, colour }, layout: l, now, cursor }: Painter) {
  if (now >= 0) {
    g.fillStyle = colour.soft;
    g.fillRect(xOf(l, beginOf(l, now)), HEAD - 2, Math.max(2, widthOf(l, now)), l.size.h);
  }
  if (cursor >= 0) {
    const high = l.flow.index.lanes.length * LANE;
    g.strokeStyle = colour.accent;
    g.lineWidth = 1.5;
    g.strokeRect(xOf(l, beginOf(l, cursor)), HEAD, Math.max(2, widthOf(l, cursor)), high);
  }
}

// Steps thinner than a pixel share one; findings and races must still be seen.
function paintLanes(painter: Painter) {
  const { paper, layout: l, races } = painter;
  const { names, laneOf } = l.flow.index;
  const { steps } = l.flow;
  const first = l.spans ? 0 : Math.max(0, Math.floor(l.from));
  const last = l.spans ? steps.length : Math.min(steps.length, Math.ceil(l.upto));
  const lightness = isDark() ? 38 : 78;
  const drawn = new Set<number>();
  const numbers = new Map<string, number>();
  const numberOf = (name: string) => {
    let k = numbers.get(name);
    if (k === undefined) numbers.set(name, (k = numbers.size));
    return k;
  };
  let pixel = -1;
  paper.g.font = `12px ${paper.sans}`;
  for (let i = first; i < last; i++) {
    const x = xOf(l, beginOf(l, i));
    const long = widthOf(l, i);
    const w = Math.max(1, long - (long > 4 ? 1 : 0));
    if (l.spans && (x + w < NAMES || x > l.size.w)) continue;
    const found = steps[i].findings > 0;
    const raced = (races.get(steps[i].launch) ?? 0) > 0;
    if (Math.floor(x) !== pixel) {
      pixel = Math.floor(x);
      drawn.clear();
    }
    if (long < 1) {
      const named = laneOf[i] * 4096 + (numberOf(names[i]) % 4096);
      const mark = (named * 2 + Number(found)) * 2 + Number(raced);
      if (drawn.has(mark)) continue;
      drawn.add(mark);
    }
    paintStep(painter, i, { x, y: HEAD + laneOf[i] * LANE, w, long, lightness, found, raced });
  }
}
interface StepBox {
  x: number;
  y: number;
  w: number;
  long: number;
  lightness: number;
  found: boolean;
  raced: boolean;
}
function paintStep({ paper: { g, colour }, layout: l, wanted }: Painter, i: number, box: StepBox) {
  const s = l.flow.steps[i];
  const { x, y, w, long } = box;
  g.globalAlpha = wanted(i) ? 1 : 0.18;
  g.fillStyle = stepColour(s, l.flow.index.names[i], box.lightness, colour.surface);
  g.fillRect(x, y + 3, w, LANE - 6);
  if (s.kind === "launch" && !s.recorded && long > 6) {
    g.strokeStyle = colour.dim;
    g.setLineDash([3, 3]);
    g.strokeRect(x + 0.5, y + 3.5, w - 1, LANE - 7);
    g.setLineDash([]);
  }
  if (s.kind !== "launch") {
    g.strokeStyle = colour.rule;
    g.strokeRect(x + 0.5, y + 5.5, Math.max(1, w - 1), LANE - 11);
  }
  if (box.found || box.raced) {
    g.fillStyle = box.found ? colour.error : colour.race;
    const radius = Math.max(2, Math.min(4, l.spans ? 4 : l.perStep));
    troubleMark(g, [x + Math.min(w / 2, 7), y + 6], radius, !box.found);
  }
  if (long > 34) {
    const tail = s.kind === "launch" ? ` #${s.number}` : hostTail(s.id);
    g.fillStyle = colour.ink;
    const room = w - 8;
    let text = fitText(g, l.flow.index.names[i], { tail, shortest: 2, room });
    if (s.kind !== "launch" && text.startsWith("co…"))
      text = fitText(g, l.flow.index.names[i], { tail: "", shortest: 2, room });
    if (g.measureText(text).width <= w - 4) g.fillText(text, x + 5, y + LANE / 2 + 1);
  }
  g.globalAlpha = 1;
}
function stepColour(s: FlowStep, name: string, lightness: number, surface: string) {
  if (s.kind !== "launch") return surface;
  return s.recorded ? `hsl(${hue(name)} 55% ${lightness}%)` : "#9aa0aa";
}

function paintBuffers(painter: Painter) {
  const { paper, layout: l } = painter;
  const { g, colour } = paper;
  const firstRow = Math.floor(l.at / ROW);
  const lastRow = Math.min(l.rows.length, Math.ceil((l.at + l.size.h - l.lanesHigh) / ROW));
  g.save();
  g.beginPath();
  g.rect(0, l.lanesHigh, l.size.w, l.size.h - l.lanesHigh);
  g.clip();
  for (let r = firstRow; r < lastRow; r++) paintUses(painter, l.rows[r].id, middleOf(l, r));
  g.fillStyle = colour.paper;
  g.fillRect(0, l.lanesHigh, NAMES - 4, l.size.h);
  // all names, then all sizes: each change of the font takes a moment
  g.font = `12px ${paper.mono}`;
  g.fillStyle = colour.ink;
  for (let r = firstRow; r < lastRow; r++) paintBufferName(painter, r);
  g.font = `11px ${paper.sans}`;
  g.fillStyle = colour.dim;
  g.textAlign = "right";
  for (let r = firstRow; r < lastRow; r++)
    g.fillText(bytesText(l.rows[r].size), NAMES - 10, middleOf(l, r));
  g.restore();
}
const middleOf = (l: FlowLayout, row: number) => l.lanesHigh + row * ROW - l.at + ROW / 2;

// A line for the buffer's life, marks for what uses it.
function paintUses({ paper, layout: l, wanted }: Painter, id: number, y: number) {
  const { g, colour } = paper;
  const all = l.flow.index.uses.get(id) ?? [];
  g.strokeStyle = colour.rule;
  g.lineWidth = 1;
  line(g, [NAMES, y], [l.size.w, y]);
  const radius = l.spans ? 3 : Math.max(1, Math.min(4.5, l.perStep / 3));
  let lastX = -9;
  for (let k = firstUse(l, all); k < all.length && (l.spans || all[k][0] <= l.upto); k++) {
    const [i, how] = all[k];
    const x = xOf(l, beginOf(l, i)) + widthOf(l, i) / 2;
    if (Math.abs(x - lastX) < 1 && widthOf(l, i) < 1) continue;
    if (l.spans && (x < NAMES || x > l.size.w)) continue;
    lastX = x;
    g.globalAlpha = wanted(i) ? 1 : 0.18;
    useMark(paper, [x, y], radius, how);
    g.globalAlpha = 1;
  }
}
// By steps, uses are in order: the first one in sight.
function firstUse(l: FlowLayout, all: [step: number, how: number][]): number {
  if (l.spans) return 0;
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle][0] < l.from - 1) low = middle + 1;
    else high = middle;
  }
  return low;
}
function paintBufferName({ paper: { g }, layout: l }: Painter, row: number) {
  const text = bufferName(l.rows[row]);
  g.fillText(text.length > 18 ? text.slice(0, 17) + "…" : text, 12, middleOf(l, row));
}

function paintLaneNames({ paper: { g, colour, sans }, layout: l }: Painter) {
  g.fillStyle = colour.paper;
  g.fillRect(0, 0, NAMES - 4, l.lanesHigh);
  g.font = `12px ${sans}`;
  g.fillStyle = colour.dim;
  l.flow.index.lanes.forEach((lane, i) => g.fillText(lane.label, 12, HEAD + i * LANE + LANE / 2));
  g.strokeStyle = colour.rule;
  line(g, [0, l.lanesHigh - 2], [l.size.w, l.lanesHigh - 2]);
}
function paintScrollBar({ paper: { g, colour }, layout: l }: Painter) {
  if (!l.highest) return;
  const h = l.size.h - l.lanesHigh;
  const bar = Math.max(16, (h * h) / (l.rows.length * ROW));
  g.fillStyle = colour.rule;
  g.fillRect(l.size.w - 4, l.lanesHigh + ((h - bar) * l.at) / l.highest, 4, bar);
}
