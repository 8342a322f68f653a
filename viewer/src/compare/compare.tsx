// Two runs: which launches differ, and in which buffers.
import { kernelName } from "../flow/flowstep";
import { useEffect, useState } from "preact/hooks";
import { ask, buffers, FlowStep, flowStep, isStatic } from "../run/api";
import { bufferName, counted, many } from "../run/format";
import { Failure, PaneFrame } from "../parts/parts";
import { allSteps } from "../run/time";
import { follow } from "../parts/trail";

export interface Differing {
  launch: number;
  other_launch: number;
  number: number;
  kernel: string;
  name: string;
  buffer: number;
  other_buffer: number;
  within?: number;
  why?: string;
  compared?: number;
  different?: number;
  nans?: number;
  first?: number;
  ulps?: number;
  absolute?: number;
  relative?: number;
}
export interface Comparison {
  files?: [string, string];
  done: number;
  total: number;
  finished: boolean;
  equal: number;
  different: number;
  unmatched: number;
  not_compared: number;
  failed?: string;
  rows: Differing[];
}
// Was the server started with two runs? A page without a server compares none.
export async function comparesRuns(): Promise<boolean> {
  if (isStatic()) return false;
  try {
    return !!(await (await fetch("api/compare_state")).json()).files;
  } catch {
    return false;
  }
}

// Compared in the background, from the moment the page is opened; undefined: there is one run only.
export function useComparison(wanted: boolean): Comparison | undefined {
  const [state, set] = useState<Comparison>();
  useEffect(() => {
    if (!wanted) return;
    let gone = false;
    let timer = 0;
    const look = async () => {
      try {
        const j: Comparison = await (await fetch("api/compare_state")).json();
        if (gone || !j.files) return;
        set(j);
        if (!j.finished) timer = window.setTimeout(look, 500);
      } catch {
        /* the server has ended */
      }
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [wanted]);
  return state;
}

// Steps of the other run, for finding the step of a launch.
export async function otherSteps(): Promise<FlowStep[]> {
  return (await ask<any>("other/flow", { skip: 0, most: 100000 })).steps.map(flowStep);
}

interface RunsProps {
  index: number;
  active: boolean;
  comparison?: Comparison;
}
const stepOf = (launch: number) =>
  allSteps.find((s) => s.kind === "launch" && s.launch === launch)?.id ?? 0;
async function openTwin(index: number, d: Differing) {
  const mine = stepOf(d.launch);
  const others = await otherSteps();
  const there = others.find((s) => s.kind === "launch" && s.launch === d.other_launch)?.id ?? 0;
  if (d.buffer)
    follow(index, {
      kind: "twin",
      buffer: d.buffer,
      step: mine,
      other: d.other_buffer,
      otherStep: there,
      run: 1,
      width: 0,
    });
}

const differText = (c: Comparison) =>
  c.different
    ? c.different === 1
      ? "1 buffer differs"
      : `${many(c.different)} buffers differ`
    : c.finished
      ? "Nothing differs"
      : "nothing differs so far";
const Summary = ({ c }: { c: Comparison }) => (
  <p>
    {c.finished ? "" : `${many(c.done)} of ${many(c.total)} launches compared. `}
    {differText(c)}, {many(c.equal)} {c.equal === 1 ? "is" : "are"} the same
    {c.not_compared ? `, ${many(c.not_compared)} could not be compared` : ""}
    {c.unmatched
      ? `; ${counted(c.unmatched, "launch has", "launches have")} no counterpart`
      : ""}.{" "}
    <a href="other/" target="_blank" rel="noopener">
      the other run
    </a>
  </p>
);

const howMany = (d: Differing) =>
  d.why ??
  (d.different === undefined
    ? "by its hash"
    : `${many(d.different)} of ${many(d.compared ?? 0)}` + (d.nans ? `, ${many(d.nans)} NaN` : ""));
const DifferingRow = ({ d, first, index }: { d: Differing; first: boolean; index: number }) => (
  <tr class={first ? "first" : ""}>
    <td>
      <button
        type="button"
        class="link"
        onClick={() => follow(index, { kind: "launch", launch: d.launch })}
      >
        {kernelName(d.kernel)} #{d.number}
      </button>
    </td>
    <td>
      <button type="button" class="link twin" onClick={() => void openTwin(index, d)}>
        {d.buffer ? bufferName(buffers.get(d.buffer), d.buffer) : d.name}
      </button>
    </td>
    <td>
      {howMany(d)}
      {d.within ? " (within the rules)" : ""}
    </td>
    <td class="num">
      {d.relative === undefined || d.relative === null ? "" : Number(d.relative.toPrecision(3))}
    </td>
  </tr>
);

export const RunsPane = ({ index, active, comparison: c }: RunsProps) => (
  <PaneFrame
    index={index}
    kind="runs"
    active={active}
    title={
      <>
        <span class="what">compare</span> two runs
      </>
    }
    sub={
      c?.files ? (
        <span title={c.files.join(" and ")}>
          {c.files[0]} and {c.files[1]}
        </span>
      ) : undefined
    }
  >
    {!c ? (
      <Failure text="This page shows one run. warpgrind diff --view A B shows two." />
    ) : c.failed ? (
      <Failure text={c.failed} />
    ) : (
      <div class="scroll">
        <Summary c={c} />
        {c.rows.length > 0 && (
          <table class="differences">
            <thead>
              <tr>
                <td>launch</td>
                <td>buffer</td>
                <td>differ</td>
                <td>most, relative</td>
              </tr>
            </thead>
            <tbody>
              {c.rows.slice(0, 2000).map((d, i) => (
                <DifferingRow d={d} first={!i} index={index} />
              ))}
            </tbody>
          </table>
        )}
      </div>
    )}
  </PaneFrame>
);
