// A source file with what the chosen thread did beside its lines.
import { useMemo, useState } from "preact/hooks";
import { Kind, Op, ask, isStatic, launches, ofThread, sites } from "./api";
import { counted, fileName, launchName, many, opElement, opValue } from "./format";
import { useAnswer, useOps } from "./hooks";
import { List } from "./list";
import {
  Button,
  Empty,
  Failure,
  Icon,
  PaneFrame,
  chooseEditor,
  editorLink,
  editorName,
  editors,
  keepOwnEditor,
  linesOf,
  ownEditor,
  useSource,
} from "./parts";
import { Given } from "./parameters";
import { memoryPane } from "./thread";
import { Pane, follow, replace } from "./trail";

// What all threads of a launch did in each line: operations, warps' records, those of them with lanes missing.
interface LineCount {
  operations: number;
  records: number;
  divergent: number;
}
function useCounts(launch: number, wanted: boolean) {
  const j = useAnswer<{ counts: [number, number, number, number][] }>(
    () => (wanted && launch && !isStatic() ? ask("counts", { launch }) : undefined),
    [launch, wanted],
  );
  const bySite = useMemo(() => new Map((j.value?.counts ?? []).map((c) => [c[0], c])), [j.value]);
  return { bySite, busy: wanted && !!launch && !j.value && !j.error };
}
function perLine(
  bySite: Map<number, [number, number, number, number]>,
  file: number,
): Map<number, LineCount> {
  const out = new Map<number, LineCount>();
  for (const [site, c] of bySite)
    for (const line of new Set(
      (sites.get(site)?.places ?? []).filter((p) => p[0] === file).map((p) => p[1]),
    )) {
      const l = out.get(line) ?? { operations: 0, records: 0, divergent: 0 };
      l.operations += c[1];
      l.records += c[2];
      l.divergent += c[3];
      out.set(line, l);
    }
  return out;
}
const short = (n: number) =>
  n < 10000
    ? String(n)
    : n < 1e6
      ? `${(n / 1e3).toFixed(n < 1e5 ? 1 : 0)}k`
      : n < 1e9
        ? `${(n / 1e6).toFixed(n < 1e8 ? 1 : 0)}M`
        : `${(n / 1e9).toFixed(1)}G`;

interface Ptx {
  pieces: { line: number; text: string }[];
  lines: [line: number, site: number, file: number, source: number][];
}
function PtxColumn({
  kernel,
  file,
  line,
  bySite,
  choose,
}: {
  kernel: number;
  file: number;
  line: number;
  bySite: Map<number, [number, number, number, number]>;
  choose(line: number): void;
}) {
  const ptx = useAnswer<Ptx>(() => ask("ptx", { kernel }), [kernel]);
  const rows = useMemo(
    () =>
      (ptx.value?.pieces ?? []).flatMap((p) =>
        p.text.split("\n").map((text, i) => ({ n: p.line + i, text })),
      ),
    [ptx.value],
  );
  const siteOf = useMemo(
    () => new Map((ptx.value?.lines ?? []).map((l) => [l[0], l])),
    [ptx.value],
  );
  // .loc says which source line the following instructions are of.
  const sourceOf = useMemo(() => {
    let now = 0;
    return rows.map((r) => {
      const m = /^\s*\.loc\s+\d+\s+(\d+)/.exec(r.text);
      if (m) now = Number(m[1]);
      return now;
    });
  }, [rows]);
  const first = rows.findIndex((r, i) => sourceOf[i] === line && siteOf.has(r.n));
  if (ptx.error) return <Failure text={ptx.error} />;
  if (ptx.value && !rows.length)
    return (
      <Empty>
        The PTX of this kernel is not in the run file: it was recorded by an older version, or its
        module has several files.
      </Empty>
    );
  return (
    <List
      label="PTX"
      className="code ptx"
      count={rows.length}
      height={20}
      focus={first >= 0 ? first : sourceOf.indexOf(line)}
      row={(i) => {
        const s = siteOf.get(rows[i].n),
          c =
            s &&
            [...bySite.values()].find(
              (x) => x[0] === s[1] || sites.get(x[0])?.ptx_line === rows[i].n,
            );
        return (
          <div
            class={`codeline ${sourceOf[i] === line ? "selected" : ""}`}
            onClick={() => {
              if (sourceOf[i] && (!s || s[2] === file)) choose(sourceOf[i]);
            }}
          >
            <span class="gutter">{rows[i].n}</span>
            <span class="tally">{c ? short(c[1]) : ""}</span>
            <code>{rows[i].text.replace(/\t/g, "  ")}</code>
          </div>
        );
      }}
    />
  );
}

