// How values, elements, threads and launches are written.
import { Buffer, buffers, FlowStep, Kind, Launch, launches, Op, sites, steps } from "./api";
import {
  Scalar,
  Type,
  bufferType,
  indexText,
  leafAt,
  scalarBytes,
  siteScalar,
  variableElement,
  variableOf,
  variableType,
} from "./types";
import { hostTail } from "./time";
export const typeBytes = (t: Type) => t.bytes;

// Several buffers of one name get numbers as in the files of --dump-buffers: y, y-2, y-3 …; y[i],
// y[i#2] …
const twins = new Map<number, number>();
let twinsOf = 0;
function twin(id: number) {
  if (twinsOf !== buffers.size) {
    const count = new Map<string, number>();
    twinsOf = buffers.size;
    for (const b of [...buffers.values()].sort((x, y) => x.id - y.id))
      if (b.name) {
        const n = (count.get(b.name) ?? 0) + 1;
        count.set(b.name, n);
        twins.set(b.id, n);
      }
  }
  return twins.get(id) ?? 1;
}
export function bufferName(b: Buffer | undefined, id = 0): string {
  if (!b?.name) return `buf${b?.id ?? id}`;
  const n = twin(b.id);
  if (n === 1) return b.name;
  // rows[r], allocated in a loop: rows[r#5][14] reads as an element, rows[r]-5[14] as a difference
  return b.name.endsWith("]") ? `${b.name.slice(0, -1)}#${n}]` : `${b.name}-${n}`;
}
// Managed and pinned memory: the host's own writes to it are not recorded.
export const hostCanWrite = (b: Buffer | undefined) =>
  !!b?.kind && b.kind !== "device" && b.kind !== "variable";
export function elementName(buffer: number, offset: number, bytes?: number): string {
  const b = buffers.get(buffer),
    t = bufferType(buffer);
  const size = t.known ? t.bytes : bytes && offset % bytes === 0 ? bytes : t.bytes,
    i = Math.floor(offset / size),
    inside = offset - i * size;
  const name = `${bufferName(b, buffer)}${t.known ? indexText(i, b?.dims) : `[${i}]`}`;
  if (!t.known) return inside ? `${name}+${inside}` : name;
  const leaf = leafAt(t, inside);
  if (!bytes || bytes >= size || !leaf) return inside ? `${name}+${inside}` : name;
  return inside === leaf.offset
    ? `${name}${leaf.path}${bytes > leaf.bytes ? "…" : ""}`
    : `${name}${leaf.path}+${inside - leaf.offset}`;
}
// Names the part of an interrupt call that an operation belongs to. Such calls save and restore
// values in Warpgrind's memory; the registers of the added instructions identify them.
export function interruptPart(o: Op): string {
  const text = sites.get(o.site)?.text ?? "",
    value = /wg_interrupt_([ar])(\d+)/.exec(text);
  return !text.includes("%wgint_")
    ? ""
    : !value
      ? "saved state"
      : value[1] === "r"
        ? "result of the call"
        : `argument ${value[2]} of the call`;
}
export function opElement(o: Op): string {
  if (o.address === null) return "";
  const interrupt = interruptPart(o);
  if (interrupt) return interrupt;
  if (o.buffer) return elementName(o.buffer, o.offset, o.bytes);
  const s = sites.get(o.site),
    at = Number(o.address);
  if (!o.space) return `memory at ${o.address}`;
  const v = variableOf(o),
    where = o.space === 1 ? "shared memory" : "local memory";
  return !v
    ? `byte ${at} of ${where}`
    : v.address === undefined
      ? `${v.name}, byte ${at} of ${where}`
      : v.type
        ? variableElement(v, at - v.address, o.bytes)
        : o.space === 2
          ? `${(s?.function ?? "").replace(/[<(].*$/, "")}: byte ${at} of ${where}`
          : `${v.name}+${at - v.address}`;
}

