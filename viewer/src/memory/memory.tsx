// An element of a block's shared memory, or of a thread's local memory, with all that was done to
// it, barrier for barrier.
import { doneHelp, doneText } from "../run/atomic";
import { useEffect, useRef, useState } from "preact/hooks";
import { key, launches, ofPrivate, Op, Private, writes } from "../run/api";
import { classes, many, threadsOf, valueHex } from "../run/format";
import { useColumns } from "../parts/columns";
import { Ops, useListen, useOps } from "../parts/hooks";
import { List } from "../parts/list";
import { bank, memoryName, owner, variableAt } from "./memoryplace";
import {
  Badge,
  Button,
  Empty,
  Failure,
  KindTag,
  LaunchLink,
  linesOf,
  mainPlace,
  PaneFrame,
  ThreadText,
  useSource,
} from "../parts/parts";
import { ROW } from "../thread/thread";
import { follow, Pane, replace } from "../parts/trail";
import { onTypes, Variable, variableBytes, variablesOfKernel, variableType } from "../run/types";

type Memory = Extract<Pane, { kind: "memory" }>;
interface MemoryProps {
  pane: Memory;
  index: number;
  active: boolean;
}

// Other operations of the same phase that operation i may race with.
function rivals(ops: Ops, phases: Map<number, number>, i: number): Op[] {
  const o = ops.get(i)!;
  const out: Op[] = [];
  for (const d of [-1, 1])
    for (
      let k = i + d;
      o.race && k >= 0 && k < ops.count && phases.get(k) === phases.get(i);
      k += d
    ) {
      const x = ops.get(k);
      if (!x) break;
      if (x.race && x.thread !== o.thread && (writes(x) || writes(o))) out.push(x);
    }
  return out;
}

// Operations on the element, and the barrier that each one comes after.
function useMemoryOps(pane: Memory) {
  const phases = useRef(new Map<number, number>()).current;
  const of: Private = pane;
  const ops = useOps(
    async (skip, first) => {
      const p = await ofPrivate(of, skip, first ? pane.at : undefined);
      p.phases.forEach((n, i) => phases.set(p.skip + i, n));
      return p;
    },
    [
      pane.launch,
      pane.space,
      pane.block,
      pane.thread,
      pane.address,
      pane.bytes,
      JSON.stringify(pane.at),
    ],
  );
  return { ops, phases };
}

// The variable that the element is of, as far as that is known.
function variableOfElement(pane: Memory) {
  const variable = variableAt(pane.launch, pane.space, pane.address);
  const type = variable ? variableType(variable) : undefined;
  return {
    variable,
    type,
    extent: variableBytes(variable, launches.get(pane.launch)), // in bytes
    size: type?.known ? type.bytes : pane.bytes, // of an element
    number: variable ? variablesOfKernel(variable.kernel).indexOf(variable) : -1,
  };
}
type OfVariable = ReturnType<typeof variableOfElement>;

function helpText(v: Variable | undefined): string {
  if (!v) return `PTX does not say which variable this is.`;
  return v.address === undefined
    ? `Where ${v.name} lies in shared memory is not known on this device.`
    : (v.why ?? "");
}

interface ToolsProps {
  pane: Memory;
  index: number;
  of: OfVariable;
  phase: number;
}
function Tools({ pane, index, of, phase }: ToolsProps) {
  const { variable: v, extent, size, number } = of;
  const beside = (by: number) =>
    replace(index, { ...pane, address: pane.address + by * size, at: undefined });
  const openPicture = () =>
    follow(index, {
      kind: "phase",
      launch: pane.launch,
      space: pane.space,
      block: pane.block,
      thread: pane.thread,
      variable: number,
      phase,
    });
  return (
    <>
      <Button
        icon="left"
        label="The element before ([)"
        disabled={pane.address - size < (v?.address ?? 0)}
        onClick={() => beside(-1)}
      />
      <Button
        icon="right"
        label="The next element (])"
        disabled={
          !!extent && v?.address !== undefined && pane.address + 2 * size > v.address + extent
        }
        onClick={() => beside(1)}
      />
      <Button
        icon="picture"
        label="The buffer as a picture (b)"
        disabled={number < 0 || !extent}
        onClick={openPicture}
      />
    </>
  );
}

interface OpProps {
  o: Op;
  others: Op[]; // that it races with
  go(o: Op): void;
}
const Who = ({ o, others, go }: OpProps) => (
  <span class="who">
    <ThreadText thread={o.thread} />
    {o.race && (
      <Badge
        kind="warning"
        title={
          others.length
            ? `races with thread ${threadsOf(others)}: no barrier lies between`
            : "nothing orders it against another operation here"
        }
      >
        race
      </Badge>
    )}
    {others.slice(0, 1).map((x) => (
      <button
        type="button"
        class="go race"
        title={`the other side of the race: thread ${x.thread}`}
        onClick={(e) => {
          e.stopPropagation();
          go(x);
        }}
      >
        ⚡ <ThreadText thread={x.thread} />
      </button>
    ))}
  </span>
);
const Value = ({ o }: { o: Op }) => (
  <span class="value num" title={doneHelp(o) || valueHex(o.value)}>
    {doneText(o)}
  </span>
);

