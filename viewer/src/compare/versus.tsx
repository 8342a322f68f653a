// Two threads side by side: peers, the same thread of another launch, or of another run. Operations
// are matched by the instruction that made them.
import { useMemo } from "preact/hooks";
import { align } from "./align";
import { Kind, Op, Site, ask, isStatic, launches, op, sites } from "../run/api";
import { doneText } from "../run/atomic";
import { kindName, launchName, opElement, opValue } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { List } from "../parts/list";
import { Empty, Failure, PaneFrame, mainPlace } from "../parts/parts";
import { allSteps } from "../run/time";
import { Pane, follow, replace } from "../parts/trail";

const MOST = 2000;
interface Side {
  ops: Op[];
  more: boolean;
  key(o: Op): string;
}
// An instruction is known by its line of PTX, which is the same in another run of the program.
const keyOf = (known: { get(id: number): Site | undefined }) => (o: Op) => {
  const s = known.get(o.site);
  return `${o.kind} ${s?.function ?? ""} ${s?.ptx_line ?? o.site}`;
};
async function load(run: number, launch: number, thread: number): Promise<Side> {
  const j = await ask<any>(run ? "other/thread" : "thread", {
    launch,
    thread,
    skip: 0,
    most: MOST,
  });
  return {
    ops: j.ops.map(op),
    more: j.more,
    key: keyOf(
      run ? new Map(Object.entries(j.sites ?? {}).map(([k, v]) => [Number(k), v as Site])) : sites,
    ),
  };
}
// The launch of the other run that has the same kernel and the same number among its launches.
async function twinLaunch(launch: number): Promise<number> {
  const mine = allSteps.filter((s) => s.kind === "launch");
  const here = mine.find((s) => s.launch === launch);
  const flow = await ask<any>("other/flow", { skip: 0, most: 100000 });
  const own = await ask<any>("flow", { skip: 0, most: 2000 });
  if (!here) return 0;
  const name = own.kernels[here.kernel];
  const k = mine.filter((s) => s.kernel === here.kernel).indexOf(here);
  return (
    flow.steps.filter((s: any[]) => s[2] === "launch" && flow.kernels[s[4]] === name)[k]?.[3] ?? 0
  );
}

type VersusLook = Extract<Pane, { kind: "versus" }>;
interface VersusProps {
  pane: VersusLook;
  index: number;
  active: boolean;
  hasOther: boolean;
}
type Choose = (more: Partial<VersusLook>) => void;
type Pair = [number, number];

// How the operations of a row differ; "": they do not.
function apart([x, y]: Pair, a: Side, b: Side): "only" | "differs" | "" {
  if (x < 0 || y < 0) return "only";
  const [o, p] = [a.ops[x], b.ops[y]];
  return o.value !== p.value && o.kind !== Kind.Sync ? "differs" : "";
}

// The operations of both, row for row.
function useBothThreads(pane: VersusLook) {
  const both = useAnswer(
    () =>
      Promise.all([
        load(0, pane.launch, pane.thread),
        load(pane.run, pane.otherLaunch, pane.otherThread),
      ]),
    [pane.launch, pane.thread, pane.otherLaunch, pane.otherThread, pane.run],
  );
  const rows = useMemo(() => {
    if (!both.value) return [];
    const [a, b] = both.value;
    return align(a.ops.map(a.key), b.ops.map(b.key));
  }, [both.value]);
  const differs = (row: Pair) => apart(row, ...both.value!) !== "";
  const first = useMemo(() => rows.findIndex(differs), [rows]);
  const differing = useMemo(() => rows.filter(differs).length, [rows]);
  return { both, rows, first, differing };
}

interface NumberProps {
  value: number;
  label: string;
  set(n: number): void;
}
const NumberControl = ({ value, label, set }: NumberProps) => (
  <label>
    {label}{" "}
    <input
      type="number"
      class="short"
      min={0}
      value={value}
      aria-label={label}
      onChange={(e) => {
        const n = Math.floor(Number(e.currentTarget.value));
        if (n >= 0) set(n);
      }}
    />
  </label>
);
interface ControlsProps {
  pane: VersusLook;
  hasOther: boolean;
  choose: Choose;
}
function LaunchControl({ pane, choose }: ControlsProps) {
  const launchNumbers = allSteps
    .filter((s) => s.kind === "launch" && s.kernel === (launches.get(pane.launch)?.kernel ?? -1))
    .slice(0, 500);
  if (pane.run || launchNumbers.length <= 1) return <></>;
  return (
    <label>
      of{" "}
      <select
        aria-label="launch of the other thread"
        value={pane.otherLaunch}
        onChange={(e) => choose({ otherLaunch: Number(e.currentTarget.value) })}
      >
        {launchNumbers.map((s) => (
          <option value={s.launch}>#{s.number}</option>
        ))}
      </select>
    </label>
  );
}
const RunControl = ({ pane, choose }: ControlsProps) => (
  <label>
    <input
      type="checkbox"
      checked={!!pane.run}
      onChange={(e) => {
        if (!e.currentTarget.checked) choose({ run: 0, otherLaunch: pane.launch });
        else
          void twinLaunch(pane.launch).then((otherLaunch) => {
            if (otherLaunch) choose({ run: 1, otherLaunch });
          });
      }}
    />{" "}
    of the other run
  </label>
);
function VersusControls(props: ControlsProps) {
  const { pane, choose } = props;
  return (
    <div class="controls">
      <NumberControl value={pane.thread} label="thread" set={(thread) => choose({ thread })} />
      <NumberControl
        value={pane.otherThread}
        label="other thread"
        set={(otherThread) => choose({ otherThread })}
      />
      <LaunchControl {...props} />
      {props.hasOther && !isStatic() && <RunControl {...props} />}
    </div>
  );
}

