// Draws the small flow chart: a line for each buffer, a row for each step with marks where it uses
// one.
import { FlowStep } from "../run/api";
import { Paper, Size, fitText, line, paperOf, troubleMark, useMark } from "../parts/canvas";
import { ChartColumns, LABEL, LETTER } from "./flowchartlayout";
import { Flow, stepLabel } from "./flowstep";
import { hostTail } from "../run/time";

// lane -1 is the step itself
export interface ChartCursor {
  step: number;
  lane: number;
}
// at, row, highest: of ChartView; hot: where the mouse is
export interface ChartScene {
  flow: Flow;
  columns: ChartColumns;
  size: Size;
  at: number;
  row: number;
  highest: number;
  current: number;
  currentBuffer: number;
  hot: { x: number; y: number } | undefined;
  cursor: ChartCursor | undefined;
  races: Map<number, number>;
}
interface Painter extends ChartScene {
  paper: Paper;
  mark: number; // radius
  isNew(mark: number): boolean;
}
interface Row {
  s: FlowStep;
  i: number;
  y: number;
  middle: number;
  here: boolean;
}

export function paintChart(canvas: HTMLCanvasElement, scene: ChartScene) {
  const { row, at, size, flow, columns } = scene;
  const { head } = columns;
  const drawn = new Set<number>();
  const painter: Painter = {
    ...scene,
    paper: paperOf(canvas, size),
    mark: Math.max(1, Math.min(4.5, row / 3.2)),
    isNew: (mark) => row >= 1 || (!drawn.has(mark) && !!drawn.add(mark)),
  };
  paintLives(painter);
  // Rows thinner than a pixel share one: each mark is drawn once there, and findings must still be
  // seen.
  let pixel = -1;
  const first = Math.max(0, Math.floor(at / row));
  const last = Math.min(flow.steps.length, Math.ceil((at + size.h - head) / row));
  for (let i = first; i < last; i++) {
    const s = flow.steps[i];
    const y = head + i * row - at;
    if (row < 1 && Math.floor(y) !== pixel) {
      pixel = Math.floor(y);
      drawn.clear();
    }
    paintRow(painter, { s, i, y, middle: y + row / 2, here: s.id === scene.current });
  }
  paintNames(painter);
  paintScrollBar(painter);
}

function paintLives({ paper: { g, colour }, ...scene }: Painter) {
  const { columns, size, flow, row, at, currentBuffer } = scene;
  const { laneX, head } = columns;
  for (const [b, x] of laneX) {
    g.strokeStyle = b === currentBuffer ? colour.accent : colour.rule;
    g.lineWidth = b === currentBuffer ? 1.5 : 1;
    line(g, [x, head], [x, head + Math.min(size.h - head, flow.steps.length * row - at)]);
  }
}

function paintRow(painter: Painter, r: Row) {
  const { row, races, isNew } = painter;
  const { g, colour } = painter.paper;
  paintBehind(painter, r);
  if (row >= 8) paintJoins(painter, r);
  paintMarks(painter, r);
  if (row >= 12) paintLabel(painter, r);
  if (painter.cursor?.step === r.i) paintCursor(painter, painter.cursor, r);
  if ((r.s.findings || races.get(r.s.launch)) && isNew(r.s.findings ? -1 : -2)) {
    g.fillStyle = r.s.findings ? colour.error : colour.race;
    troubleMark(g, [11, r.middle], Math.max(2, Math.min(4, row / 3)), !r.s.findings);
  }
}

// The background of the current step, of the cursor's, and of the one under the mouse.
function paintBehind({ paper: { g, colour }, row, size, hot, cursor }: Painter, r: Row) {
  if (r.here) {
    g.fillStyle = colour.soft;
    g.fillRect(0, r.y, size.w, Math.max(row, 2));
    g.fillStyle = colour.accent;
    g.fillRect(0, r.y, 3, Math.max(row, 2));
  } else if (cursor?.step === r.i) {
    g.fillStyle = colour.surface;
    g.fillRect(0, r.y, size.w, Math.max(row, 2));
  } else if (hot && hot.y >= r.y && hot.y < r.y + row) {
    g.fillStyle = colour.surface;
    g.fillRect(0, r.y, size.w, row);
  }
}

