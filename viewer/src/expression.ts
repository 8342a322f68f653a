// Recorded values in expressions: a[4013], p[301].vel.z, counter. They become constants of the same type and bits before the server calculates.
import { askBytes, buffers } from "./api";
import { bufferName, partsText } from "./format";
import { timeStep } from "./time";
import { Leaf, bufferType, leafAt, leaves } from "./types";

export interface Place { buffer: number; offset: number; leaf: Leaf; name: string }
// "a[4013]", "tile[3][4].x": the scalar of a buffer it names.
export function placeNamed(text: string): Place | undefined {
  const m = /^([A-Za-z_][\w-]*(?:\[[A-Za-z_]\w*\])?(?:-\d+)?)((?:\[\d+\])*)((?:\.\w+|\[\d+\])*)$/.exec(text.trim());
  if (!m) return undefined;
  const b = [...buffers.values()].find(x => bufferName(x) === m[1]);
  if (!b) return undefined;
  const t = bufferType(b.id), dims = (b.dims ?? "").split(",").map(Number).filter(n => n > 0), index = [...m[2].matchAll(/\[(\d+)\]/g)].map(x => Number(x[1]));
  if (!t.known) return undefined;
  let element = 0, used = 0;
  if (dims.length > 1 && index.length >= dims.length) { for (let i = 0; i < dims.length; i++) element = element * dims[i] + index[i]; used = dims.length; }
  else if (index.length) { element = index[0]; used = 1; }
  const path = index.slice(used).map(i => `[${i}]`).join("") + m[3], leaf = leaves(t, 4096).find(l => l.path === path) ?? (path === "" ? leafAt(t, 0) : undefined);
  const offset = element * t.bytes + (leaf?.offset ?? 0);
  return leaf && (path !== "" || leaf.path === "") && offset + leaf.bytes <= b.size ? { buffer: b.id, offset, leaf, name: text.trim() } : undefined;
}

const constant: Record<string, (bits: bigint) => string> = {
  f32: b => `__int_as_float(0x${b.toString(16)})`, f64: b => `__longlong_as_double(0x${b.toString(16)}ll)`, f16: b => `__ushort_as_half(0x${b.toString(16)})`, bf16: b => `__ushort_as_bfloat16(0x${b.toString(16)})`,
  i8: b => String(BigInt.asIntN(8, b)), i16: b => String(BigInt.asIntN(16, b)), u8: String, u16: String, bool: String, i32: b => `((int)${BigInt.asIntN(32, b)})`, u32: b => `${b}u`, i64: b => `((long long)${BigInt.asIntN(64, b)}ll)`, u64: b => `${b}ull`, ptr: b => `${b}ull`,
};
export async function recordedValue(p: Place, step = timeStep()): Promise<{ text: string; bits: bigint } | undefined> {
  const a = await askBytes("contents", { allocation: p.buffer, step, offset: p.offset, bytes: p.leaf.bytes }), known = new Uint8Array(a, p.leaf.bytes, p.leaf.bytes), d = new DataView(a, 0, p.leaf.bytes);
  if (known.some(k => k !== 1)) return undefined;
  let bits = 0n;
  for (let i = p.leaf.bytes; i-- > 0;) bits = bits << 8n | BigInt(d.getUint8(i));
  return { text: partsText(d, { name: "", bytes: p.leaf.bytes, known: true, text: "", parts: [{ path: "", offset: 0, scalar: p.leaf.scalar, dims: [], of: "" }] }, 0), bits };
}
export async function withRecorded(text: string): Promise<{ text: string; used: string[] }> {
  const used: string[] = [];
  let out = "", at = 0;
  for (const m of text.matchAll(/[A-Za-z_][\w]*(?:-\d+(?=\[))?(?:\[\w+\]|\.\w+)*/g)) {
    const next = text.slice(m.index! + m[0].length).trimStart()[0], p = next === "(" ? undefined : placeNamed(m[0]);
    if (!p) continue;
    const v = await recordedValue(p);
    if (!v) throw new Error(`${m[0]} was not written, or by something that was not recorded`);
    out += text.slice(at, m.index!) + constant[p.leaf.scalar](v.bits);
    at = m.index! + m[0].length;
    used.push(`${m[0]} = ${v.text}`);
  }
  return { text: out + text.slice(at), used };
}

// The number that an element holds at the cursor of time.
export async function recordedNumber(p: Place): Promise<number> {
  const v = await recordedValue(p);
  if (!v) throw new Error(`${p.name} was not written, or by something that was not recorded`);
  const n = v.text === "+inf" ? Infinity : v.text === "-inf" ? -Infinity : Number(v.text);
  return v.text !== "NaN" && Number.isNaN(n) ? Number(v.bits) : n;
}
