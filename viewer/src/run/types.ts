// Types of elements: what the run file knows from signatures and debug information, or what
// somebody chose. Nothing is guessed: a buffer whose type is not known is shown as bytes, and the
// page says which flag would help.
import { Buffer, Launch, Op, Site, buffers, launches, sites } from "./api";

export type Scalar =
  | "i8"
  | "u8"
  | "i16"
  | "u16"
  | "i32"
  | "u32"
  | "i64"
  | "u64"
  | "f16"
  | "bf16"
  | "f32"
  | "f64"
  | "bool"
  | "ptr";
export const scalarBytes: Record<Scalar, number> = {
  i8: 1,
  u8: 1,
  i16: 2,
  u16: 2,
  i32: 4,
  u32: 4,
  i64: 8,
  u64: 8,
  f16: 2,
  bf16: 2,
  f32: 4,
  f64: 8,
  bool: 1,
  ptr: 8,
};
// A scalar of a type, or an array of them: dims are [count, bytes from one to the next]. bits: of a
// bit field.
export interface Part {
  path: string;
  offset: number;
  scalar: Scalar;
  bits?: [first: number, count: number];
  dims: [number, number][];
  of: string;
}
// known false: shown as bytes, because the type is unknown
export interface Type {
  name: string;
  bytes: number;
  parts: Part[];
  known: boolean;
  text: string;
}
export interface Variable {
  kernel: number;
  space: "shared" | "local";
  object: string;
  name: string;
  address?: number;
  bytes: number;
  type: number;
  dims?: string;
  why?: string;
}
// One scalar of an element.
export interface Leaf {
  path: string;
  offset: number;
  scalar: Scalar;
  bytes: number;
  bits?: [number, number];
  of: string;
}

const cName: Record<Scalar, string> = {
  i8: "char",
  u8: "unsigned char",
  i16: "short",
  u16: "unsigned short",
  i32: "int",
  u32: "unsigned int",
  i64: "long long",
  u64: "unsigned long long",
  f16: "half",
  bf16: "bfloat16",
  f32: "float",
  f64: "double",
  bool: "bool",
  ptr: "pointer",
};
const one = (scalar: Scalar, path = "", offset = 0, of = ""): Part => ({
  path,
  offset,
  scalar,
  dims: [],
  of,
});
export const scalarType = (scalar: Scalar, name = cName[scalar]): Type => ({
  name,
  bytes: scalarBytes[scalar],
  parts: [one(scalar)],
  known: true,
  text: scalar,
});
export const allScalars = (Object.keys(cName) as Scalar[]).filter((s) => s !== "ptr");
export function repeated(scalar: Scalar, n: number): Type {
  if (n <= 1) return scalarType(scalar);
  return {
    name: `${cName[scalar]} × ${n}`,
    bytes: n * scalarBytes[scalar],
    known: true,
    text: `${scalar}x${n}`,
    parts:
      n <= 4
        ? Array.from({ length: n }, (_, i) => one(scalar, `.${"xyzw"[i]}`, i * scalarBytes[scalar]))
        : [{ ...one(scalar, "[]"), dims: [[n, scalarBytes[scalar]]] }],
  };
}
export const bytesType = (size: number): Type => ({
  name: size % 4 ? "bytes" : "4 bytes",
  bytes: size % 4 ? 1 : 4,
  parts: [one(size % 4 ? "u8" : "u32")],
  known: false,
  text: "",
});

// --- what the run file says ---
export const types = new Map<number, Type>(),
  byName = new Map<string, Type>();
