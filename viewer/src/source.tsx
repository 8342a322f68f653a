// A source file with what the chosen thread did beside its lines.
import { useMemo } from "preact/hooks";
import { Kind, Op, ofThread, sites } from "./api";
import { fileName, opElement, opValue } from "./format";
import { useOps } from "./hooks";
import { List } from "./list";
import { Empty, Failure, Icon, PaneFrame, linesOf, useSource } from "./parts";
import { Pane, follow } from "./trail";

const words = /(\/\/.*$|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(^\s*#\s*\w+)|\b(alignas|auto|bool|break|case|char|class|const|constexpr|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|namespace|nullptr|operator|return|short|signed|sizeof|static|struct|switch|template|this|true|false|typedef|typename|union|unsigned|using|virtual|void|volatile|while|__global__|__device__|__host__|__shared__|__constant__|__restrict__|__syncthreads|size_t|u?int(?:8|16|32|64)_t|float[234]|u?int[234]|dim3|threadIdx|blockIdx|blockDim|gridDim)\b|\b(0[xX][0-9a-fA-F]+[uUlL]*|\d[\d.]*(?:[eE][-+]?\d+)?[fFuUlL]*)\b/g;
// Comments over several lines: whether a line begins inside of one.
function insideComment(lines: string[]): boolean[] {
  const out: boolean[] = [];
  let inside = false;
  for (const l of lines) {
    out.push(inside);
    for (let i = 0; i < l.length; i++) {
      if (inside) { if (l.startsWith("*/", i)) inside = false, i++; }
      else if (l.startsWith("//", i)) break;
      else if (l.startsWith("/*", i)) inside = true, i++;
      else if (l[i] === '"') { for (i++; i < l.length && l[i] !== '"'; i++) if (l[i] === "\\") i++; }
    }
  }
  return out;
}
function coloured(line: string, inside: boolean) {
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
    out.push(<span class={m[1] ? "s-comment" : m[2] ? "s-string" : m[3] ? "s-macro" : m[4] ? "s-word" : "s-number"}>{m[0]}</span>);
    at = m.index + m[0].length;
    if (!m[0].length) break;
  }
  out.push(line.slice(at));
  return <>{out}</>;
}

export function SourcePane({ pane, index, active }: { pane: Extract<Pane, { kind: "source" }>; index: number; active: boolean }) {
  const source = useSource(pane.file), lines = linesOf(source.value);
  const inside = useMemo(() => insideComment(lines), [source.value]);
  const ops = useOps((skip) => pane.launch ? ofThread(pane.launch, pane.thread, skip) : Promise.resolve({ ops: [], skip: 0, more: false, total: 0 }), [pane.launch, pane.thread]);
  const byLine = new Map<number, Op[]>();
  for (const page of ops.pages.values()) for (const o of page) for (const p of sites.get(o.site)?.places ?? []) {
    if (p[0] !== pane.file) continue;
    const list = byLine.get(p[1]) ?? [];
    if (list[list.length - 1] !== o) list.push(o);
    byLine.set(p[1], list);
  }
  const marks = new Map(source.value?.lines.map(l => [l[0], l[2]]));
  const editor = source.value?.whole && `vscode://file${source.value.whole}:${pane.line}`;
  // How the compiler got here: functions that were inlined into each other, innermost first.
  const chain = useMemo(() => {
    for (const page of ops.pages.values()) for (const o of page) { const s = sites.get(o.site); if (s?.places.some(p => p[0] === pane.file && p[1] === pane.line)) return s; }
    return undefined;
  }, [ops.loaded, ops.count, pane.line, pane.file]);

  return <PaneFrame index={index} kind="source" active={active} title={<><span class="what">source</span> {source.value ? fileName(source.value.path) : "…"}</>}
    tools={editor && <a class="button" href={editor} title="Open the editor at this line (Visual Studio Code)"><Icon name="edit" />editor</a>}
    sub={<>{pane.launch ? <>beside the lines: thread {pane.thread}</> : "no thread is chosen"}<span class="right" title={source.value?.path}>{source.value?.path.replace(/^.*?([^/]+\/[^/]+\/[^/]+)$/, "$1")}</span></>}>
    {source.value?.warning && <div class="help" role="note">{source.value.warning}</div>}
    {chain && chain.places.length > 1 && <div class="inlined">{chain.places.map((p, i) => <button type="button" class="link" onClick={() => p[0] >= 0 && follow(index, { kind: "source", file: p[0], line: p[1], launch: pane.launch, thread: pane.thread })}>
      {i ? "inlined at " : "at "}{p[3] || (i === chain.places.length - 1 ? chain.function : "") || "?"}:{p[1]}</button>)}</div>}
    {source.error ? <Failure text={source.error} /> : !source.value ? <Empty>reading…</Empty> : source.value.missing ? <Failure text={`${source.value.path}: ${source.value.missing}`} /> :
      <List label="source" className="code" count={lines.length} height={20} focus={pane.line - 1} row={i => {
        const here = byLine.get(i + 1) ?? [];
        return <div class={`codeline ${i + 1 === pane.line ? "selected" : ""}`}>
          <span class={`gutter ${marks.get(i + 1) ? "bad" : marks.has(i + 1) ? "site" : ""}`}>{i + 1}</span>
          <code>{coloured(lines[i].replace(/\t/g, "    "), inside[i])}</code>
          {here.length > 0 && <span class="did">{here.slice(0, 3).map(o => <button type="button" class={`seen k${o.kind}`} onClick={() => o.buffer && follow(index, { kind: "element", buffer: o.buffer, offset: o.offset, bytes: o.bytes, at: { record: o.record, lane: o.lane } })}>
            {o.kind === Kind.Sync ? "sync" : <>{opElement(o)} {o.kind === Kind.Load ? "→" : "="} {opValue(o)}</>}</button>)}{here.length > 3 && <span class="dim">+{here.length - 3}</span>}</span>}
        </div>;
      }} />}
  </PaneFrame>;
}
