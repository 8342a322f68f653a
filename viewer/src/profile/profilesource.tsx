// The source of a kernel with its measures as heat, the PTX beside it, and pictures of the chosen
// line's accesses.
import { useMemo, useState } from "preact/hooks";
import { ask } from "../run/api";
import { counted, fileName, many } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { List } from "../parts/list";
import { Button, Empty, Failure } from "../parts/parts";
import { Access, Kernel } from "./profiledata";
import {
  alike,
  LineMeasures,
  lookedAt,
  measures,
  measuresByLine,
  shortCount,
} from "./profilemeasures";
import { WarpPicture } from "./warppicture";

interface Ptx {
  pieces: { line: number; text: string }[];
  lines: [line: number, site: number, file: number, source: number][];
}

const heat = (share: number) =>
  `color-mix(in srgb, var(--store) ${Math.round(8 + 62 * share)}%, transparent)`;
function Heat({ value, most, title }: { value: number; most: number; title: string }) {
  return (
    <span
      class="heat num"
      title={title}
      style={value && most ? { background: heat(value / most) } : undefined}
    >
      {value ? shortCount(value) : ""}
    </span>
  );
}

function PtxBeside({ kernel, line }: { kernel: number; line: number }) {
  const ptx = useAnswer<Ptx>(() => ask("ptx", { kernel }), [kernel]);
  const rows = useMemo(() => {
    let now = 0;
    return (ptx.value?.pieces ?? [])
      .flatMap((p) =>
        p.text.split("\n").map((text, i) => {
          const m = /^\s*\.loc\s+\d+\s+(\d+)/.exec(text);
          if (m) now = Number(m[1]);
          return { n: p.line + i, text, source: now, loc: !!m };
        }),
      )
      .filter((r) => !r.loc);
  }, [ptx.value]);
  if (ptx.error) return <Failure text={ptx.error} />;
  if (ptx.value && !rows.length)
    return <Empty>The PTX of this kernel is not in the run file.</Empty>;
  return (
    <List
      label="PTX"
      className="code ptx"
      count={rows.length}
      height={20}
      focus={rows.findIndex((r) => r.source === line)}
      row={(i) => (
        <div class={`row ${rows[i].source === line ? "here" : ""}`}>
          <span class="at num">{rows[i].n}</span>
          <code>{rows[i].text}</code>
        </div>
      )}
    />
  );
}

interface SourceText {
  path: string;
  text?: string;
  missing?: string;
}
type Measure = (typeof measures)[number];

// Data that all lines share.
interface HeatLines {
  lines: Map<number, LineMeasures>;
  text: string[];
  shown: Measure[];
  chosen: number;
  choose(n: number): void;
  most(key: Measure["key"]): number;
}
function HeatLine({ n, of }: { n: number; of: HeatLines }) {
  const l = of.lines.get(n);
  return (
    <div
      class={`row ${n === of.chosen ? "here" : ""} ${l ? "hot" : ""}`}
      onClick={() => of.choose(n)}
    >
      <span class="at num">{n}</span>
      {of.shown.map((m) => (
        <Heat
          value={l?.[m.key] ?? 0}
          most={of.most(m.key)}
          title={`${m.help}: ${many(l?.[m.key] ?? 0)}`}
        />
      ))}
      <code>{of.text[n - 1] ?? ""}</code>
    </div>
  );
}

function AccessPicture({ a }: { a: Access }) {
  return (
    <div class="access">
      <p>
        <b>
          {a.what} of {a.bytes} bytes, {a.space} memory
        </b>
        : {a.pattern}, {counted(a.requests, "request")}
        {lookedAt(a) < a.requests && (
          <>, estimated from 1 in {Number((a.requests / lookedAt(a)).toPrecision(3))}</>
        )}
      </p>
      <WarpPicture a={a} />
    </div>
  );
}

export function HeatSource({
  k,
  source,
  line,
  choose,
  kernel,
}: {
  k: Kernel;
  source: SourceText;
  line: number;
  choose(n: number): void;
  kernel?: number;
}) {
  const lines = useMemo(() => measuresByLine(k, source.path), [k, source]);
  const text = useMemo(() => (source.text ?? "").split("\n"), [source]);
  const [ptx, setPtx] = useState(false);
  const most = (key: Measure["key"]) => Math.max(0, ...[...lines.values()].map((l) => l[key]));
  const shown = measures.filter((m) => most(m.key) > 0);
  const here = lines.get(line);
  const first = line || Math.min(...lines.keys());
  const of: HeatLines = { lines, text, shown, chosen: line, choose, most };
  return (
    <div class="heatsource">
      <div class="heathead">
        <span class="at" />
        {shown.map((m) => (
          <span class="heat" title={m.help}>
            {m.name}
          </span>
        ))}
        <span class="name">{fileName(source.path)}</span>
        {kernel !== undefined && (
          <Button label="PTX beside the source" pressed={ptx} onClick={() => setPtx(!ptx)}>
            PTX
          </Button>
        )}
      </div>
      {source.missing && <p class="dim">{source.missing}</p>}
      <div class="beside">
        <List
          label="source"
          className="code heatlines"
          count={source.text ? text.length : Math.max(0, ...lines.keys())}
          height={20}
          focus={Number.isFinite(first) ? first - 1 : 0}
          row={(i) => <HeatLine n={i + 1} of={of} />}
        />
        {ptx && kernel !== undefined && <PtxBeside kernel={kernel} line={line} />}
      </div>
      {here && alike(here.accesses).map((a) => <AccessPicture a={a} />)}
    </div>
  );
}
