// Questions to the server and what is known from its answers. Facts (sites, launches, buffers) come
// along with operations and are kept.
import { staticAnswer, staticBytes } from "./static";

export const enum Kind {
  Load,
  Store,
  Atomic,
  Sync,
  Value,
  Copy,
  Set,
}

export interface Op {
  record: number;
  lane: number;
  kind: Kind;
  step: number;
  launch: number;
  thread: number;
  site: number;
  bytes: number;
  address: string | null;
  value: string | null;
  old: string | null;
  replayed: boolean;
  race: boolean;
  refused: boolean;
  space: number;
  buffer: number;
  offset: number;
}
export interface Site {
  id: number;
  text?: string;
  ptx_line?: number;
  space?: string;
  bytes?: number;
  ptx?: string;
  vector?: number;
  type?: string;
  function?: string;
  object?: string;
  main?: number;
  places: [file: number, line: number, column: number, function: string][];
}
export interface Launch {
  id: number;
  number: number;
  name: string;
  readable?: string;
  grid: number[];
  block: number[];
  process: number;
  device: number;
  findings: number;
  step: number;
  kernel: number;
  shared?: number; // bytes of dynamic shared memory
}
// given: the parameter that first passed it to a kernel; type, type_id: of its elements, why: the
// source of the type; dims: of a variable
export interface Buffer {
  id: number;
  name?: string;
  kind?: string;
  base: string;
  size: number;
  freed: boolean;
  process: number;
  type?: string;
  type_id?: number;
  why?: string;
  dims?: string;
  given?: string;
  own?: boolean;
}
export interface Step {
  number?: number;
  kind?: string;
  call?: string;
  direction?: string;
  bytes?: number;
}
export interface Finding {
  id: number;
  kind: string;
  severity: string;
  headline: string;
  launch: number;
  launch_number: number;
  site: number;
  kernel?: string;
  address?: string;
  size: number;
  allocation: number;
  offset: number;
  count: number;
  thread?: number;
  lanes?: number;
}
export interface RunInfo {
  file: string;
  version: string;
  meta: Record<string, string>;
  launches: number;
  steps: number;
  buffers: number;
  findings: number;
  recorded: boolean;
  operations?: number;
  not_recorded?: string;
  live?: boolean;
}
export interface FlowStep {
  id: number;
  number: number;
  kind: string;
  launch: number;
  kernel: number;
  blocks: number;
  threads: number;
  findings: number;
  recorded: boolean;
  stream: number;
  call: string;
  bytes: number;
  uses: [buffer: number, how: number][];
  ns: number;
  device: number;
  asked: number;
  began: number;
  process: number;
}
export interface Watch {
  site: number;
  type: string;
  watched: boolean;
  path?: string;
  file: number;
  line: number;
  function?: string;
  launches: [id: number, number: number, threads: number][];
} // the newest first
export interface Page {
  ops: Op[];
  skip: number;
  more: boolean;
  total?: number;
  index?: number;
  followed?: Op;
} // followed: it was not found among the first million
export interface Source {
  path: string;
  whole?: string;
  text?: string;
  missing?: string;
  warning?: string;
  kept?: boolean;
  lines: [line: number, sites: number, findings: number][];
}
export interface StepInfo {
  id: number;
  number: number;
  kind: string;
  call?: string;
  direction?: string;
  stream: number;
  device: number;
  recorded: number;
  to: string;
  from: string;
  to_buffer: number;
  from_buffer: number;
  width: number;
  height: number;
  depth: number;
  to_pitch: number;
  to_rows: number;
  from_pitch: number;
  from_rows: number;
  value: number;
  value_bytes: number;
  stack: [string, string, number, boolean][];
}
export interface LaunchInfo {
  launch: Launch;
  time_ns: number;
  begin_ns?: number;
  end_ns?: number;
  stream: string;
  shared: number;
  stack: [string, string, number, boolean][];
  parameters: {
    number: number;
    name?: string;
    bytes: number;
    value?: string;
    allocation: number;
    points_to?: string;
    type?: string;
    type_id?: number;
  }[];
}

export const sites = new Map<number, Site>();
export const launches = new Map<number, Launch>();
export const buffers = new Map<number, Buffer>();
export const steps = new Map<number, Step>();

// --- what is under way, for the line at the top ---
let pending = 0;
const watchers = new Set<() => void>();
export const isWaiting = () => pending > 0;
export function onWaiting(f: () => void) {
  watchers.add(f);
  return () => {
    watchers.delete(f);
  };
}
function count(by: number) {
  pending += by;
  watchers.forEach((f) => f());
}