interface RowProps extends OpProps {
  i: number;
  phase?: number; // barriers before it
  begins: boolean; // the first of its phase
  isSelected: boolean;
  lines: string[]; // of its source
  select(i: number): void;
}
function MemoryRow({ o, others, go, i, phase, begins, isSelected, lines, select }: RowProps) {
  const p = mainPlace(o.site);
  return (
    <div
      class={classes(
        "op elementrow",
        writes(o) ? "write" : "read",
        isSelected && "selected",
        o.race && "race",
        begins && "begins",
      )}
      data-op={key(o)}
      data-index={i}
      role="button"
      tabIndex={isSelected ? 0 : -1}
      onClick={() => {
        select(i);
        go(o);
      }}
    >
      <span class={begins ? "when" : "when again"}>{phase ? `barrier ${phase}` : "the start"}</span>
      <KindTag op={o} />
      <Value o={o} />
      <Who o={o} others={others} go={go} />
      <code class="snippet">
        {p && (
          <>
            <span>{p[1]}</span>
            <span class="text">{lines[p[1] - 1]?.trim()}</span>
          </>
        )}
      </code>
    </div>
  );
}

interface RowsProps {
  ops: Ops;
  phases: Map<number, number>;
  selected: number;
  select(i: number): void;
  lines: string[];
  go(o: Op): void;
}
function MemoryRows({ ops, phases, selected, select, lines, go }: RowsProps) {
  const widths = useColumns(ops, { when: () => "barrier 10", value: doneText });
  if (ops.error) return <Failure text={ops.error} />;
  if (!ops.loaded) return <Empty>reading…</Empty>;
  if (ops.count === 0) return <Empty>Nobody in this block touched this element.</Empty>;
  const row = (i: number) => {
    const o = ops.get(i);
    if (!o) return <span class="dim loading">…</span>;
    const phase = phases.get(i);
    const begins = !i || phases.get(i - 1) !== phase;
    const others = rivals(ops, phases, i);
    const isSelected = i === selected;
    return <MemoryRow {...{ o, others, go, i, phase, begins, isSelected, lines, select }} />;
  };
  return (
    <div class="table" style={widths as any}>
      <div class="columns elementrow" aria-hidden="true">
        <span>after barrier</span>
        <span>does</span>
        <span class="num">value</span>
        <span>
          <span class="wide">who</span>
          <span class="tight">thread</span>
        </span>
        <span>source</span>
      </div>
      <List
        label="operations on this element"
        count={ops.count}
        height={ROW}
        focus={selected}
        seen={ops.seen}
        row={row}
      />
    </div>
  );
}

export function MemoryPane({ pane, index, active }: MemoryProps) {
  useListen(onTypes);
  const { ops, phases } = useMemoryOps(pane);
  const [selected, select] = useState(-1);
  useEffect(() => select(ops.focus), [ops.focus, pane.address]);
  const of = variableOfElement(pane);
  const sample = ops.get(0);
  const source = useSource(sample && mainPlace(sample.site)?.[0]);
  const lines = linesOf(source.value);
  const go = ({ launch, thread, record, lane }: Op) =>
    follow(index, { kind: "thread", launch, thread, at: { record, lane } });
  const help = helpText(of.variable);
  return (
    <PaneFrame
      index={index}
      kind="memory"
      active={active}
      title={
        <>
          <span class="what">{of.type?.known ? of.type.name : `${pane.bytes} bytes`}</span>{" "}
          {memoryName(pane)}
        </>
      }
      tools={
        <Tools pane={pane} index={index} of={of} phase={Math.max(0, phases.get(selected) ?? 0)} />
      }
      sub={
        <>
          <LaunchLink
            id={pane.launch}
            onClick={() => follow(index, { kind: "launch", launch: pane.launch })}
          />
          <span>
            {" "}
            · {pane.space === 1 ? "shared memory" : "local memory"} of {owner(pane)}
            {pane.space === 1 ? ` · bank ${bank(pane.address)}` : ""}
          </span>
          <span class="right">
            {ops.loaded && !ops.error
              ? `${many(ops.count)} operation${ops.count === 1 ? "" : "s"}`
              : ""}
          </span>
        </>
      }
    >
      {help && (
        <div class="help" role="note">
          {help}
        </div>
      )}
      <MemoryRows {...{ ops, phases, selected, select, lines, go }} />
    </PaneFrame>
  );
}