const scratch = new DataView(new ArrayBuffer(8));
function half(h: number): number {
  const e = (h >> 10) & 31,
    f = h & 1023,
    sign = h & 0x8000 ? -1 : 1;
  return e === 31
    ? f
      ? NaN
      : sign * Infinity
    : e
      ? sign * (1024 + f) * 2 ** (e - 25)
      : sign * f * 2 ** -24;
}
export function shortFloat(v: number, single: boolean): string {
  if (Number.isNaN(v)) return "NaN";
  if (!Number.isFinite(v)) return v > 0 ? "+inf" : "-inf";
  if (Object.is(v, -0)) return "-0";
  if (!single) return String(v);
  for (let digits = 1; digits < 10; digits++) {
    const t = v.toPrecision(digits);
    if (Math.fround(Number(t)) === v) return String(Number(t));
  }
  return String(v);
}
export function scalarText(d: DataView, at: number, s: Scalar): string {
  switch (s) {
    case "i8":
      return String(d.getInt8(at));
    case "u8":
      return String(d.getUint8(at));
    case "i16":
      return String(d.getInt16(at, true));
    case "u16":
      return String(d.getUint16(at, true));
    case "i32":
      return String(d.getInt32(at, true));
    case "u32":
      return String(d.getUint32(at, true));
    case "i64":
      return String(d.getBigInt64(at, true));
    case "u64":
      return String(d.getBigUint64(at, true));
    case "f16":
      return shortFloat(half(d.getUint16(at, true)), true);
    case "bf16":
      scratch.setUint32(0, (d.getUint16(at, true) << 16) >>> 0, true);
      return shortFloat(scratch.getFloat32(0, true), true);
    case "f32":
      return shortFloat(d.getFloat32(at, true), true);
    case "f64":
      return shortFloat(d.getFloat64(at, true), false);
    case "bool":
      return d.getUint8(at) === 0
        ? "false"
        : d.getUint8(at) === 1
          ? "true"
          : `true (${d.getUint8(at)})`;
    case "ptr":
      return pointerText(d.getBigUint64(at, true));
  }
}
export function bufferAt(address: bigint): Buffer | undefined {
  for (const b of buffers.values()) {
    const base = BigInt(b.base);
    if (address >= base && address < base + BigInt(b.size)) return b;
  }
  return undefined;
}
// A pointer by what it points to.
function pointerText(p: bigint): string {
  if (p === 0n) return "nullptr";
  const b = bufferAt(p);
  return b ? `&${elementName(b.id, Number(p - BigInt(b.base)))}` : `0x${p.toString(16)}`;
}
// The states of an element's bytes (0: never written, 1: known, else not recorded), without the
// padding between the fields of a struct, which nobody writes.
export function knownOf(
  known: Uint8Array,
  t: Type,
  offset: number,
): "" | "unwritten" | "unrecorded" {
  let state: "" | "unwritten" | "unrecorded" = "";
  for (let i = 0; i < known.length; i++) {
    if (known[i] === 1 || (t.known && !leafAt(t, (offset + i) % t.bytes))) continue;
    if (known[i] === 0) return "unwritten";
    state = "unrecorded";
  }
  return state;
}
// The bytes of an element from an offset on, as text, scalar by scalar; "": they do not match its
// scalars.
export function partsText(d: DataView, t: Type, offset: number): string {
  const out: string[] = [];
  if (!t.known) return "";
  for (let at = 0; at < d.byteLength;) {
    const l = leafAt(t, (offset + at) % t.bytes);
    if (!l) {
      at++;
      continue;
    } // between fields
    if ((offset + at) % t.bytes !== l.offset || at + l.bytes > d.byteLength) return "";
    if (l.bits) {
      for (const p of t.parts)
        if (p.bits && p.offset === l.offset) {
          const unit = new DataView(d.buffer, d.byteOffset + at, l.bytes);
          out.push(
            String(
              Number(
                (BigInt(scalarText(unit, 0, p.scalar)) >> BigInt(p.bits[0])) &
                  ((1n << BigInt(p.bits[1])) - 1n),
              ),
            ),
          );
        }
    } else out.push(scalarText(d, at, l.scalar));
    at += l.bytes;
  }
  return out.length > 1 ? `(${out.join(", ")})` : (out[0] ?? "");
}
export function bytesOf(hex: string): DataView {
  const d = new DataView(new ArrayBuffer(hex.length / 2));
  for (let i = 0; i < hex.length; i += 2) d.setUint8(i / 2, parseInt(hex.substr(i, 2), 16));
  return d;
}
// The value that an operation read or wrote, by the type of its element; without one, by the
// instruction's type if that is certain, else as bytes.
export function opValue(o: Op, hex: string | null = o.value): string {
  if (hex === null) return "?";
  const d = bytesOf(hex),
    s = sites.get(o.site),
    v = o.space ? variableOf(o) : undefined;
  const t = o.buffer ? bufferType(o.buffer) : v ? variableType(v) : undefined,
    offset = o.buffer ? o.offset : v?.address !== undefined ? Number(o.address) - v.address : 0;
  const typed =
    t?.known && (o.buffer || v?.address !== undefined) ? partsText(d, t, offset % t.bytes) : "";
  if (typed) return typed;
  const scalar = o.kind === Kind.Value ? watchScalar(s?.text) : siteScalar(s);
  if (scalar && scalarBytes[scalar] === d.byteLength) return scalarText(d, 0, scalar);
  return "0x" + hexOf(d);
}
// The scalars of that value, for conditions.
export function opScalars(o: Op): { offset: number; scalar: Scalar }[] {
  const n = (o.value ?? "").length / 2,
    s = sites.get(o.site),
    v = o.space ? variableOf(o) : undefined,
    out: { offset: number; scalar: Scalar }[] = [];
  const t = o.buffer ? bufferType(o.buffer) : v ? variableType(v) : undefined,
    offset = o.buffer ? o.offset : v?.address !== undefined ? Number(o.address) - v.address : 0;
  if (t?.known && (o.buffer || v?.address !== undefined))
    for (let at = 0; at < n; at++) {
      const l = leafAt(t, (offset + at) % t.bytes);
      if (l && l.offset === (offset + at) % t.bytes && at + l.bytes <= n)
        out.push({ offset: at, scalar: l.scalar });
    }
  const scalar = o.kind === Kind.Value ? watchScalar(s?.text) : siteScalar(s),
    plain: Record<number, Scalar> = { 1: "u8", 2: "u16", 4: "u32", 8: "u64" };
  if (!out.length && scalar && scalarBytes[scalar] === n) out.push({ offset: 0, scalar });
  if (!out.length && plain[n]) out.push({ offset: 0, scalar: plain[n] });
  return out;
}
// wg_watch says the type of its value itself.
export function watchScalar(text: string | undefined): Scalar | undefined {
  const m = /wg_(?:watch|record)_([fsub])(32|64)/.exec(text ?? "");
  return m ? (`${m[1] === "f" ? "f" : m[1] === "s" ? "i" : "u"}${m[2]}` as Scalar) : undefined;
}
function hexOf(d: DataView) {
  let s = "";
  for (let i = d.byteLength; i-- > 0;) s += d.getUint8(i).toString(16).padStart(2, "0");
  return s;
}
// The bytes as one number in hexadecimal; at most the first eight.
export function hexAt(d: DataView, at: number, bytes: number) {
  let s = "";
  for (let i = Math.min(bytes, 8); i-- > 0;)
    s += d
      .getUint8(at + i)
      .toString(16)
      .padStart(2, "0");
  return `0x${s}${bytes > 8 ? "…" : ""}`;
}
export const valueHex = (hex: string | null) => (hex === null ? "" : "0x" + hexOf(bytesOf(hex)));

