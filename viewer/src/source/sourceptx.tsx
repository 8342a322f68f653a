// The PTX of a kernel beside its source.
import { useMemo } from "preact/hooks";
import { ask, sites } from "../run/api";
import { useAnswer } from "../parts/hooks";
import { List } from "../parts/list";
import { Empty, Failure } from "../parts/parts";
import { short } from "./sourcecounts";

interface Ptx {
  pieces: { line: number; text: string }[];
  lines: [line: number, site: number, file: number, source: number][];
}
export function PtxColumn({
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
  // .loc names the source line of the instructions after it.
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