const words =
  /(\/\/.*$|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(^\s*#\s*\w+)|\b(alignas|auto|bool|break|case|char|class|const|constexpr|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|namespace|nullptr|operator|return|short|signed|sizeof|static|struct|switch|template|this|true|false|typedef|typename|union|unsigned|using|virtual|void|volatile|while|__global__|__device__|__host__|__shared__|__constant__|__restrict__|__syncthreads|size_t|u?int(?:8|16|32|64)_t|float[234]|u?int[234]|dim3|threadIdx|blockIdx|blockDim|gridDim)\b|\b(0[xX][0-9a-fA-F]+[uUlL]*|\d[\d.]*(?:[eE][-+]?\d+)?[fFuUlL]*)\b/g;
// Comments over several lines: whether a line begins inside of one.
function insideComment(lines: string[]): boolean[] {
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

export function SourcePane({
  pane,
  index,
  active,
}: {
  pane: Extract<Pane, { kind: "source" }>;
  index: number;
  active: boolean;
}) {
  const source = useSource(pane.file),
    lines = linesOf(source.value);
  const inside = useMemo(() => insideComment(lines), [source.value]);
  const ops = useOps(
    (skip) =>
      pane.launch
        ? ofThread(pane.launch, pane.thread, skip)
        : Promise.resolve({ ops: [], skip: 0, more: false, total: 0 }),
    [pane.launch, pane.thread],
  );
  const byLine = new Map<number, Op[]>();
  for (const page of ops.pages.values())
    for (const o of page)
      for (const p of sites.get(o.site)?.places ?? []) {
        if (p[0] !== pane.file) continue;
        const list = byLine.get(p[1]) ?? [];
        if (list[list.length - 1] !== o) list.push(o);
        byLine.set(p[1], list);
      }
  // What the thread did in the line under the mouse: every time, not only the first.
  const [under, setUnder] = useState(0),
    seen = byLine.get(under) ?? [];
  const marks = new Map(source.value?.lines.map((l) => [l[0], l[2]]));
  const editor = source.value?.whole && editorLink(source.value.whole, pane.line),
    [chosen, setChosen] = useState(editorName());
  const { bySite, busy } = useCounts(pane.launch, true),
    counts = useMemo(() => perLine(bySite, pane.file), [bySite, pane.file]),
    most = Math.max(1, ...[...counts.values()].map((c) => c.operations)),
    kernel = launches.get(pane.launch)?.kernel ?? 0;
  // How the compiler got here: functions that were inlined into each other, innermost first.
  const chain = useMemo(() => {
    for (const page of ops.pages.values())
      for (const o of page) {
        const s = sites.get(o.site);
        if (s?.places.some((p) => p[0] === pane.file && p[1] === pane.line)) return s;
      }
    return undefined;
  }, [ops.loaded, ops.count, pane.line, pane.file]);

  return (
    <PaneFrame
      index={index}
      kind="source"
      active={active}
      title={
        <>
          <span class="what">source</span> {source.value ? fileName(source.value.path) : "…"}
        </>
      }
      tools={
        <>
          {kernel > 0 && !isStatic() && (
            <Button
              label="PTX beside the source (x)"
              pressed={!!pane.ptx}
              onClick={() => replace(index, { ...pane, ptx: !pane.ptx }, false)}
            >
              PTX
            </Button>
          )}
          {editor && (
            <>
              <select
                class="editors"
                aria-label="the editor that links open"
                value={chosen}
                onChange={(e) => {
                  const name = e.currentTarget.value;
                  if (name === "own") {
                    const link = prompt(
                      "The link that opens your editor; {path} and {line} are filled in",
                      ownEditor(),
                    );
                    if (
                      !link ||
                      !/^[a-z][a-z0-9+.-]*:/i.test(link) ||
                      /^(javascript|data|vbscript):/i.test(link)
                    ) {
                      e.currentTarget.value = chosen;
                      return;
                    }
                    keepOwnEditor(link);
                  }
                  chooseEditor(name);
                  setChosen(name);
                }}
              >
                {Object.entries(editors).map(([k, [name]]) => (
                  <option value={k}>{name}</option>
                ))}
              </select>
              <a
                class="button"
                href={editor}
                title={`Open the editor at this line (${editors[chosen][0]})`}
              >
                <Icon name="edit" />
                editor
              </a>
            </>
          )}
        </>
      }
      sub={
        <>
          {pane.launch ? (
            <>
              beside the lines: thread {pane.thread}; counts: all threads of{" "}
              {launchName(launches.get(pane.launch), pane.launch)}
              {busy ? " …" : ""}
            </>
          ) : (
            "no thread is chosen"
          )}
          <span class="right" title={source.value?.path}>
            {source.value?.path.replace(/^.*?([^/]+\/[^/]+\/[^/]+)$/, "$1")}
          </span>
        </>
      }
    >
      {source.value?.warning && (
        <div class="help" role="note">
          {source.value.warning}
        </div>
      )}
      {pane.launch > 0 && launches.get(pane.launch) && (
        <Given launch={launches.get(pane.launch)!} thread={pane.thread} />
      )}
      {chain && chain.places.length > 1 && (
        <div class="inlined">
          {chain.places.map((p, i) => (
            <button
              type="button"
              class="link"
              onClick={() =>
                p[0] >= 0 &&
                follow(index, {
                  kind: "source",
                  file: p[0],
                  line: p[1],
                  launch: pane.launch,
                  thread: pane.thread,
                })
              }
            >
              {i ? "inlined at " : "at "}
              {p[3] || (i === chain.places.length - 1 ? chain.function : "") || "?"}:{p[1]}
            </button>
          ))}
        </div>
      )}
      {source.error ? (
        <Failure text={source.error} />
      ) : !source.value ? (
        <Empty>reading…</Empty>
      ) : source.value.missing ? (
        <Failure text={`${source.value.path}: ${source.value.missing}`} />
      ) : (
        <div class={pane.ptx ? "sides" : "sides one"}>
          <List
            label="source"
            className="code"
            count={lines.length}
            height={20}
            focus={pane.line - 1}
            row={(i) => {
              const here = byLine.get(i + 1) ?? [],
                c = counts.get(i + 1);
              return (
                <div
                  class={`codeline ${i + 1 === pane.line ? "selected" : ""}`}
                  onMouseEnter={() => setUnder(i + 1)}
                  onMouseLeave={() => setUnder(0)}
                >
                  <span
                    class={`gutter ${marks.get(i + 1) ? "bad" : marks.has(i + 1) ? "site" : ""}`}
                  >
                    {i + 1}
                  </span>
                  <span
                    class="tally"
                    title={
                      c
                        ? `${many(c.operations)} operations of all threads${c.divergent ? `; in ${Math.round((100 * c.divergent) / c.records)} % of the warps' executions some lanes did not take part` : ""}`
                        : undefined
                    }
                    style={
                      c
                        ? ({ "--share": `${Math.round((100 * c.operations) / most)}%` } as any)
                        : undefined
                    }
                  >
                    {c ? short(c.operations) : ""}
                    {c && c.divergent > 0 && <i class="diverges" />}
                  </span>
                  <code>{coloured(lines[i].replace(/\t/g, "    "), inside[i])}</code>
                  {here.length > 0 && (
                    <span class="did">
                      <span class="chips">
                        {here.slice(0, 3).map((o) => (
                          <button
                            type="button"
                            class={`seen k${o.kind}`}
                            onClick={() => {
                              const p = memoryPane(o);
                              if (p) follow(index, p);
                            }}
                          >
                            {o.kind === Kind.Sync ? (
                              "sync"
                            ) : (
                              <>
                                {opElement(o)} {o.kind === Kind.Load ? "→" : "="} {opValue(o)}
                              </>
                            )}
                          </button>
                        ))}
                      </span>
                      {here.length > 1 && (
                        <span
                          class="dim"
                          title={`${counted(here.length, "operation")} of the thread in this line: the mouse over the line shows them`}
                        >
                          {many(here.length)}×
                        </span>
                      )}
                    </span>
                  )}
                </div>
              );
            }}
          />
          {seen.length > 0 && (
            <div class="hovervalues" role="status">
              <b>
                line {under}, thread {pane.thread}
              </b>
              {seen.slice(0, 12).map((o) => (
                <span>
                  {o.kind === Kind.Sync
                    ? "sync"
                    : `${opElement(o)} ${o.kind === Kind.Load ? "→" : "="} ${opValue(o)}`}
                </span>
              ))}
              {seen.length > 12 && <span class="dim">and {many(seen.length - 12)} more</span>}
            </div>
          )}
          {pane.ptx && kernel > 0 && (
            <PtxColumn
              kernel={kernel}
              file={pane.file}
              line={pane.line}
              bySite={bySite}
              choose={(line) => replace(index, { ...pane, line }, false)}
            />
          )}
        </div>
      )}
    </PaneFrame>
  );
}