// 1234567: "1.235 ms"
export function duration(ns: number) {
  const [n, unit] =
    ns < 1e3
      ? [ns, "ns"]
      : ns < 1e6
        ? [ns / 1e3, "µs"]
        : ns < 1e9
          ? [ns / 1e6, "ms"]
          : [ns / 1e9, "s"];
  return `${Number(n.toPrecision(4))} ${unit}`;
}
export const kindName: Record<number, string> = {
  [Kind.Load]: "load",
  [Kind.Store]: "store",
  [Kind.Atomic]: "atomic",
  [Kind.Sync]: "sync",
  [Kind.Value]: "value",
  [Kind.Copy]: "copy",
  [Kind.Set]: "set",
};

// The flow chart knows all launches before anybody asks for one.
export const flowNames = new Map<number, string>(),
  streamNames = new Map<number, string>(),
  // streams in the order of their first use; the stream of a launch
  streamOf = new Map<number, number>();
export function learnStream(launch: number, stream: number) {
  if (!streamNames.has(stream))
    streamNames.set(
      stream,
      stream
        ? `stream ${[...streamNames.keys()].filter(Boolean).length + 1}`
        : "the default stream",
    );
  streamOf.set(launch, stream);
}
export const launchName = (l: Launch | undefined, id = 0) =>
  l ? `${l.name} #${l.number}` : (flowNames.get(id) ?? `launch ${id}`);
