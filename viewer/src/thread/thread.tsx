// A thread: its operations in order, where each value came from, and its peers.
import { useEffect, useState } from "preact/hooks";
import { Finding, isStatic, launches, ofThread, PAGE } from "../run/api";
import { FindOperation } from "../parts/find";
import {
  classes,
  coordinates,
  launchName,
  many,
  opElement,
  threadCount,
  triple,
} from "../run/format";
import { useColumns } from "../parts/columns";
import { List } from "../parts/list";
import {
  Button,
  Empty,
  Failure,
  FindingCard,
  LaunchLink,
  linesOf,
  mainPlace,
  PaneFrame,
  useSource,
} from "../parts/parts";
import { Filter, LONG } from "./threadfilter";
import { useThreadFindings } from "./threadfindings";
import { ThreadOps, ThreadPlace, useConflicts, useOrigins, useThreadOps } from "./threadops";
import { ThreadRow, ThreadRows, valueText } from "./threadrow";
import { follow, Pane, replace } from "../parts/trail";

export const ROW = 26;

const threadTotal = (launch: number) => {
  const l = launches.get(launch);
  return l ? threadCount(l) : Infinity;
};

function ThreadTools({
  pane,
  index,
  of: { ops, firstOp, file },
  selected,
}: {
  pane: ThreadPlace;
  index: number;
  of: ThreadOps;
  selected: number;
}) {
  const { launch, thread } = pane;
  const total = threadTotal(launch);
  const go = (p: Pane) => follow(index, p);
  const beside = (thread: number) => replace(index, { kind: "thread", launch, thread });
  const chosen = () => ops.get(Math.max(0, selected)) ?? firstOp!;
  const compare = () => {
    const otherThread = thread + 1 < total ? thread + 1 : Math.max(0, thread - 1);
    go({ kind: "versus", launch, thread, otherLaunch: launch, otherThread, run: 0 });
  };
  return (
    <>
      <Button
        icon="left"
        label="The thread before ([)"
        disabled={thread === 0}
        onClick={() => beside(thread - 1)}
      />
      <Button
        icon="right"
        label="The next thread (])"
        disabled={thread + 1 >= total}
        onClick={() => beside(thread + 1)}
      />
      {!isStatic() && (
        <Button
          icon="tree"
          label="Where this came from, as a tree (o)"
          disabled={!firstOp}
          onClick={() => go({ kind: "slice", record: chosen().record, lane: chosen().lane })}
        />
      )}
      {!isStatic() && (
        <Button icon="twins" label="Compare with another thread (v)" onClick={compare} />
      )}
      <Button
        icon="source"
        label="Source, with this thread's operations (s)"
        disabled={file === undefined || file < 0}
        onClick={() => {
          const place = mainPlace(chosen().site)!;
          go({ kind: "source", file: place[0], line: place[1], launch, thread });
        }}
      />
    </>
  );
}

function ThreadSub({
  pane,
  of: { ops, filtered, all },
  go,
}: {
  pane: ThreadPlace;
  of: ThreadOps;
  go(p: Pane): void;
}) {
  const l = launches.get(pane.launch);
  const at = l && coordinates(l, pane.thread);
  return (
    <>
      <LaunchLink id={pane.launch} onClick={() => go({ kind: "launch", launch: pane.launch })} />
      {at && (
        <span>
          {" "}
          · block {triple(at.block)} thread {triple(at.thread)} · lane {at.lane}
        </span>
      )}
      <span class="right">
        {ops.loaded && !ops.error
          ? many(filtered ? (all ?? 0) : ops.count) +
            (ops.all || filtered || all !== undefined ? "" : "+") +
            (ops.count === 1 ? " operation" : " operations")
          : ""}
      </span>
    </>
  );
}

// Threads beside this one; marked: those with findings.
function Peers({
  pane,
  marked,
  go,
}: {
  pane: ThreadPlace;
  marked: Map<number, string>;
  go(p: Pane): void;
}) {
  const { launch, thread } = pane;
  const total = threadTotal(launch);
  const peers: number[] = [];
  for (let t = thread - 5; t <= thread + 5; t++) if (t >= 0 && t < total) peers.push(t);
  const name = launchName(launches.get(launch), launch);
  return (
    <nav class="peers" aria-label="peers of this thread">
      {peers.map((t) => (
        <button
          type="button"
          class={classes(
            "peer",
            t === thread ? "here" : Math.abs(t - thread) > 3 && "far",
            marked.get(t),
          )}
          aria-current={t === thread}
          title={marked.has(t) ? "has a finding" : `thread ${t} of ${name}`}
          onClick={() => {
            if (t !== thread) go({ kind: "thread", launch, thread: t });
          }}
        >
          {t}
        </button>
      ))}
    </nav>
  );
}

