// Conditions over recorded values: x > 1 || isnan(x), x != b[3] * 2. x is the value that is looked at; names of elements are their recorded values at the cursor of time,
// as in the calculator. Numbers are doubles.
import { placeNamed, recordedNumber } from "./expression";

export type Condition = (x: number) => boolean;
type Node = (x: number) => number;
const functions: Record<string, (...v: number[]) => number> = { isnan: v => Number(Number.isNaN(v)), isinf: v => Number(v === Infinity || v === -Infinity), isfinite: v => Number(Number.isFinite(v)), abs: Math.abs, fabs: Math.abs, fabsf: Math.abs, min: Math.min, max: Math.max, fminf: Math.min, fmaxf: Math.max,
  sqrt: Math.sqrt, sqrtf: Math.sqrt, floor: Math.floor, ceil: Math.ceil, round: Math.round, exp: Math.exp, log: Math.log, int: Math.trunc };
const constants: Record<string, number> = { nan: NaN, inf: Infinity, true: 1, false: 0, INT_MAX: 2147483647, INT_MIN: -2147483648, pi: Math.PI };
const levels: Record<string, (a: number, b: number) => number>[] = [{ "||": (a, b) => Number(!!a || !!b), or: (a, b) => Number(!!a || !!b) }, { "&&": (a, b) => Number(!!a && !!b), and: (a, b) => Number(!!a && !!b) }, { "==": (a, b) => Number(a === b), "!=": (a, b) => Number(a !== b) },
  { "<=": (a, b) => Number(a <= b), ">=": (a, b) => Number(a >= b), "<": (a, b) => Number(a < b), ">": (a, b) => Number(a > b) }, { "+": (a, b) => a + b, "-": (a, b) => a - b }, { "*": (a, b) => a * b, "/": (a, b) => a / b, "%": (a, b) => a % b }];

// Throws a sentence where it cannot be understood. "NaN" alone, "> 1", "inf" are understood as people write them.
export async function condition(text: string): Promise<Condition> {
  let t = text.trim();
  t = t.replace(/(^|\|\||&&|\bor\b|\band\b)\s*(NaN|nan)\s*(?=$|\|\||&&|\bor\b|\band\b)/g, "$1 isnan(x) ").replace(/(^|\|\||&&|\bor\b|\band\b)\s*(inf)\s*(?=$|\|\||&&|\bor\b|\band\b)/g, "$1 isinf(x) ");
  t = t.replace(/(^|\|\||&&|\bor\b|\band\b|\()\s*(<=|>=|==|!=|<|>)/g, "$1 x $2");
  const tokens = [...t.matchAll(/\s*(?:(0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)[fFuUlL]*|([A-Za-z_]\w*(?:-\d+(?=\[))?(?:\[\w+\]|\.\w+)*)|(\|\||&&|==|!=|<=|>=|[-+*/%<>()!,]))/gy)];
  if (tokens.reduce((n, m) => n + m[0].length, 0) < t.trimEnd().length) throw new Error(`what is "${t.slice(tokens.reduce((n, m) => n + m[0].length, 0)).trim()}"?`);
  if (!tokens.length) throw new Error("say what to look for: x > 1, NaN");
  const values = new Map<string, number>();
  for (const m of tokens) if (m[2] && m[2] !== "x" && !functions[m[2]] && !(m[2] in constants) && m[2] !== "or" && m[2] !== "and") {
    const p = placeNamed(m[2]);
    if (!p) throw new Error(`${m[2]}: nothing of that name is here; x is the value`);
    values.set(m[2], await recordedNumber(p));
  }
  let at = 0;
  const peek = () => tokens[at]?.[3] ?? (tokens[at]?.[2] === "or" || tokens[at]?.[2] === "and" ? tokens[at][2] : ""), need = (s: string) => { if (peek() !== s) throw new Error(`"${s}" is missing`); at++; };
  function unary(): Node {
    const m = tokens[at];
    if (!m) throw new Error("something is missing at the end");
    at++;
    if (m[3] === "-") { const a = unary(); return x => -a(x); }
    if (m[3] === "!") { const a = unary(); return x => Number(!a(x)); }
    if (m[3] === "(") { const a = binary(0); need(")"); return a; }
    if (m[1]) { const v = Number(m[1]); return () => v; }
    if (m[2] && functions[m[2]]) {
      const f = functions[m[2]], args: Node[] = [];
      need("(");
      do args.push(binary(0)); while (peek() === "," && ++at);
      need(")");
      return x => f(...args.map(a => a(x)));
    }
    if (m[2] === "x") return x => x;
    if (m[2]) { const v = m[2] in constants ? constants[m[2]] : values.get(m[2])!; return () => v; }
    throw new Error(`"${m[0].trim()}" is not expected here`);
  }
  function binary(level: number): Node {
    if (level === levels.length) return unary();
    let a = binary(level + 1);
    for (let f; (f = levels[level][peek()]);) { at++; const left = a, right = binary(level + 1), g = f; a = x => g(left(x), right(x)); }
    return a;
  }
  const all = binary(0);
  if (at < tokens.length) throw new Error(`"${tokens[at][0].trim()}" is not expected here`);
  return x => !!all(x);
}
// Numbers in the text of a value: "1.5", "NaN", "+inf", "(1, 2)"; of several each is tried.
export function numbersIn(text: string): number[] {
  return (text.match(/NaN|[+-]inf|-?(?:0x[0-9a-fA-F]+|\d+\.?\d*(?:e[-+]?\d+)?)|true|false/g) ?? []).map(t => t === "NaN" ? NaN : t === "+inf" ? Infinity : t === "-inf" ? -Infinity : t === "true" ? 1 : t === "false" ? 0 : Number(t));
}
