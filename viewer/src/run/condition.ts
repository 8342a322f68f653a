// Conditions over recorded values: x > 1 || isnan(x), x != b[3] * 2, __float_as_int(x) & 1. x is
// the value to test; everything else is as in the calculator, which evaluates the conditions, for
// many values at a time. "NaN" alone, "> 1", "or" and "and" are understood as people write them.
import { ask, isStatic } from "./api";
import { withRecorded } from "./expression";
import { bytesOf } from "./format";
import { Scalar, scalarBytes } from "./types";

export interface Value {
  scalar: Scalar;
  bits: bigint;
}
// Returns for each value whether it fits.
export type Condition = (values: Value[]) => Promise<boolean[]>;

const OF_A_QUESTION = 400; // values; their text is the longest part of an address
const ours = new Set(["x", "or", "and", "NaN", "nan", "inf", "NAN", "INFINITY", "true", "false"]);
function asC(text: string): string {
  let t = text
    .trim()
    .replace(/\bor\b/g, "||")
    .replace(/\band\b/g, "&&")
    .replace(/\btrue\b/g, "1")
    .replace(/\bfalse\b/g, "0");
  t = t
    .replace(/(^|\|\||&&)\s*(NaN|nan)\s*(?=$|\|\||&&)/g, "$1 isnan(x) ")
    .replace(/(^|\|\||&&)\s*inf\s*(?=$|\|\||&&)/g, "$1 isinf(x) ");
  return t.replace(/(^|\|\||&&|\()\s*(<=|>=|==|!=|<|>)(?![<>])/g, "$1 x $2").trim();
}
// Plain comparisons with numbers give the same result everywhere, so the page evaluates them
// itself. undefined: the condition is more than that.
function plain(text: string): ((x: number) => boolean) | undefined {
  const number = String.raw`(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)`,
    compared = String.raw`x\s*(<=|>=|==|!=|<|>)\s*${number}`,
    side = new RegExp(String.raw`^\s*(?:${compared}|(isnan|isinf)\(x\))\s*$`),
    tests = text.split("||").map((part) => {
      const m = side.exec(part),
        n = Number(m?.[2]);
      if (!m) return undefined;
      if (m[3])
        return (x: number) =>
          m[3] === "isnan" ? Number.isNaN(x) : x === Infinity || x === -Infinity;
      return (x: number) =>
        m[1] === "<"
          ? x < n
          : m[1] === ">"
            ? x > n
            : m[1] === "<="
              ? x <= n
              : m[1] === ">="
                ? x >= n
                : m[1] === "=="
                  ? x === n
                  : x !== n;
    });
  return tests.every(Boolean) ? (x) => tests.some((f) => f!(x)) : undefined;
}
const view = new DataView(new ArrayBuffer(8));
export function numberOf(v: Value): number {
  view.setBigUint64(0, v.bits, true);
  switch (v.scalar) {
    case "i8":
      return view.getInt8(0);
    case "i16":
      return view.getInt16(0, true);
    case "i32":
      return view.getInt32(0, true);
    case "i64":
      return Number(view.getBigInt64(0, true));
    case "f64":
      return view.getFloat64(0, true);
    case "f32":
      return view.getFloat32(0, true);
    case "bf16":
      view.setUint32(0, (Number(v.bits & 0xffffn) << 16) >>> 0, true);
      return view.getFloat32(0, true);
    case "f16": {
      const h = Number(v.bits & 0xffffn),
        e = (h >> 10) & 31,
        f = h & 1023,
        s = h & 0x8000 ? -1 : 1;
      return e === 31
        ? f
          ? NaN
          : s * Infinity
        : e
          ? s * (1024 + f) * 2 ** (e - 25)
          : s * f * 2 ** -24;
    }
    default:
      return Number(v.bits);
  }
}
export function valuesOf(hex: string, parts: { offset: number; scalar: Scalar }[]): Value[] {
  const d = bytesOf(hex),
    out: Value[] = [];
  for (const p of parts) {
    let bits = 0n;
    if (p.offset + scalarBytes[p.scalar] > d.byteLength) continue;
    for (let i = scalarBytes[p.scalar]; i-- > 0;)
      bits = (bits << 8n) | BigInt(d.getUint8(p.offset + i));
    out.push({ scalar: p.scalar, bits });
  }
  return out;
}

// Throws a sentence if it cannot understand the text.
export async function condition(text: string): Promise<Condition> {
  if (!text.trim()) throw new Error("say what to look for: x > 1, NaN");
  const simple = plain(asC(text)),
    known = new Map<string, boolean>();
  // Integers of 64 bits are not numbers of JavaScript.
  const local = (v: Value) =>
    simple && v.scalar !== "i64" && v.scalar !== "u64" && v.scalar !== "ptr"
      ? simple(numberOf(v))
      : undefined;
  if (isStatic() && !simple)
    throw new Error("this page has no server: it compares x with numbers only, as in x > 1 or NaN");
  const c = simple ? asC(text) : (await withRecorded(asC(text), (n) => ours.has(n))).text;
  const asked = async (scalar: Scalar, bits: string[]) => {
    const r = await ask<{ fits?: string; error?: string }>("calc", {
      expression: c,
      type: scalar,
      values: bits.join(","),
    });
    if (r.fits === undefined)
      throw new Error(
        r.error?.replace(
          /there is no such name at: (\w*).*/,
          "$1: nothing of that name is here; x is the value",
        ) ?? "the server does not answer",
      );
    bits.forEach((b, i) => known.set(`${scalar}${b}`, r.fits![i] === "1"));
  };
  return async (values) => {
    const wanted = new Map<Scalar, Set<string>>();
    for (const v of values)
      if (local(v) === undefined && !known.has(`${v.scalar}${v.bits.toString(16)}`)) {
        if (!wanted.has(v.scalar)) wanted.set(v.scalar, new Set());
        wanted.get(v.scalar)!.add(v.bits.toString(16));
      }
    for (const [scalar, set] of wanted) {
      const all = [...set];
      for (let i = 0; i < all.length; i += OF_A_QUESTION)
        await asked(scalar, all.slice(i, i + OF_A_QUESTION));
    }
    return values.map((v) => local(v) ?? known.get(`${v.scalar}${v.bits.toString(16)}`) ?? false);
  };
}