export let variables: Variable[] = [];
const named: Record<string, Scalar> = {
  char: "i8",
  "signed char": "i8",
  "unsigned char": "u8",
  bool: "bool",
  short: "i16",
  "unsigned short": "u16",
  int: "i32",
  "unsigned int": "u32",
  unsigned: "u32",
  long: "i64",
  "unsigned long": "u64",
  "long long": "i64",
  "unsigned long long": "u64",
  __half: "f16",
  half: "f16",
  __nv_bfloat16: "bf16",
  float: "f32",
  double: "f64",
};
export function learnTypes(json: { types: Record<string, any>; variables: Variable[] }) {
  for (const id in json.types) {
    const t = json.types[id],
      parts: Part[] = [];
    for (const [path, offset, text, dims, of] of t.parts as [
      string,
      number,
      string,
      string,
      string,
    ][]) {
      const [scalar, first, count] = text.split(":");
      if (!(scalar in scalarBytes)) continue;
      parts.push({
        path,
        offset,
        scalar: scalar as Scalar,
        of,
        bits: count ? [Number(first), Number(count)] : undefined,
        dims: dims ? dims.split(",").map((d) => d.split(":").map(Number) as [number, number]) : [],
      });
    }
    if (!parts.length || !(t.bytes > 0)) continue;
    const type: Type = { name: t.name || "?", bytes: t.bytes, parts, known: true, text: `T${id}` };
    types.set(Number(id), type);
    byName.set(type.name, type);
  }
  variables = json.variables;
}
export function typeNamed(name: string | undefined): Type | undefined {
  if (!name) return undefined;
  const known = byName.get(name),
    m = /^(u?(?:char|short|int|longlong|long|float|double))([2-4])$/.exec(name);
  if (known) return known;
  if (named[name]) return scalarType(named[name], name);
  const base: Record<string, Scalar> = {
    char: "i8",
    uchar: "u8",
    short: "i16",
    ushort: "u16",
    int: "i32",
    uint: "u32",
    long: "i64",
    ulong: "u64",
    longlong: "i64",
    ulonglong: "u64",
    float: "f32",
    double: "f64",
  };
  if (m && base[m[1]]) return { ...repeated(base[m[1]], Number(m[2])), name };
  return name.endsWith("*")
    ? { name, bytes: 8, parts: [one("ptr", "", 0, name.slice(0, -1))], known: true, text: "ptr" }
    : undefined;
}

// --- what somebody chose: part of the page's address, "4=f32x2,7=T284" ---
const chosen = new Map<number, Type>();
const listeners = new Set<() => void>();
export function onTypes(f: () => void) {
  listeners.add(f);
  return () => {
    listeners.delete(f);
  };
}
let onChoice = () => {};
export function keepTypes(f: () => void) {
  onChoice = f;
}
export function chooseType(buffer: number, t: Type) {
  chosen.set(buffer, t);
  onChoice();
  listeners.forEach((f) => f());
}
export const typesText = () => [...chosen].map(([b, t]) => `${b}=${t.text}`).join(",");
export function typeFromText(text: string): Type | undefined {
  const m = /^([a-z]+\d*)(?:x(\d+))?$/.exec(text),
    id = /^T(\d+)$/.exec(text);
  if (id) return types.get(Number(id[1]));
  return m && m[1] in scalarBytes
    ? repeated(m[1] as Scalar, Math.min(4096, Math.max(1, Number(m[2] ?? 1))))
    : undefined;
}
export function typesFrom(text: string) {
  const before = typesText();
  chosen.clear();
  for (const m of text.matchAll(/(\d+)=([A-Za-z0-9]+)/g)) {
    const t = typeFromText(m[2]);
    if (t) chosen.set(Number(m[1]), t);
  }
  if (typesText() !== before) setTimeout(() => listeners.forEach((f) => f()), 0);
}

// The type of a buffer's elements; known false: bytes.
export function bufferType(id: number): Type {
  const b = buffers.get(id);
  return (
    chosen.get(id) ??
    (b?.type_id ? types.get(b.type_id) : undefined) ??
    typeNamed(b?.type) ??
    bytesType(b?.size ?? 4)
  );
}
// How to make the type of a buffer known; "": it is known.
export function typeHelp(b: Buffer | undefined): string {
  if (!b || bufferType(b.id).known) return "";
  return b.type
    ? `The fields of ${b.type} are not known: compile the host code with -g. Or choose a type.`
    : "The type of its elements is not known: either the program has pointers to bytes only " +
        "(char, unsigned char, void), or its host code was compiled without -g. Choose a type.";
}

