// The path walked: panes from left to right. It is the address of the page, so that it can be kept,
// sent and gone back to.
import { At } from "../run/api";
import { keepTime, timeFrom, timeStep } from "../run/time";
import { keepTypes, typesFrom, typesText } from "../run/types";

export type Pane = PaneOf & { keep?: boolean }; // keep: it stays when something else is followed
type PaneOf =
  // skip: the operation it is opened at
  | { kind: "thread"; launch: number; thread: number; at?: At; finding?: number; skip?: number }
  | {
      kind: "element";
      buffer: number;
      offset: number;
      bytes: number;
      at?: { record: number; lane: number };
      step?: number;
    } // step: its last operation up to there is chosen
  | {
      kind: "memory";
      launch: number;
      space: number;
      block: number;
      thread: number;
      address: number;
      bytes: number;
      at?: { record: number; lane: number };
    } // shared memory of a block (space 1), local memory of a thread (2)
  | ({
      kind: "phase";
      launch: number;
      space: number;
      block: number;
      thread: number;
      variable: number;
      phase: number;
      // that memory as a picture, before a barrier; variable: its number among those of the kernel
    } & Look)
  | { kind: "flow" }
  | { kind: "profile"; kernel: number } // the number of a kernel in the profile
  | ({ kind: "buffer"; buffer: number; step: number; width: number } & Look)
  | { kind: "source"; file: number; line: number; launch: number; thread: number; ptx?: boolean }
  | { kind: "launch"; launch: number }
  | { kind: "finding"; finding: number }
  // a copy or a set; buffer: the element it was followed from, 0: none
  | { kind: "step"; step: number; buffer: number; offset: number; bytes: number }
  | ({ kind: "watch"; site: number; launch: number; width: number } & Look) // launch 0: the newest
  // where an operation's value came from; open: branches that are open, "r,r_0"
  | { kind: "slice"; record: number; lane: number; open?: string }
  | { kind: "runs" } // this run and the one it is compared with: launches that differ
  | ({
      kind: "twin";
      buffer: number;
      step: number;
      other: number;
      otherStep: number;
      run: number;
      width: number;
      // a buffer after two steps, or in two runs (run 1): side by side, and their difference
    } & Look)
  | {
      kind: "versus";
      launch: number;
      thread: number;
      otherLaunch: number;
      otherThread: number;
      run: number;
    } // two threads; run 1: the second is of the other run
  | { kind: "calculator"; expression: string };
// How a picture is shown; missing fields have their default.
// layout: threads in the order of their numbers (1), not at their place in the grid; depth: rows of
// a slice of 3-D data, slice: which; fixed: the scale stays when the step changes
export interface Look {
  part?: number;
  colours?: string;
  low?: number;
  high?: number;
  log?: boolean;
  by?: "writes";
  zoom?: number;
  layout?: number;
  rows?: number;
  slice?: number;
  x?: number;
  y?: number;
  minus?: number;
  ofLaunch?: number;
  firstThread?: number;
  lastThread?: number;
}
const looks: [string, keyof Look][] = [
  ["p", "part"],
  ["l", "low"],
  ["h", "high"],
  ["z", "zoom"],
  ["t", "layout"],
  ["r", "rows"],
  ["s", "slice"],
  ["x", "x"],
  ["y", "y"],
  ["m", "minus"],
  ["u", "ofLaunch"],
  ["v", "firstThread"],
  ["w", "lastThread"],
];
function lookText(p: Look): string {
  const out = looks
    .filter(
      ([, k]) =>
        p[k] !== undefined &&
        !(k === "zoom" && !p.zoom) &&
        !(k === "part" && !p.part) &&
        !(
          (k === "x" ||
            k === "y" ||
            k === "slice" ||
            k === "layout" ||
            k === "rows" ||
            k === "minus") &&
          !p[k]
        ),
    )
    .map(([c, k]) => `${c}${p[k]}`);
  if (p.colours) out.push(`c${p.colours}`);
  if (p.log) out.push("log");
  if (p.by) out.push(p.by);
  return out.length ? `~${out.join(",")}` : "";
}
function lookFrom(text: string | undefined): Look {
  const out: Look = {};
  for (const part of (text ?? "").split(",")) {
    const k = looks.find(
      ([c]) => part.startsWith(c) && /^-?[\d.]+(e[-+]?\d+)?$/.test(part.slice(1)),
    );
    if (part === "log") out.log = true;
    else if (part === "writes") out.by = part;
    else if (/^c[a-z-]+$/.test(part)) out.colours = part.slice(1);
    else if (k && Number.isFinite(Number(part.slice(1))))
      (out as any)[k[1]] = Number(part.slice(1));
  }
  if (out.part !== undefined) out.part = Math.max(0, Math.floor(out.part));
  if (out.zoom !== undefined) out.zoom = Math.max(-16, Math.min(16, Math.round(out.zoom * 4) / 4));
  return out;
}

const placeText = (p: { launch: number; space: number; block: number; thread: number }) =>
  `${p.launch}.${p.space}.${p.block}.${p.thread}`;
