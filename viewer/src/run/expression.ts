// Names in expressions: recorded values (a[4013], p[301].vel.z, counter, rows[3][5]) and a kernel's
// names for them (in[3], view.data[7]).
// They become constants of the same type and bits before the server calculates.
import { Buffer, LaunchInfo, ask, askBytes, buffers } from "./api";
import { bufferAt, bufferName, bytesOf, partsText } from "./format";
import { parameterType } from "../parts/parameters";
import { allSteps, timeStep } from "./time";
import { activePane, trail } from "../parts/trail";
import { Leaf, Scalar, Type, bufferType, leafAt, leaves } from "./types";

// leaf: the scalar at the place; without it the whole element
export interface Place {
  buffer: number;
  offset: number;
  bytes: number;
  leaf?: Leaf;
  name: string;
}
export interface Known {
  scalar: Scalar;
  bits: bigint;
  text: string;
}
type Step = { index: number } | { field: string };

const PATH = /^(?:\[\d+\]|\.\w+|->\w+)*$/;
// Matches names in a longer text. "y-2[7]" and "r[i#4][7]" are names too: they distinguish several
// buffers that one line allocated.
export const NAMES =
  /[A-Za-z_]\w*(?:\[[A-Za-z_]\w*(?:#\d+)?\])?(?:-\d+(?=\[|->))?(?:\[\d+\]|\.[A-Za-z_]\w*|->\w+)*/g;
function path(text: string): Step[] {
  return [...text.matchAll(/\[(\d+)\]|\.(\w+)|->(\w+)/g)].flatMap((m): Step[] =>
    m[1] !== undefined
      ? [{ index: Number(m[1]) }]
      : m[2]
        ? [{ field: m[2] }]
        : [{ index: 0 }, { field: m[3] }],
  );
}
const pathText = (steps: Step[]) =>
  steps.map((s) => ("index" in s ? `[${s.index}]` : `.${s.field}`)).join("");

// The longest beginning of a path that leads to a scalar of the type, and what is left of it.
function within(t: Type, steps: Step[]): { leaf: Leaf; rest: Step[] } | undefined {
  const all = leaves(t, 4096);
  for (let n = steps.length; n >= 0; n--) {
    const text = pathText(steps.slice(0, n)),
      leaf = all.find((l) => l.path === text);
    if (leaf) return { leaf, rest: steps.slice(n) };
  }
  return undefined;
}
// Elements of a buffer from an offset on: [3], [3].vel.z, and through pointers that it holds.
async function walk(
  b: Buffer,
  from: number,
  steps: Step[],
  name: string,
): Promise<Place | undefined> {
  const t = bufferType(b.id),
    dims = (b.dims ?? "")
      .split(",")
      .map(Number)
      .filter((n) => n > 0);
  if (!t.known) {
    const i = steps[0];
    return steps.length === 1 && "index" in i && from + (i.index + 1) * t.bytes <= b.size
      ? { buffer: b.id, offset: from + i.index * t.bytes, bytes: t.bytes, name }
      : undefined;
  }
  let element = 0,
    used = 0;
  if (!from && dims.length > 1) {
    if (steps.length < dims.length) return undefined;
    for (; used < dims.length; used++) {
      const s = steps[used];
      if (!("index" in s)) return undefined;
      element = element * dims[used] + s.index;
    }
  } else if (steps.length && "index" in steps[0]) {
    element = steps[0].index;
    used = 1;
  }
  const rest = steps.slice(used),
    start = from + element * t.bytes;
  if (start + t.bytes > b.size) return undefined;
  const found = within(t, rest);
  if (!found)
    return rest.length
      ? undefined
      : {
          buffer: b.id,
          offset: start,
          bytes: t.bytes,
          leaf: t.parts.length === 1 ? leafAt(t, 0) : undefined,
          name,
        };
  const place: Place = {
    buffer: b.id,
    offset: start + found.leaf.offset,
    bytes: found.leaf.bytes,
    leaf: found.leaf,
    name,
  };
  if (!found.rest.length) return place;
  if (found.leaf.scalar !== "ptr" || !("index" in found.rest[0])) return undefined;
  const pointer = await recordedValue(place),
    to = pointer && bufferAt(pointer.bits);
  return to && walk(to, Number(pointer.bits - BigInt(to.base)), found.rest, name);
}

// The launch whose names count: that of the active pane, else of the nearest pane to its left that
// has one.
function launchHere(): number {
  const panes = trail();
  for (let i = activePane(); i >= 0; i--) {
    const p = panes[i];
    if (p && "launch" in p && p.launch) return p.launch;
  }
  return 0;
}
type Parameter = LaunchInfo["parameters"][number];
async function parameter(name: string): Promise<Parameter | undefined> {
  const here = launchHere(),
    asked = (id: number) =>
      ask<LaunchInfo>("launch", { id }).then(
        (i) => i.parameters.find((p) => p.name === name),
        () => undefined,
      );
  const known = here ? await asked(here) : undefined;
  if (known) return known;
  // Of other kernels: the first launch of each, until one has such a parameter.
  const seen = new Set<number>();
  for (const s of allSteps) {
    if (s.kind !== "launch" || !s.launch || seen.has(s.kernel)) continue;
    if (seen.size === 40) break;
    seen.add(s.kernel);
    const p = await asked(s.launch);
    if (p) return p;
  }
  return undefined;
}
const bitsOf = (hex: string) => {
  let bits = 0n;
  for (let i = hex.length; i > 0; i -= 2) bits = (bits << 8n) | BigInt(`0x${hex.slice(i - 2, i)}`);
  return bits;
};
async function ofParameter(
  p: Parameter,
  steps: Step[],
  name: string,
): Promise<Place | Known | undefined> {
  const t = parameterType(p),
    hex = (p.value ?? "").toLowerCase();
  if (!hex || !/^([0-9a-f]{2})+$/.test(hex)) return undefined;
  const found = t?.known && t.bytes === p.bytes ? within(t, steps) : undefined,
    pointer = found ? found.leaf.scalar === "ptr" : p.allocation > 0,
    from = found?.leaf.offset ?? 0,
    rest = found?.rest ?? steps;
  const piece = hex.slice(2 * from, 2 * (from + (found?.leaf.bytes ?? p.bytes)));
  if (pointer) {
    const bits = bitsOf(piece),
      to = bufferAt(bits);
    if (to && rest.length) return walk(to, Number(bits - BigInt(to.base)), rest, name);
  }
  return found && !rest.length && !found.leaf.bits
    ? {
        scalar: found.leaf.scalar,
        bits: bitsOf(piece),
        text: partsText(bytesOf(piece), single(found.leaf.scalar, found.leaf.bytes), 0),
      }
    : undefined;
}
const single = (scalar: Scalar, bytes: number): Type => ({
  name: "",
  bytes,
  known: true,
  text: "",
  parts: [{ path: "", offset: 0, scalar, dims: [], of: "" }],
});

// Resolves a name: to an element, or to a number that a kernel got as a parameter.
export async function resolve(text: string): Promise<Place | Known | undefined> {
  const name = text.trim().replace(/^\*\s*([A-Za-z_][\w.]*)$/, "$1[0]");
  // The name of a buffer may have dots and brackets itself: s.birds, row[i#4]. The longest matching
  // name counts.
  let b: Buffer | undefined,
    longest = 0;
  for (const x of buffers.values()) {
    const n = bufferName(x);
    if (n.length > longest && name.startsWith(n) && PATH.test(name.slice(n.length))) {
      b = x;
      longest = n.length;
    }
  }
  if (b) {
    const p = await walk(b, 0, path(name.slice(longest)), text.trim());
    if (p) return p;
  }
  const m = /^([A-Za-z_]\w*)(.*)$/.exec(name);
  if (!m || !PATH.test(m[2])) return undefined;
  const given = await parameter(m[1]);
  return given && ofParameter(given, path(m[2]), text.trim());
}
export const isPlace = (x: Place | Known | undefined): x is Place => !!x && "buffer" in x;

const constant: Record<string, (bits: bigint) => string> = {
  f32: (b) => `__int_as_float(0x${b.toString(16)})`,
  f64: (b) => `__longlong_as_double(0x${b.toString(16)}ll)`,
  f16: (b) => `__ushort_as_half(0x${b.toString(16)})`,
  bf16: (b) => `__ushort_as_bfloat16(0x${b.toString(16)})`,
  i8: (b) => String(BigInt.asIntN(8, b)),
  i16: (b) => String(BigInt.asIntN(16, b)),
  u8: String,
  u16: String,
  bool: String,
  i32: (b) => `((int)${BigInt.asIntN(32, b)})`,
  u32: (b) => `${b}u`,
  i64: (b) => `((long long)${BigInt.asIntN(64, b)}ll)`,
  u64: (b) => `${b}ull`,
  ptr: (b) => `${b}ull`,
};
async function recordedValue(p: Place, step = timeStep()): Promise<Known | undefined> {
  if (!p.leaf) return undefined;
  const a = await askBytes("contents", {
      allocation: p.buffer,
      step,
      offset: p.offset,
      bytes: p.leaf.bytes,
    }),
    known = new Uint8Array(a, p.leaf.bytes, p.leaf.bytes),
    d = new DataView(a, 0, p.leaf.bytes);
  if (known.some((k) => k !== 1)) return undefined;
  let bits = 0n;
  for (let i = p.leaf.bytes; i-- > 0;) bits = (bits << 8n) | BigInt(d.getUint8(i));
  return {
    scalar: p.leaf.scalar,
    text: partsText(d, single(p.leaf.scalar, p.leaf.bytes), 0),
    bits,
  };
}
// Names that are known become constants; others stay, as functions, types and x do.
export async function withRecorded(
  text: string,
  stays: (name: string) => boolean = () => false,
): Promise<{ text: string; used: string[] }> {
  const used: string[] = [];
  let out = "",
    at = 0;
  for (const m of text.matchAll(NAMES)) {
    const next = text.slice(m.index! + m[0].length).trimStart()[0],
      before = text[m.index! - 1] ?? "";
    if (next === "(" || /[\w.]/.test(before) || stays(m[0])) continue;
    const p = await resolve(m[0]),
      v = isPlace(p) ? await recordedValue(p) : p;
    if (!p) continue;
    if (!v)
      throw new Error(
        isPlace(p) && !p.leaf
          ? `${m[0]} has several fields: say which`
          : `${m[0]} was not written, or by something that was not recorded`,
      );
    out += text.slice(at, m.index!) + constant[v.scalar](v.bits);
    at = m.index! + m[0].length;
    used.push(`${m[0]} = ${v.text}`);
  }
  return { text: out + text.slice(at), used };
}