// --- scalars of an element ---
function leafOf(p: Part, offset: number): Leaf | undefined {
  let rest = offset - p.offset,
    path = p.path,
    at = p.offset;
  if (rest < 0) return undefined;
  for (const [count, stride] of p.dims) {
    const i = Math.floor(rest / stride);
    if (i >= count) return undefined;
    path = path.replace("[]", `[${i}]`);
    rest -= i * stride;
    at += i * stride;
  }
  const bytes = scalarBytes[p.scalar];
  return rest < bytes
    ? { path, offset: at, scalar: p.scalar, bytes, bits: p.bits, of: p.of }
    : undefined;
}
export function leafAt(t: Type, offset: number): Leaf | undefined {
  for (const p of t.parts) {
    const l = leafOf(p, offset);
    if (l) return l;
  }
  return undefined;
}
// All scalars in order, of large arrays the first ones.
export function leaves(t: Type, most = 256): Leaf[] {
  const out: Leaf[] = [];
  for (const p of t.parts) {
    const count = p.dims.reduce((n, d) => n * d[0], 1);
    for (let i = 0; i < count && out.length < most; i++) {
      let rest = i,
        offset = p.offset;
      for (let k = p.dims.length; k-- > 0;) {
        offset += (rest % p.dims[k][0]) * p.dims[k][1];
        rest = Math.floor(rest / p.dims[k][0]);
      }
      const l = leafOf(p, offset);
      if (l) out.push(l);
    }
  }
  return out;
}

// --- variables of kernels ---
const variablesOf = new Map<number, Variable[]>();
export function variablesOfKernel(kernel: number): Variable[] {
  let v = variablesOf.get(kernel);
  if (!v) variablesOf.set(kernel, (v = variables.filter((x) => x.kernel === kernel)));
  return v;
}
export const forgetVariables = () => variablesOf.clear();
// extern __shared__ arrays are as large as the launch says.
export const variableBytes = (v: Variable | undefined, l: Launch | undefined) =>
  v?.bytes || (v?.space === "shared" ? (l?.shared ?? 0) : 0);
export const variableType = (v: Variable): Type => types.get(v.type) ?? bytesType(4);
export function variableOf(o: Op): Variable | undefined {
  const kernel = launches.get(o.launch)?.kernel ?? 0,
    all = variablesOfKernel(kernel),
    space = o.space === 1 ? "shared" : "local",
    at = Number(o.address);
  const object = sites.get(o.site)?.object;
  const own = object ? all.filter((v) => v.object === object && v.space === space) : [],
    covers = (v: Variable) =>
      v.address !== undefined && at >= v.address && (at < v.address + v.bytes || !v.bytes);
  // A frame of local memory has several variables; where it lies may not be known.
  return (
    own.find(covers) ??
    (own.length === 1 ? own[0] : undefined) ??
    all.find(
      (v) =>
        v.space === space &&
        v.address !== undefined &&
        at >= v.address &&
        (at < v.address + v.bytes || !v.bytes),
    )
  );
}
// "[3][4]" of element 28 of an array of 4 × 8.
export function indexText(element: number, dims: string | undefined): string {
  const d = (dims ?? "")
    .split(",")
    .map(Number)
    .filter((n) => n > 0);
  if (d.length < 2) return dims === "" ? "" : `[${element}]`;
  let out = "";
  for (let i = d.length; i-- > 0; element = Math.floor(element / d[i]))
    out = i ? `[${element % d[i]}]${out}` : `[${element}]${out}`;
  return out;
}
export function variableElement(v: Variable, offset: number, bytes: number): string {
  const t = variableType(v);
  if (!v.type) return `${v.name}+${offset}`;
  const i = Math.floor(offset / t.bytes),
    inside = offset - i * t.bytes,
    leaf = leafAt(t, inside),
    single = v.bytes === t.bytes && !v.dims;
  const index = single ? "" : indexText(i, v.dims),
    part = !leaf || (bytes > leaf.bytes && bytes >= t.bytes) ? "" : leaf.path;
  return `${v.name}${index}${part}${part && bytes > leaf!.bytes ? "…" : ""}`;
}

// The instruction's own type if it is a single floating-point number: nothing else is loaded that
// way.
export function siteScalar(s: Site | undefined): Scalar | undefined {
  return s &&
    (s.vector ?? 1) === 1 &&
    (s.ptx === "f32" || s.ptx === "f64" || s.ptx === "f16" || s.ptx === "bf16")
    ? (s.ptx as Scalar)
    : undefined;
}
export type { Launch };
