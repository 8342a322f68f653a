// How values, elements, threads and launches are written.
import { Buffer, Kind, Launch, Op, buffers, launches, sites, steps } from "./api";

export type Scalar = "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f16" | "bf16" | "f32" | "f64";
export interface Type { scalar: Scalar; components: number; name: string }
export const scalarBytes: Record<Scalar, number> = { i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, i64: 8, u64: 8, f16: 2, bf16: 2, f32: 4, f64: 8 };
export const typeBytes = (t: Type) => scalarBytes[t.scalar] * t.components;

const named: Record<string, Scalar> = {
  "char": "i8", "signed char": "i8", "unsigned char": "u8", "uchar": "u8", "bool": "u8", "short": "i16", "unsigned short": "u16", "ushort": "u16", "int": "i32",
  "unsigned int": "u32", "unsigned": "u32", "uint": "u32", "long": "i64", "unsigned long": "u64", "ulong": "u64", "long long": "i64", "longlong": "i64", "unsigned long long": "u64",
  "ulonglong": "u64", "__half": "f16", "half": "f16", "__nv_bfloat16": "bf16", "__nv_bfloat": "bf16", "float": "f32", "double": "f64",
};
const cName: Record<Scalar, string> = { i8: "char", u8: "unsigned char", i16: "short", u16: "unsigned short", i32: "int", u32: "unsigned int", i64: "long long",
  u64: "unsigned long long", f16: "half", bf16: "bfloat16", f32: "float", f64: "double" };
export const allTypes: Type[] = (Object.keys(cName) as Scalar[]).map(scalar => ({ scalar, components: 1, name: cName[scalar] }));

function fromName(name: string | undefined): Type | undefined {
  if (!name) return undefined;
  if (named[name]) return { scalar: named[name], components: 1, name };
  const m = /^(.*?)([1-4])$/.exec(name);
  if (m && named[m[1]]) return { scalar: named[m[1]], components: Number(m[2]), name };
  return undefined;
}

function fromInstruction(s: { ptx?: string; vector?: number }): Type | undefined {
  if (!s.ptx) return undefined;
  const bits = Number(/\d+$/.exec(s.ptx)?.[0] ?? 0), letter = s.ptx[0];
  const components = s.vector ?? 1;
  const scalar = (s.ptx.startsWith("bf") ? "bf16" : letter === "f" ? `f${bits}` : bits === 8 ? "u8" : `i${bits}`) as Scalar;
  if (!cName[scalar]) return undefined;
  return { scalar, components, name: components > 1 ? `${cName[scalar]}${components}` : cName[scalar] };
}

// The type of a buffer's elements: what somebody chose, what a kernel's parameter says, or else what an instruction does with it.
const chosen = new Map<number, Type>(), certain = new Map<number, Type>(), guessed = new Map<number, Type>();
const listeners = new Set<() => void>();
export function onTypes(f: () => void) { listeners.add(f); return () => { listeners.delete(f); }; }
export function chooseType(buffer: number, t: Type) { chosen.set(buffer, t); onChoice(); listeners.forEach(f => f()); }
// What was chosen is part of the address: "4=f32x2,7=f64".
let onChoice = () => {};
export function keepTypes(f: () => void) { onChoice = f; }
export const typesText = () => [...chosen].map(([b, t]) => `${b}=${t.scalar}${t.components > 1 ? `x${t.components}` : ""}`).join(",");
export function typesFrom(text: string) {
  const before = typesText();
  chosen.clear();
  for (const m of text.matchAll(/(\d+)=([a-z]+\d+)(?:x(\d+))?/g)) {
    const scalar = m[2] as Scalar, n = Math.min(4096, Math.max(1, Number(m[3] ?? 1)));
    if (cName[scalar]) chosen.set(Number(m[1]), { scalar, components: n, name: n > 1 ? `${cName[scalar]} × ${n}` : cName[scalar] });
  }
  if (typesText() !== before) tell();
}
export const bufferType = (id: number): Type | undefined => chosen.get(id) ?? certain.get(id) ?? guessed.get(id);
let told = false;
function tell() {                          // once for all that is learned at a time
  if (told) return;
  told = true;
  setTimeout(() => { told = false; listeners.forEach(f => f()); }, 0);
}
// A kernel's parameter of that type points to the buffer.
export function learnParameter(buffer: number, type: string | undefined) {
  const t = fromName(type);
  if (t && !certain.has(buffer)) { certain.set(buffer, t); tell(); }
}
export function learnBuffers(list: Buffer[]) {
  for (const b of list) {
    const t = fromName(b.type), g = t ?? fromInstruction(b);
    if (t && !certain.has(b.id)) certain.set(b.id, t), tell();
    else if (g && !guessed.has(b.id)) guessed.set(b.id, g), tell();
  }
}
export function learnTypes(ops: Op[]) {
  for (const o of ops) {
    if (!o.buffer || !o.site || certain.has(o.buffer)) continue;
    const s = sites.get(o.site);
    if (!s) continue;
    const t = fromName(s.type);
    if (t) { certain.set(o.buffer, t); tell(); }
    else if (!guessed.has(o.buffer)) { const g = fromInstruction(s); if (g) { guessed.set(o.buffer, g); tell(); } }
  }
}
export function opType(o: Op): Type {
  const t = (o.buffer && bufferType(o.buffer)) || (sites.get(o.site) && (fromName(sites.get(o.site)!.type) ?? fromInstruction(sites.get(o.site)!)));
  if (t && scalarBytes[t.scalar] <= o.bytes) return t;
  return { scalar: (o.bytes >= 8 && o.bytes % 8 === 0 ? "i64" : o.bytes === 4 ? "i32" : o.bytes === 2 ? "i16" : "u8") as Scalar, components: 1, name: "bytes" };
}