export class ApiError extends Error {}

// A page that was written by --static has its answers in files beside it.
export const isStatic = () => !!window.warpgrindIsStatic;

function address(name: string, parameters: Record<string, string | number | undefined>) {
  const q = Object.entries(parameters)
    .filter(([, v]) => v !== undefined)
    .map(([k, v]) => `${k}=${encodeURIComponent(String(v))}`)
    .join("&");
  // other/: of the run that this one is compared with
  const path = name.startsWith("other/") ? `other/api/${name.slice(6)}` : `api/${name}`;
  return q ? `${path}?${q}` : path;
}

async function fetchAnswer(path: string): Promise<Response> {
  let r: Response;
  try {
    r = await fetch(path);
  } catch {
    throw new ApiError("the server does not answer any more: start warpgrind view again");
  }
  if (r.ok) return r;
  let text = await r.text();
  try {
    text = JSON.parse(text).error ?? text;
  } catch {
    /* as it is */
  }
  throw new ApiError(text);
}

const answers = new Map<string, Promise<any>>();
export function ask<T>(
  name: string,
  parameters: Record<string, string | number | undefined> = {},
): Promise<T> {
  const path = address(name, parameters);
  const known = answers.get(path);
  if (known) return known;
  count(1);
  const answer = (async () => {
    const json = isStatic()
      ? await staticAnswer(name, parameters)
      : await (await fetchAnswer(path)).json();
    if (json.error && isStatic()) throw new ApiError(json.error);
    if (!name.startsWith("other/")) learn(json);
    return json;
  })().finally(() => count(-1));
  if (answers.size > 3000) answers.delete(answers.keys().next().value!);
  answers.set(path, answer);
  answer.catch(() => answers.delete(path));
  return answer;
}

// While the program runs, answers change: drops the kept ones, so that they are asked for again.
export const forgetAnswers = () => answers.clear();

export async function askBytes(
  name: string,
  parameters: Record<string, string | number | undefined>,
): Promise<ArrayBuffer> {
  const path = address(name, parameters);
  count(1);
  try {
    return isStatic()
      ? await staticBytes(name, parameters)
      : await (await fetchAnswer(path)).arrayBuffer();
  } finally {
    count(-1);
  }
}

function learn(json: any) {
  for (const [to, from] of [
    [sites, json.sites],
    [launches, json.launches],
    [buffers, json.allocations],
    [steps, json.steps],
  ] as [Map<number, any>, any][])
    if (from && !Array.isArray(from))
      for (const id in from) if (from[id]) to.set(Number(id), from[id]);
}

export function op(a: any[]): Op {
  return {
    record: a[0],
    lane: a[1],
    kind: a[2],
    step: a[3],
    launch: a[4],
    thread: a[5],
    site: a[6],
    bytes: a[7],
    address: a[8],
    value: a[9],
    old: a[10],
    replayed: (a[11] & 1) !== 0,
    race: (a[11] & 8) !== 0,
    refused: (a[11] & 16) !== 0,
    space: (a[11] >> 1) & 3,
    buffer: a[12],
    offset: a[13],
  };
}
export const key = (o: { record: number; lane: number }) => `${o.record}.${o.lane}`;
// A compare-and-swap after which memory still holds the old value.
export const leavesMemory = (o: Op) =>
  o.kind === Kind.Atomic &&
  o.old !== null &&
  o.old === o.value &&
  /\.cas\b/.test(sites.get(o.site)?.text ?? "");
// In a copy, lane 0 is the write and lane 1 the read.
export const writes = (o: Op) =>
  o.kind === Kind.Store ||
  (o.kind === Kind.Atomic && !leavesMemory(o)) ||
  o.kind === Kind.Set ||
  (o.kind === Kind.Copy && o.lane === 0);

const page = (j: any): Page => ({
  ops: j.ops.map(op),
  skip: j.skip ?? 0,
  more: j.more,
  total: j.total,
  index: j.index,
  followed: j.followed && op(j.followed),
});
export const PAGE = 200;
export type At = { record: number; lane: number } | { address: string; write: boolean } | undefined;
const where = (at: At | { step: number; write?: boolean }) =>
  !at
    ? {}
    : "step" in at
      ? { step: at.step, write: at.write ? 1 : undefined }
      : "record" in at
        ? { record: at.record, lane: at.lane }
        : { address: at.address, write: at.write ? 1 : 0 };

