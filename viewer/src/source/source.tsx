// A source file with the chosen thread's operations beside its lines.
import { useMemo, useState } from "preact/hooks";
import { isStatic, launches, ofThread, Site, sites } from "../run/api";
import { fileName, launchName } from "../run/format";
import { Ops, useOps } from "../parts/hooks";
import { List } from "../parts/list";
import { Given } from "../parts/parameters";
import { Button, editorName, Empty, Failure, linesOf, PaneFrame, useSource } from "../parts/parts";
import { insideComment } from "./sourcecolours";
import { perLine, useCounts } from "./sourcecounts";
import { EditorLink } from "./sourceeditor";
import { HoverValues, opsByLine, SourceLine, SourceLines } from "./sourcelines";
import { PtxColumn } from "./sourceptx";
import { follow, Pane, replace } from "../parts/trail";

type SourcePlace = Extract<Pane, { kind: "source" }>;

// How the compiler got here: functions that were inlined into each other, innermost first.
const useInlined = (ops: Ops, { file, line }: SourcePlace) =>
  useMemo(() => {
    for (const page of ops.pages.values())
      for (const o of page) {
        const s = sites.get(o.site);
        if (s?.places.some((p) => p[0] === file && p[1] === line)) return s;
      }
    return undefined;
  }, [ops.loaded, ops.count, line, file]);

function Inlined({ site, pane, go }: { site: Site; pane: SourcePlace; go(p: Pane): void }) {
  const { launch, thread } = pane;
  const outermost = site.places.length - 1;
  return (
    <div class="inlined">
      {site.places.map((p, i) => (
        <button
          type="button"
          class="link"
          onClick={() =>
            p[0] >= 0 && go({ kind: "source", file: p[0], line: p[1], launch, thread })
          }
        >
          {i ? "inlined at " : "at "}
          {p[3] || (i === outermost ? site.function : "") || "?"}:{p[1]}
        </button>
      ))}
    </div>
  );
}

function SourceSub({ pane, path, busy }: { pane: SourcePlace; path?: string; busy: boolean }) {
  return (
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
      <span class="right" title={path}>
        {path?.replace(/^.*?([^/]+\/[^/]+\/[^/]+)$/, "$1")}
      </span>
    </>
  );
}

// Above the lines: a warning, what the kernel was given, inlined functions.
function SourceNotes({
  pane,
  warning,
  site,
  go,
}: {
  pane: SourcePlace;
  warning?: string;
  site: Site | undefined;
  go(p: Pane): void;
}) {
  const launch = launches.get(pane.launch);
  return (
    <>
      {warning && (
        <div class="help" role="note">
          {warning}
        </div>
      )}
      {pane.launch > 0 && launch && <Given launch={launch} thread={pane.thread} />}
      {site && site.places.length > 1 && <Inlined site={site} pane={pane} go={go} />}
    </>
  );
}

// The operations of the chosen thread and of all threads of its launch in the file.
function useSourceData(pane: SourcePlace) {
  const source = useSource(pane.file);
  const lines = linesOf(source.value);
  const inside = useMemo(() => insideComment(lines), [source.value]);
  const ops = useOps(
    (skip) =>
      pane.launch
        ? ofThread(pane.launch, pane.thread, skip)
        : Promise.resolve({ ops: [], skip: 0, more: false, total: 0 }),
    [pane.launch, pane.thread],
  );
  const { bySite, busy } = useCounts(pane.launch, true);
  const counts = useMemo(() => perLine(bySite, pane.file), [bySite, pane.file]);
  const most = Math.max(1, ...[...counts.values()].map((c) => c.operations));
  const site = useInlined(ops, pane);
  const byLine = opsByLine(ops, pane.file);
  const marks = new Map(source.value?.lines.map((l) => [l[0], l[2]]));
  return { source, bySite, busy, site, shown: { lines, inside, counts, most, byLine, marks } };
}

// The source, and the PTX beside it.
function SourceSides({
  pane,
  index,
  data: { bySite, shown },
  go,
}: {
  pane: SourcePlace;
  index: number;
  data: ReturnType<typeof useSourceData>;
  go(p: Pane): void;
}) {
  const [under, setUnder] = useState(0);
  const kernel = launches.get(pane.launch)?.kernel ?? 0;
  const of: SourceLines = { ...shown, chosen: pane.line, go, hover: setUnder };
  return (
    <div class={pane.ptx ? "sides" : "sides one"}>
      <List
        label="source"
        className="code"
        count={shown.lines.length}
        height={20}
        focus={pane.line - 1}
        row={(i) => <SourceLine i={i} of={of} />}
      />
      <HoverValues line={under} thread={pane.thread} ops={shown.byLine.get(under) ?? []} />
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
  );
}

export function SourcePane({
  pane,
  index,
  active,
}: {
  pane: SourcePlace;
  index: number;
  active: boolean;
}) {
  const data = useSourceData(pane);
  const { source } = data;
  const [editor, setEditor] = useState(editorName());
  const kernel = launches.get(pane.launch)?.kernel ?? 0;
  const whole = source.value?.whole;
  const go = (p: Pane) => follow(index, p);
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
          {whole && (
            <EditorLink path={whole} line={pane.line} chosen={editor} setChosen={setEditor} />
          )}
        </>
      }
      sub={<SourceSub pane={pane} path={source.value?.path} busy={data.busy} />}
    >
      <SourceNotes pane={pane} warning={source.value?.warning} site={data.site} go={go} />
      {source.error ? (
        <Failure text={source.error} />
      ) : !source.value ? (
        <Empty>reading…</Empty>
      ) : source.value.missing ? (
        <Failure text={`${source.value.path}: ${source.value.missing}`} />
      ) : (
        <SourceSides pane={pane} index={index} data={data} go={go} />
      )}
    </PaneFrame>
  );
}