// Several buffers of one name are told apart as the files of --dump-buffers are: y, y-2, y-3 …
const twins = new Map<number, number>();
let twinsOf = 0;
function twin(id: number) {
  if (twinsOf !== buffers.size) {
    const count = new Map<string, number>();
    twinsOf = buffers.size;
    for (const b of [...buffers.values()].sort((x, y) => x.id - y.id)) if (b.name) { const n = (count.get(b.name) ?? 0) + 1; count.set(b.name, n); twins.set(b.id, n); }
  }
  return twins.get(id) ?? 1;
}
export const bufferName = (b: Buffer | undefined, id = 0) => !b ? `buf${id}` : !b.name ? `buf${b.id}` : twin(b.id) > 1 ? `${b.name}-${twin(b.id)}` : b.name;
export function elementName(buffer: number, offset: number, bytes?: number): string {
  const b = buffers.get(buffer), t = bufferType(buffer);
  const size = t ? typeBytes(t) : bytes && offset % bytes === 0 ? bytes : 1;
  const name = `${bufferName(b, buffer)}[${Math.floor(offset / size)}]`;
  const rest = offset % size;
  if (t && t.components > 1 && bytes && bytes < size && rest % scalarBytes[t.scalar] === 0) return t.components <= 4 ? `${name}.${"xyzw"[rest / scalarBytes[t.scalar]]}` : `${name}.${rest / scalarBytes[t.scalar]}`;
  return rest ? `${name}+${rest}` : name;
}
export function opElement(o: Op): string {
  if (o.address === null) return "";
  if (o.buffer) return elementName(o.buffer, o.offset, o.bytes);
  const s = sites.get(o.site);
  const object = s?.object?.replace(/^.*E\d+/, "").replace(/^_Z\w*?\d+/, "");
  return `${object || ["memory", "shared", "local"][o.space] || s?.space}[${o.space ? Number(o.address) : o.address}]`;
}