// Lines from the step's name to its marks.
function paintJoins({ paper: { g, colour }, columns }: Painter, r: Row) {
  let from = LABEL - 6;
  for (const [buffer] of r.s.uses) {
    const x = columns.laneX.get(buffer);
    if (x === undefined) continue;
    g.strokeStyle = r.here ? colour.accent : colour.rule;
    g.lineWidth = 1;
    line(g, [from, r.middle], [x, r.middle]);
    from = Math.min(from, x);
  }
}

function paintMarks({ paper, columns, mark, isNew }: Painter, r: Row) {
  for (const [buffer, how] of r.s.uses) {
    const x = columns.laneX.get(buffer);
    if (x === undefined || !isNew(4 * buffer + how)) continue;
    useMark(paper, [x, r.middle], mark, how);
  }
}

function paintLabel({ paper: { g, colour, sans }, flow }: Painter, { s, middle, here }: Row) {
  g.font = `${here ? "600 " : ""}12px ${sans}`;
  g.fillStyle = s.kind === "launch" && s.recorded ? colour.ink : colour.dim;
  const tail = s.kind === "launch" ? ` #${s.number}` : hostTail(s.id);
  const text = fitText(g, stepLabel(flow, s), { tail, shortest: 3, room: LABEL - 30 });
  g.fillText(text, 20, middle);
  if (s.kind === "launch" && !s.recorded) {
    const end = Math.min(LABEL - 12, 20 + g.measureText(text).width);
    g.strokeStyle = colour.dim;
    g.setLineDash([2, 3]);
    line(g, [20, middle + 7], [end, middle + 7]);
    g.setLineDash([]);
  }
}

function paintCursor(painter: Painter, cursor: ChartCursor, r: Row) {
  const { g, colour } = painter.paper;
  const { lanes, laneX } = painter.columns;
  g.strokeStyle = colour.accent;
  g.lineWidth = 1.5;
  const x = cursor.lane >= 0 ? laneX.get(lanes[cursor.lane]) : undefined;
  if (x !== undefined) {
    g.beginPath();
    g.arc(x, r.middle, painter.mark + 3, 0, 7);
    g.stroke();
  } else g.strokeRect(1, r.y + 1, LABEL - 12, Math.max(painter.row - 2, 2));
}

// The names of buffers, above their lines.
function paintNames({ paper: { g, colour, mono }, columns, size, currentBuffer }: Painter) {
  const { laneX, names, aslant, apart, head } = columns;
  g.fillStyle = colour.paper;
  g.fillRect(0, 0, size.w, head);
  g.font = `11px ${mono}`;
  for (const [b, x] of laneX) {
    const name = names.get(b) ?? "";
    const fits = aslant ? 14 : Math.max(1, Math.floor(apart / LETTER));
    const text = name.length > fits ? name.slice(0, fits - 1) + "…" : name;
    g.fillStyle = b === currentBuffer ? colour.accent : colour.dim;
    g.textAlign = aslant ? "left" : "center";
    g.save();
    g.translate(x, aslant ? head - 8 : head / 2);
    if (aslant) g.rotate(-Math.PI / 3);
    g.fillText(text, 0, 0);
    g.restore();
    g.textAlign = "left";
  }
}

// The scroll bar: the visible part of all rows.
function paintScrollBar({ paper: { g, colour }, ...scene }: Painter) {
  const { flow, row, at, highest, size, columns } = scene;
  const h = size.h - columns.head;
  if (flow.steps.length * row <= h) return;
  const bar = Math.max(16, (h * h) / (flow.steps.length * row));
  g.fillStyle = colour.rule;
  g.fillRect(size.w - 3, columns.head + (h - bar) * (highest ? at / highest : 0), 3, bar);
}