// code: the site of the instruction that is meant, where several touch the address
export async function ofThread(
  launch: number,
  thread: number,
  skip: number,
  at?: At,
  code?: number,
) {
  return page(
    await ask("thread", {
      launch,
      thread,
      skip: at ? undefined : skip,
      most: PAGE,
      ...where(at),
      code: at && "address" in at && !isStatic() ? code : undefined,
    }),
  );
}
export async function ofElement(
  buffer: number,
  at: string,
  bytes: number,
  skip: number,
  focus?: At | { step: number; write?: boolean },
) {
  return page(
    await ask("element", {
      allocation: buffer,
      address: at,
      bytes,
      skip: focus ? undefined : skip,
      most: PAGE,
      ...where(focus),
    }),
  );
}
// Operations of a thread that fit, with their numbers; all: how many it has.
export interface ThreadSearch {
  kinds?: number;
  line?: number;
  file?: number;
  allocation?: number;
}
export async function searchThread(
  launch: number,
  thread: number,
  what: ThreadSearch,
  skip: number,
) {
  const j = await ask<any>("thread_search", { launch, thread, ...what, skip, most: PAGE });
  return { ...page(j), numbers: j.numbers as number[], all: j.all as number };
}
// Shared memory of a block (space 1), local memory of a thread (2); phases: barriers of the block
// before each operation.
export interface Private {
  launch: number;
  space: number;
  block: number;
  thread: number;
  address: number;
  bytes: number;
}
export interface PrivatePage extends Page {
  phases: number[];
}
export async function ofPrivate(of: Private, skip: number, focus?: At): Promise<PrivatePage> {
  const j = await ask<any>("private", {
    launch: of.launch,
    space: of.space,
    block: of.block,
    thread: of.thread,
    address: of.address,
    bytes: of.bytes,
    skip: focus ? undefined : skip,
    most: PAGE,
    ...where(focus),
  });
  return { ...page(j), phases: j.phases };
}
// Operations that a finding is about. known false: the recording cannot tell; stopped: there may be
// more
export async function occurrencesOf(
  finding: number,
  skip: number,
): Promise<{ ops: Op[]; more: boolean; known: boolean; stopped: boolean }> {
  const j = await ask<any>("occurrences", { finding, skip, most: PAGE });
  return { ops: j.ops.map(op), more: j.more, known: j.known, stopped: j.stopped };
}
export async function readersOf(o: {
  record: number;
  lane: number;
}): Promise<{ ops: Op[]; more: boolean; some?: boolean }> {
  const j = await ask<any>("readers", { record: o.record, lane: o.lane, most: 50 });
  return { ops: j.ops.map(op), more: j.more, some: j.some };
}
// some: there are very many operations, and only those recorded near the read were searched
export interface Writers {
  ops: Op[];
  ambiguous: boolean;
  never_written: boolean;
  some?: boolean;
  why?: string;
}
export async function writersOf(
  o: { record: number; lane: number },
  all = false,
): Promise<Writers> {
  const j = await ask<any>("writers", { record: o.record, lane: o.lane, all: all ? 1 : undefined });
  return {
    ops: j.ops.map(op),
    ambiguous: j.ambiguous,
    never_written: j.never_written,
    some: j.some,
    why: j.why,
  };
}
export async function conflictsOf(
  launch: number,
  thread: number,
  skip: number,
): Promise<Map<number, Op[]>> {
  const j = await ask<any>("conflicts", { launch, thread, skip, most: PAGE });
  return new Map(j.of.map(([i, list]: [number, any[][]]) => [skip + i, list.map(op)]));
}
// kind: as racecheck calls it; note: facts that the file lacks
export interface Races {
  list: { first: Op; second: Op; count: number; kind: string }[];
  note?: string;
}
export async function racesOf(launch: number): Promise<Races> {
  const j = await ask<any>("races", { launch });
  return {
    list: j.races.map((r: any[]) => ({
      first: op(r[0]),
      second: op(r[1]),
      count: r[2],
      kind: r[3] ?? "",
    })),
    note: j.note,
  };
}
export const flowStep = (a: any[]): FlowStep => ({
  id: a[0],
  number: a[1],
  kind: a[2],
  launch: a[3],
  kernel: a[4],
  blocks: a[5],
  threads: a[6],
  findings: a[7],
  recorded: a[8] >= 1,
  stream: a[9],
  call: a[10],
  bytes: a[11],
  uses: a[12],
  ns: a[13] ?? 0,
  device: a[14] ?? 0,
  asked: a[15] ?? 0,
  began: a[16] ?? 0,
  process: a[17] ?? 0,
});