const scratch = new DataView(new ArrayBuffer(8));
function half(h: number): number {
  const e = h >> 10 & 31, f = h & 1023, sign = h & 0x8000 ? -1 : 1;
  return e === 31 ? (f ? NaN : sign * Infinity) : e ? sign * (1024 + f) * 2 ** (e - 25) : sign * f * 2 ** -24;
}
export function shortFloat(v: number, single: boolean): string {
  if (Number.isNaN(v)) return "NaN";
  if (!Number.isFinite(v)) return v > 0 ? "+inf" : "-inf";
  if (Object.is(v, -0)) return "-0";
  if (!single) return String(v);
  for (let digits = 1; digits < 10; digits++) { const t = v.toPrecision(digits); if (Math.fround(Number(t)) === v) return String(Number(t)); }
  return String(v);
}
export function scalarText(d: DataView, at: number, s: Scalar): string {
  switch (s) {
    case "i8": return String(d.getInt8(at));
    case "u8": return String(d.getUint8(at));
    case "i16": return String(d.getInt16(at, true));
    case "u16": return String(d.getUint16(at, true));
    case "i32": return String(d.getInt32(at, true));
    case "u32": return String(d.getUint32(at, true));
    case "i64": return String(d.getBigInt64(at, true));
    case "u64": return String(d.getBigUint64(at, true));
    case "f16": return shortFloat(half(d.getUint16(at, true)), true);
    case "bf16": scratch.setUint32(0, d.getUint16(at, true) << 16 >>> 0, true); return shortFloat(scratch.getFloat32(0, true), true);
    case "f32": return shortFloat(d.getFloat32(at, true), true);
    case "f64": return shortFloat(d.getFloat64(at, true), false);
  }
}
export function bytesOf(hex: string): DataView {
  const d = new DataView(new ArrayBuffer(hex.length / 2));
  for (let i = 0; i < hex.length; i += 2) d.setUint8(i / 2, parseInt(hex.substr(i, 2), 16));
  return d;
}
export function valueText(hex: string | null, t: Type): string {
  if (hex === null) return "?";
  const d = bytesOf(hex), n = scalarBytes[t.scalar], out: string[] = [];
  if (d.byteLength < n) return "0x" + hexOf(d);
  for (let at = 0; at + n <= d.byteLength; at += n) out.push(scalarText(d, at, t.scalar));
  return out.length > 1 ? `(${out.join(", ")})` : out[0];
}
function hexOf(d: DataView) { let s = ""; for (let i = d.byteLength; i-- > 0;) s += d.getUint8(i).toString(16).padStart(2, "0"); return s; }
// So many bytes as one number; of many the first.
export function hexAt(d: DataView, at: number, bytes: number) { let s = ""; for (let i = Math.min(bytes, 8); i-- > 0;) s += d.getUint8(at + i).toString(16).padStart(2, "0"); return `0x${s}${bytes > 8 ? "…" : ""}`; }
export const valueHex = (hex: string | null) => hex === null ? "" : "0x" + hexOf(bytesOf(hex));

// 1234567: "1.235 ms"
export function duration(ns: number) {
  const [n, unit] = ns < 1e3 ? [ns, "ns"] : ns < 1e6 ? [ns / 1e3, "µs"] : ns < 1e9 ? [ns / 1e6, "ms"] : [ns / 1e9, "s"];
  return `${Number(n.toPrecision(4))} ${unit}`;
}
export const kindName: Record<number, string> = { [Kind.Load]: "load", [Kind.Store]: "store", [Kind.Atomic]: "atomic", [Kind.Sync]: "sync", [Kind.Value]: "value", [Kind.Copy]: "copy", [Kind.Set]: "set" };

// The flow chart knows all launches before anybody asks for one.
export const flowNames = new Map<number, string>(), streamNames = new Map<number, string>(), streamOf = new Map<number, number>();       // streams in the order they are met; which one a launch was in
export function learnStream(launch: number, stream: number) {
  if (!streamNames.has(stream)) streamNames.set(stream, stream ? `stream ${[...streamNames.keys()].filter(Boolean).length + 1}` : "the default stream");
  streamOf.set(launch, stream);
}
export const launchName = (l: Launch | undefined, id = 0) => l ? `${l.name} #${l.number}` : flowNames.get(id) ?? `launch ${id}`;
export const launchOf = (o: Op) => o.launch ? launchName(launches.get(o.launch), o.launch) : stepName(o.step);
export function stepName(id: number) {
  const s = steps.get(id);
  return !s ? "host" : s.kind === "copy" ? `copy ${(s.direction ?? "").replace("-", " ")}` : s.kind === "set" ? "set by the host" : s.kind ?? "host";
}
export const triple = (v: number[]) => `(${v.join(",")})`;
export function coordinates(l: Launch, thread: number) {
  const per = l.block[0] * l.block[1] * l.block[2], b = Math.floor(thread / per), t = thread % per;
  const split = (n: number, d: number[]) => [n % d[0], Math.floor(n / d[0]) % d[1], Math.floor(n / d[0] / d[1])];
  return { block: split(b, l.grid), thread: split(t, l.block), warp: Math.floor(t / 32), lane: t % 32 };
}
export const threadCount = (l: Launch) => l.grid.concat(l.block).reduce((a, b) => a * b, 1);
export const many = (n: number) => n.toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
export const bytesText = (n: number) => n < 10000 ? `${n} B` : n < 1 << 23 ? `${(n / 1024).toFixed(n % 1024 ? 1 : 0)} KiB` : n < 2 ** 33 ? `${(n / 2 ** 20).toFixed(1)} MiB` : `${(n / 2 ** 30).toFixed(1)} GiB`;
export const addressOf = (b: Buffer, offset: number) => "0x" + (BigInt(b.base) + BigInt(offset)).toString(16);
export const fileName = (path: string) => path.replace(/^.*\//, "");
export const errorText = (e: unknown) => e instanceof Error ? e.message : String(e);