export const launchOf = (o: Op) =>
  o.launch ? launchName(launches.get(o.launch), o.launch) : stepName(o.step);
// Functions that the host ran: handlers of interrupts, calls of CUDA's libraries.
export const hasName = (call: string | undefined) => /^(interrupt|library) /.test(call ?? "");
export function stepName(id: number) {
  const s = steps.get(id);
  return !s
    ? "host"
    : hasName(s.call)
      ? `${s.call}${hostTail(id)}`
      : s.kind === "set"
        ? `set by the host${hostTail(id)}`
        : `${copyName(s)}${hostTail(id)}`;
}
// A copy with its direction; other steps of the host by their kind.
export const copyName = (s: { kind?: string; direction?: string }) =>
  s.kind === "copy" ? `copy ${(s.direction ?? "").replace("-", " ")}` : (s.kind ?? "host");
// The first threads of operations, each once.
export const threadsOf = (ops: { thread: number }[]) =>
  [...new Set(ops.map((o) => o.thread))].slice(0, 20).join(", ");
// Class names of an element: those of them that are texts.
export const classes = (...names: (string | false | 0 | null | undefined)[]) =>
  names.filter(Boolean).join(" ");
// A launch of the flow in words.
export const launchText = (name: string, s: FlowStep, races = 0) =>
  [
    `${name} #${s.number}: ${many(s.blocks)} × ${s.threads} threads`,
    s.ns && duration(s.ns),
    s.findings && counted(s.findings, "finding"),
    races && counted(races, "race"),
    !s.recorded && "not recorded",
  ]
    .filter(Boolean)
    .join(", ");
export const triple = (v: number[]) => `(${v.join(",")})`;
export function coordinates(l: Launch, thread: number) {
  const per = l.block[0] * l.block[1] * l.block[2],
    b = Math.floor(thread / per),
    t = thread % per;
  const split = (n: number, d: number[]) => [
    n % d[0],
    Math.floor(n / d[0]) % d[1],
    Math.floor(n / d[0] / d[1]),
  ];
  return {
    block: split(b, l.grid),
    thread: split(t, l.block),
    warp: Math.floor(t / 32),
    lane: t % 32,
  };
}
// The thread at a place of the grid, rows of x below each other, slices of z below those: the
// inverse of wg_watch's layout.
export function threadAt(l: Launch): (place: number) => number {
  const w = l.grid[0] * l.block[0],
    h = l.grid[1] * l.block[1],
    per = l.block[0] * l.block[1] * l.block[2];
  return (i) => {
    const x = i % w,
      y = Math.floor(i / w) % h,
      z = Math.floor(i / w / h);
    const block =
      Math.floor(x / l.block[0]) +
      l.grid[0] * (Math.floor(y / l.block[1]) + l.grid[1] * Math.floor(z / l.block[2]));
    return (
      block * per +
      (x % l.block[0]) +
      l.block[0] * ((y % l.block[1]) + l.block[1] * (z % l.block[2]))
    );
  };
}
export function placeOfThread(l: Launch, thread: number): number {
  const c = coordinates(l, thread),
    w = l.grid[0] * l.block[0],
    h = l.grid[1] * l.block[1];
  return (
    c.block[0] * l.block[0] +
    c.thread[0] +
    w * (c.block[1] * l.block[1] + c.thread[1] + h * (c.block[2] * l.block[2] + c.thread[2]))
  );
}
export const threadCount = (l: Launch) => l.grid.concat(l.block).reduce((a, b) => a * b, 1);
export const many = (n: number) => n.toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
// "1 launch", "2 launches"
export const counted = (n: number, one: string, several = `${one}s`) =>
  `${many(n)} ${n === 1 ? one : several}`;
export const bytesText = (n: number) =>
  n < 10000
    ? `${n} B`
    : n < 1 << 23
      ? `${Number((n / 1024).toFixed(1))} KiB`
      : n < 2 ** 33
        ? `${Number((n / 2 ** 20).toFixed(1))} MiB`
        : `${Number((n / 2 ** 30).toFixed(1))} GiB`;
export const addressOf = (b: Buffer, offset: number) =>
  "0x" + (BigInt(b.base) + BigInt(offset)).toString(16);
export const fileName = (path: string) => path.replace(/^.*\//, "");
export const errorText = (e: unknown) => (e instanceof Error ? e.message : String(e));