const NoCell = () => (
  <>
    <span class="dim">–</span>
    <span />
  </>
);
const OwnCell = ({ o }: { o: Op }) => (
  <>
    <span class="element">{opElement(o)}</span>
    <span class="value num">{o.kind === Kind.Sync ? "" : doneText(o)}</span>
  </>
);
// An operation of the other run; twin: the one beside it, which has the same type.
function OtherCell({ o, twin }: { o: Op; twin?: Op }) {
  const text = () =>
    o.value === null
      ? "?"
      : twin && twin.bytes === o.bytes
        ? opValue(twin, o.value)
        : `0x${o.value}`;
  return (
    <>
      <span class="element">{`${kindName[o.kind]} ${o.bytes} bytes`}</span>
      <span class="value num">{o.kind === Kind.Sync ? "" : text()}</span>
    </>
  );
}

interface RowProps {
  row: Pair;
  a: Side;
  b: Side;
  isFirst: boolean;
  index: number;
  run: number;
}
function VersusRow({ row, a, b, isFirst, index, run }: RowProps) {
  const o: Op | undefined = a.ops[row[0]];
  const p: Op | undefined = b.ops[row[1]];
  const place = o ? mainPlace(o.site) : p && !run ? mainPlace(p.site) : undefined;
  const { kind } = (o ?? p)!;
  const open = () => {
    const at = o ?? (run ? undefined : p);
    if (at)
      follow(index, {
        kind: "thread",
        launch: at.launch,
        thread: at.thread,
        at: { record: at.record, lane: at.lane },
      });
  };
  return (
    <div
      class={`op versusrow ${apart(row, a, b)}`}
      role="button"
      tabIndex={isFirst ? 0 : -1}
      onClick={open}
    >
      <span class="dim num">{place?.[1] ?? ""}</span>
      <span class={`kind k${kind}`}>{kindName[kind]}</span>
      {o ? <OwnCell o={o} /> : <NoCell />}
      {!p ? <NoCell /> : run ? <OtherCell o={p} twin={o} /> : <OwnCell o={p} />}
    </div>
  );
}

interface RowsProps {
  pane: VersusLook;
  index: number;
  sides: [Side, Side];
  rows: Pair[];
  first: number;
}
const VersusRows = ({ pane, index, sides: [a, b], rows, first }: RowsProps) => (
  <>
    <div class="columns versusrow" aria-hidden="true">
      <span>line</span>
      <span>does</span>
      <span>thread {pane.thread}</span>
      <span class="num">value</span>
      <span>thread {pane.otherThread}</span>
      <span class="num">value</span>
    </div>
    <List
      label="operations of two threads"
      count={rows.length}
      height={26}
      focus={first}
      row={(i) => (
        <VersusRow {...{ row: rows[i], a, b, isFirst: i === first, index, run: pane.run }} />
      )}
    />
    {(a.more || b.more) && <p class="rest">the first {MOST} operations of each</p>}
  </>
);

const launchesText = (pane: VersusLook) =>
  launchName(launches.get(pane.launch), pane.launch) +
  (pane.run
    ? " and the other run"
    : pane.otherLaunch !== pane.launch
      ? ` and ${launchName(launches.get(pane.otherLaunch), pane.otherLaunch)}`
      : "");

export function VersusPane({ pane, index, active, hasOther }: VersusProps) {
  const { both, rows, first, differing } = useBothThreads(pane);
  const choose: Choose = (more) => replace(index, { ...pane, ...more }, false);
  return (
    <PaneFrame
      index={index}
      kind="versus"
      active={active}
      title={
        <>
          <span class="what">compare</span> thread {pane.thread} and {pane.otherThread}
        </>
      }
      sub={
        <>
          {launchesText(pane)}
          <span class="right">
            {both.value
              ? differing
                ? `${differing} of ${rows.length} differ`
                : "all values are the same"
              : ""}
          </span>
        </>
      }
    >
      <VersusControls pane={pane} hasOther={hasOther} choose={choose} />
      {both.error ? (
        <Failure text={both.error} />
      ) : !both.value ? (
        <Empty>reading…</Empty>
      ) : (
        <VersusRows pane={pane} index={index} sides={both.value} rows={rows} first={first} />
      )}
    </PaneFrame>
  );
}
