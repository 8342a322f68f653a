// Colours of C++ and CUDA: comments, texts, directives, keywords, numbers.

const keywords =
  "alignas auto bool break case char class const constexpr continue default do double else enum " +
  "extern float for goto if inline int long namespace nullptr operator return short signed " +
  "sizeof static struct switch template this true false typedef typename union unsigned using " +
  "virtual void volatile while __global__ __device__ __host__ __shared__ __constant__ " +
  "__restrict__ __syncthreads size_t u?int(?:8|16|32|64)_t float[234] u?int[234] dim3 " +
  "threadIdx blockIdx blockDim gridDim";
// Groups: comment, text, directive, keyword, number.
const words = new RegExp(
  [
    String.raw`(\/\/.*$|\/\*.*?(?:\*\/|$))`,
    String.raw`("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)`,
    String.raw`(^\s*#\s*\w+)`,
    String.raw`\b(${keywords.replaceAll(" ", "|")})\b`,
    String.raw`\b(0[xX][0-9a-fA-F]+[uUlL]*|\d[\d.]*(?:[eE][-+]?\d+)?[fFuUlL]*)\b`,
  ].join("|"),
  "g",
);
// Comments over several lines: whether a line begins inside of one.
export function insideComment(lines: string[]): boolean[] {
  const out: boolean[] = [];
  let inside = false;
  for (const l of lines) {
    out.push(inside);
    for (let i = 0; i < l.length; i++) {
      if (inside) {
        if (l.startsWith("*/", i)) ((inside = false), i++);
      } else if (l.startsWith("//", i)) break;
      else if (l.startsWith("/*", i)) ((inside = true), i++);
      else if (l[i] === '"') {
        for (i++; i < l.length && l[i] !== '"'; i++) if (l[i] === "\\") i++;
      }
    }
  }
  return out;
}
export function coloured(line: string, inside: boolean) {
  const out = [];
  let at = 0;
  if (inside) {
    const end = line.indexOf("*/");
    if (end < 0) return <span class="s-comment">{line}</span>;
    out.push(<span class="s-comment">{line.slice(0, end + 2)}</span>);
    at = end + 2;
  }
  words.lastIndex = at;
  for (let m; (m = words.exec(line));) {
    if (m.index > at) out.push(line.slice(at, m.index));
    out.push(
      <span
        class={
          m[1] ? "s-comment" : m[2] ? "s-string" : m[3] ? "s-macro" : m[4] ? "s-word" : "s-number"
        }
      >
        {m[0]}
      </span>,
    );
    at = m.index + m[0].length;
    if (!m[0].length) break;
  }
  out.push(line.slice(at));
  return <>{out}</>;
}