// Above a long thread: a filter, a jump, and a search by value.
function ThreadSearches({
  pane,
  index,
  of,
  selected,
  buffersUsed,
}: {
  pane: ThreadPlace;
  index: number;
  of: ThreadOps;
  selected: number;
  buffersUsed: number[];
}) {
  const { ops, filtered, search, setSearch, all, fit } = of;
  const { launch, thread } = pane;
  const goTo = (skip: number) => replace(index, { kind: "thread", launch, thread, skip }, false);
  if (isStatic()) return <></>;
  return (
    <>
      {(filtered || (ops.loaded && ops.count > LONG)) && (
        <Filter
          search={search}
          choose={setSearch}
          all={all ?? (ops.all ? ops.count : undefined)}
          fit={fit}
          buffersUsed={buffersUsed}
          jump={(n) => {
            if (filtered) setSearch({});
            goTo(n);
          }}
        />
      )}
      {!filtered && ops.loaded && ops.count > 12 && (
        <div class="filterbar">
          <FindOperation
            from={selected}
            load={(skip) => ofThread(launch, thread, Math.floor(skip / PAGE) * PAGE)}
            found={goTo}
          />
        </div>
      )}
    </>
  );
}

function ThreadTable({ rows }: { rows: ThreadRows }) {
  const { origins } = rows;
  const { ops, filtered } = rows.of;
  if (ops.error) return <Failure text={ops.error} />;
  if (!ops.loaded) return <Empty>reading…</Empty>;
  if (ops.count === 0)
    return (
      <Empty>
        {filtered
          ? "No operation of this thread fits."
          : "This thread did nothing that was recorded."}
      </Empty>
    );
  return (
    <div class={ops.count > 999 ? "table long" : "table"} style={rows.widths as any}>
      <div class="columns threadrow" aria-hidden="true">
        <span>#</span>
        <span>line</span>
        <span>does</span>
        <span>element</span>
        <span class="num">value</span>
        <span>
          from<span class="tight"> thread</span>
          <span class="wide"> · race</span>
        </span>
        <span>source</span>
      </div>
      <List
        label="operations"
        count={ops.count}
        height={ROW}
        focus={rows.selected}
        seen={(a, b) => {
          ops.seen(a, b);
          origins.want(a, b);
        }}
        row={(i) => {
          const op = ops.get(i);
          if (!op) return <span class="dim loading">…</span>;
          return <ThreadRow i={i} op={op} rows={rows} />;
        }}
      />
    </div>
  );
}

export function ThreadPane({
  pane,
  index,
  active,
  findings,
  flowUses,
}: {
  pane: ThreadPlace;
  index: number;
  active: boolean;
  findings: Finding[];
  flowUses(launch: number): number[];
}) {
  const of = useThreadOps(pane, findings);
  const { ops } = of;
  const origins = useOrigins(ops);
  const conflicts = useConflicts(pane.launch, pane.thread, ops);
  const source = useSource(of.file);
  const lines = linesOf(source.value);
  const [selected, select] = useState(-1);
  useEffect(
    () => select(pane.skip && !pane.at && ops.focus < 0 ? pane.skip : ops.focus),
    [ops.focus, pane.launch, pane.thread, pane.skip],
  );
  const { mine, isMeant, marked } = useThreadFindings(pane, findings, ops);
  const texts = useColumns(ops, { element: opElement, value: valueText });
  const widths = conflicts.size ? { ...texts, "--from": "310px" } : texts;
  const go = (p: Pane) => follow(index, p);
  const shown = { pane, findings, of, selected, select, isMeant, go };
  const rows: ThreadRows = { ...shown, origins, conflicts, lines, widths };
  return (
    <PaneFrame
      index={index}
      kind="thread"
      active={active}
      title={
        <>
          <span class="what">thread</span> {pane.thread}
        </>
      }
      tools={<ThreadTools pane={pane} index={index} of={of} selected={selected} />}
      sub={<ThreadSub pane={pane} of={of} go={go} />}
    >
      <Peers pane={pane} marked={marked} go={go} />
      {mine.length > 0 && (
        <div class="cards">
          {mine.slice(0, 4).map((f) => (
            <FindingCard key={f.id} finding={f} go={go} here={pane} />
          ))}
        </div>
      )}
      <ThreadSearches
        pane={pane}
        index={index}
        of={of}
        selected={selected}
        buffersUsed={flowUses(pane.launch)}
      />
      <ThreadTable rows={rows} />
    </PaneFrame>
  );
}