const atText = (at: At) =>
  !at ? "" : "record" in at ? `@${at.record}.${at.lane}` : `@${at.address}${at.write ? "w" : ""}`;
function atFrom(text: string | undefined): At {
  if (!text) return undefined;
  const m = /^(\d+)\.(\d+)$/.exec(text);
  const a = /^(0x[0-9a-f]{1,16})(w?)$/.exec(text);
  return m
    ? { record: Number(m[1]), lane: Number(m[2]) }
    : a
      ? { address: a[1], write: a[2] === "w" }
      : undefined;
}

export const paneText = (p: Pane) => textOf(p) + (p.keep ? "^" : "");
function textOf(p: Pane): string {
  switch (p.kind) {
    case "thread":
      return (
        `t:${p.launch}.${p.thread}${p.skip ? `.${p.skip}` : ""}${atText(p.at)}` +
        (p.finding ? `!${p.finding}` : "")
      );
    case "element":
      return `e:${p.buffer}.${p.offset}.${p.bytes}${p.step ? `.${p.step}` : ""}${atText(p.at)}`;
    case "memory":
      return `m:${placeText(p)}.${p.address}.${p.bytes}${atText(p.at)}`;
    case "phase":
      return `p:${placeText(p)}.${p.variable}.${p.phase}${lookText(p)}`;
    case "flow":
      return "o:0";
    case "runs":
      return "r:0";
    case "slice":
      return `x:${p.record}.${p.lane}${p.open ? `~${p.open}` : ""}`;
    case "twin":
      return `d:${p.buffer}.${p.step}.${p.other}.${p.otherStep}.${p.run}.${p.width}${lookText(p)}`;
    case "versus":
      return `v:${p.launch}.${p.thread}.${p.otherLaunch}.${p.otherThread}.${p.run}`;
    case "profile":
      return `k:${p.kernel}`;
    case "buffer":
      return `b:${p.buffer}.${p.step}.${p.width}${lookText(p)}`;
    case "source":
      return `s:${p.file}.${p.line}.${p.launch}.${p.thread}${p.ptx ? ".1" : ""}`;
    case "launch":
      return `l:${p.launch}`;
    case "finding":
      return `f:${p.finding}`;
    case "watch":
      return `w:${p.site}.${p.launch}.${p.width}${lookText(p)}`;
    case "step":
      return `h:${p.step}${p.buffer ? `.${p.buffer}.${p.offset}.${p.bytes}` : ""}`;
    case "calculator":
      return `c:${encodeURIComponent(p.expression)}`;
  }
}

// A pane's text, parsed: numbers, @ operation, ! finding, ~ rest.
interface PaneParts {
  n: number[];
  at: At;
  finding?: number;
  rest?: string;
}
const operationOf = ({ at }: PaneParts) => (at && "record" in at ? at : undefined);
const memoryOf = (n: number[]) => ({ launch: n[0], space: n[1], block: n[2], thread: n[3] });

// By the letter of a pane: how many numbers its text may have (none: any), and the pane.
const readers: Record<string, [counts: number[], read: (p: PaneParts) => Pane | undefined]> = {
  t: [
    [2, 3],
    ({ n, at, finding }) => ({
      kind: "thread",
      launch: n[0],
      thread: n[1],
      at,
      finding,
      skip: n[2],
    }),
  ],
  e: [
    [3, 4],
    (p) => {
      const [buffer, offset, bytes, step] = p.n;
      return bytes
        ? { kind: "element", buffer, offset, bytes, at: operationOf(p), step }
        : undefined;
    },
  ],
  m: [
    [6],
    (p) => {
      const [, , , , address, bytes] = p.n;
      return bytes
        ? { kind: "memory", ...memoryOf(p.n), address, bytes, at: operationOf(p) }
        : undefined;
    },
  ],
  p: [
    [6],
    ({ n, rest }) => ({
      kind: "phase",
      ...memoryOf(n),
      variable: n[4],
      phase: n[5],
      ...lookFrom(rest),
    }),
  ],
  o: [[], () => ({ kind: "flow" })],
  r: [[], () => ({ kind: "runs" })],
  x: [
    [2],
    ({ n, rest }) => {
      const open = rest && /^[r\d_,-]*$/.test(rest) ? rest : undefined;
      return { kind: "slice", record: n[0], lane: n[1], open };
    },
  ],
  d: [
    [6],
    ({ n: [buffer, step, other, otherStep, run, width], rest }) => ({
      kind: "twin",
      buffer,
      step,
      other,
      otherStep,
      run: run ? 1 : 0,
      width,
      ...lookFrom(rest),
    }),
  ],
  v: [
    [5],
    ({ n: [launch, thread, otherLaunch, otherThread, run] }) => ({
      kind: "versus",
      launch,
      thread,
      otherLaunch,
      otherThread,
      run: run ? 1 : 0,
    }),
  ],
  k: [[1], ({ n }) => ({ kind: "profile", kernel: n[0] })],
  b: [
    [3],
    ({ n: [buffer, step, width], rest }) => ({
      kind: "buffer",
      buffer,
      step,
      width,
      ...lookFrom(rest),
    }),
  ],
  s: [
    [4, 5],
    ({ n: [file, line, launch, thread, ptx] }) => ({
      kind: "source",
      file,
      line,
      launch,
      thread,
      ptx: ptx === 1,
    }),
  ],
  l: [[1], ({ n }) => ({ kind: "launch", launch: n[0] })],
  w: [
    [3],
    ({ n: [site, launch, width], rest }) => ({
      kind: "watch",
      site,
      launch,
      width,
      ...lookFrom(rest),
    }),
  ],
  h: [
    [1, 4],
    ({ n: [step, buffer = 0, offset = 0, bytes = 0] }) => ({
      kind: "step",
      step,
      buffer,
      offset,
      bytes,
    }),
  ],
  f: [[1], ({ n }) => ({ kind: "finding", finding: n[0] })],
};

export function paneFrom(text: string): Pane | undefined {
  if (text.endsWith("^")) {
    const p = paneFrom(text.slice(0, -1));
    return p && { ...p, keep: true };
  }
  if (text.startsWith("c:")) {
    try {
      return { kind: "calculator", expression: decodeURIComponent(text.slice(2)) };
    } catch {
      return undefined;
    }
  }
  const m = /^([a-z]):([^@!~]*)(?:@([^!~]*))?(?:!(\d+))?(?:~(.*))?$/.exec(text);
  if (!m) return undefined;
  const n = m[2].split(".").map(Number);
  if (n.some((v) => !Number.isSafeInteger(v) || v < 0)) return undefined;
  const reader = readers[m[1]];
  if (!reader || (reader[0].length && !reader[0].includes(n.length))) return undefined;
  return reader[1]({
    n,
    at: atFrom(m[3]),
    finding: m[4] ? Number(m[4]) : undefined,
    rest: m[5],
  });
}

export const trailText = (panes: Pane[]) =>
  "#/" +
  [
    ...panes.map(paneText),
    ...(timeStep() ? [`k:${timeStep()}`] : []),
    ...(typesText() ? [`y:${typesText()}`] : []),
  ].join("/");
export function trailFrom(hash: string): Pane[] {
  const panes: Pane[] = [];
  const plain = (s: string) => {
    try {
      return decodeURIComponent(s);
    } catch {
      return "";
    }
  };
  let types = "";
  let time = 0;
  for (const part of hash.replace(/^#\/?/, "").split("/")) {
    if (/^k:\d+$/.test(part)) {
      time = Number(part.slice(2));
      continue;
    }
    if (part.startsWith("y:")) {
      types = plain(part.slice(2));
      continue;
    }
    const p = part && paneFrom(part.startsWith("c:") ? part : plain(part));
    if (p && p.kind === "buffer" && p.step && !time) time = p.step;
    if (p) panes.push(p);
  }
  typesFrom(types);
  timeFrom(time);
  return panes;
}

// --- the trail of this page ---
let panes: Pane[] = [];
let active = 0;
const listeners = new Set<() => void>();
export const trail = () => panes;
export const activePane = () => Math.min(active, panes.length - 1);
export function onTrail(f: () => void) {
  listeners.add(f);
  return () => {
    listeners.delete(f);
  };
}
const say = () => listeners.forEach((f) => f());

function show(next: Pane[], at: number, keep: boolean) {
  panes = next;
  active = Math.max(0, Math.min(at, next.length - 1));
  const text = trailText(panes);
  if (text !== location.hash) history[keep ? "pushState" : "replaceState"](null, "", text);
  say();
}
keepTime(() => history.replaceState(null, "", trailText(panes)));
keepTypes(() => history.replaceState(null, "", trailText(panes)));
// Opens a new pane to the right of pane `from` and closes the panes that were there, except kept
// ones.
export const follow = (from: number, to: Pane) =>
  show(
    [...panes.slice(0, from + 1), to, ...panes.slice(from + 1).filter((p) => p.keep)],
    from + 1,
    true,
  );
export const start = (p: Pane) => show([p, ...panes.filter((x) => x.keep)], 0, true);
export const keepPane = (index: number) =>
  replace(index, { ...panes[index], keep: panes[index].keep ? undefined : true }, false);
export function move(index: number, by: number) {
  const to = index + by;
  const next = [...panes];
  if (to < 0 || to >= next.length) return;
  [next[index], next[to]] = [next[to], next[index]];
  show(next, to, false);
}
export const replace = (index: number, p: Pane, keep = true) =>
  show(
    panes.map((o, i) => (i === index ? p : o)),
    index,
    keep,
  );
export const close = (index: number) =>
  show(
    panes.filter((_, i) => i !== index),
    index - 1,
    true,
  );
export const cut = (index: number) => show(panes.slice(0, index + 1), index, true);
export function activate(index: number) {
  if (index !== active && index >= 0 && index < panes.length) {
    active = index;
    say();
  }
}
export function fromAddress() {
  panes = trailFrom(location.hash);
  active = panes.length - 1;
  say();
}
