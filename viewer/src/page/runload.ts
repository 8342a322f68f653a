// Reads the run when the page is opened, and again while its program still runs.
import { Flow, kernelName } from "../flow/flowstep";
import { useEffect, useState } from "preact/hooks";
import {
  ask,
  Buffer,
  buffers,
  Finding,
  FlowStep,
  flowStep,
  forgetAnswers,
  RunInfo,
  Watch,
} from "../run/api";
import { comparesRuns } from "../compare/compare";
import { findingPane } from "../run/findingpane";
import { FlowIndexer, pause } from "../flow/flowindex";
import { errorText, fileName, flowNames, learnStream } from "../run/format";
import { learnSteps } from "../run/time";
import { fromAddress, start, trail } from "../parts/trail";
import { forgetVariables, learnTypes } from "../run/types";

const FLOW_PAGE = 2000; // steps that one answer may have
export type Tab = "findings" | "buffers" | "watches";

type Kernels = Record<string, string>;
// Buffers of the compiler and of Warpgrind (texts of printf, saved states of interrupts) are not
// listed.
const shownBuffers = (all: Buffer[]) => all.filter((b) => !b.own).sort((x, y) => x.id - y.id);
const stepTitle = (s: FlowStep, kernels: Kernels) =>
  s.kind === "launch" ? kernelName(kernels[s.kernel]) : s.call || s.kind;
const nameLaunches = (steps: FlowStep[], kernels: Kernels) =>
  steps.forEach((x) => {
    if (x.kind === "launch" && x.launch) {
      flowNames.set(x.launch, `${kernelName(kernels[x.kernel])} #${x.number}`);
      learnStream(x.launch, x.stream);
    }
  });
const keepBuffers = (list: Buffer[]) => list.forEach((x) => buffers.set(x.id, x));

// The page's data about the run, and the functions that change it.
function useRunState() {
  const [run, setRun] = useState<RunInfo>();
  const [error, setError] = useState<string>();
  const [findings, setFindings] = useState<Finding[]>([]);
  const [flow, setFlow] = useState<Flow>(() => ({
    steps: [],
    kernels: {},
    total: 0,
    index: new FlowIndexer().index,
  }));
  const [list, setList] = useState<Buffer[]>([]);
  const [ready, setReady] = useState(false);
  const [tab, setTab] = useState<Tab>("findings");
  const [watches, setWatches] = useState<Watch[]>([]);
  return {
    state: { run, error, findings, flow, list, ready, tab, watches },
    set: { setRun, setError, setFindings, setFlow, setList, setReady, setTab, setWatches },
  };
}
type Setters = ReturnType<typeof useRunState>["set"];

// Asks the first questions. steps: how many steps of the flow.
async function askRun(steps: number) {
  const [findings, list, flow, types] = await Promise.all([
    ask<{ findings: Finding[] }>("findings", { most: 500 }),
    ask<{ buffers: Buffer[] }>("buffers", { most: 5000 }),
    ask<any>("flow", { skip: 0, most: steps }),
    ask<any>("types"),
  ]);
  return { findings: findings.findings, list: list.buffers, flow, types };
}

async function readBuffers(run: RunInfo, first: Buffer[], { setList }: Setters) {
  let all = first;
  while (all.length < run.buffers && all.length < 100000) {
    const more = await ask<{ buffers: Buffer[] }>("buffers", { skip: all.length, most: 20000 });
    if (!more.buffers.length) break;
    keepBuffers(more.buffers);
    setList(shownBuffers((all = [...all, ...more.buffers])));
  }
}
async function readFindings(run: RunInfo, first: Finding[], { setFindings }: Setters) {
  let all = first;
  while (all.length < run.findings && all.length < 5000) {
    const more = await ask<{ findings: Finding[] }>("findings", { skip: all.length, most: 1500 });
    if (!more.findings.length) break;
    setFindings((all = [...all, ...more.findings]));
  }
}

// Reads the flow's further pages, and draws it once at the end, because drawing takes a moment.
async function readSteps(
  first: FlowStep[],
  { kernels, total }: { kernels: Kernels; total: number },
  indexer: FlowIndexer,
  { setFlow }: Setters,
) {
  let steps = first;
  while (steps.length < total && steps.length < 100000) {
    const more = await ask<any>("flow", { skip: steps.length, most: FLOW_PAGE });
    if (!more.steps.length) break;
    await pause();
    const next: FlowStep[] = more.steps.map(flowStep);
    nameLaunches(next, more.kernels);
    steps = steps.concat(next);
    learnSteps(steps);
    await pause();
    await indexer.add(next, (s) => stepTitle(s, kernels));
  }
  if (steps.length > first.length) {
    await indexer.finish();
    await pause();
    setFlow({ steps, kernels, total, index: indexer.index });
  }
}

// Opens the first pane: the first finding, two compared runs, the profile, or the whole run's flow.
async function openFirstPane(run: RunInfo, findings: Finding[], steps: number) {
  if (!trail().length && !findings.length && (await comparesRuns())) start({ kind: "runs" });
  if (trail().length || !(findings.length || steps || run.meta.tools?.includes("profile"))) return;
  start(
    findings.length
      ? findingPane(findings[0])
      : run.meta.tools?.split(",").includes("profile")
        ? { kind: "profile", kernel: 0 }
        : { kind: "flow" },
  );
  history.replaceState(null, "", location.hash);
}

async function loadRun(set: Setters) {
  const [run, asked] = await Promise.all([ask<RunInfo>("run"), askRun(FLOW_PAGE)]);
  const { findings, list, flow } = asked;
  learnTypes(asked.types);
  keepBuffers(list);
  await pause();
  const steps: FlowStep[] = flow.steps.map(flowStep);
  const indexer = new FlowIndexer();
  learnSteps(steps);
  nameLaunches(steps, flow.kernels);
  await pause();
  await indexer.add(steps, (s) => stepTitle(s, flow.kernels));
  if (steps.length >= flow.total) await indexer.finish();
  await pause(); // what follows is drawn at once, and takes a moment by itself
  set.setRun(run);
  set.setFindings(findings);
  set.setList(shownBuffers(list));
  set.setFlow({ steps, kernels: flow.kernels, total: flow.total, index: indexer.index });
  document.title = `${fileName(run.meta.program ?? run.file)} · Warpgrind`;
  if (!run.findings) set.setTab("buffers");
  fromAddress();
  await pause();
  await openFirstPane(run, findings, steps.length);
  set.setReady(true);
  await readBuffers(run, list, set);
  await readFindings(run, findings, set);
  await readSteps(steps, flow, indexer, set);
  set.setError(undefined);
}

const askWatches = (set: Setters) =>
  ask<{ watches: Watch[] }>("watches").then(
    (w) => {
      set.setWatches(w.watches);
      return w.watches;
    },
    () => [] as Watch[],
  );

const hasGrown = (now: RunInfo, before: RunInfo) =>
  now.steps !== before.steps ||
  now.operations !== before.operations ||
  now.launches !== before.launches ||
  now.findings !== before.findings ||
  now.recorded !== before.recorded ||
  now.meta.complete !== before.meta.complete;

// Reads everything again. isGone: the page does not need the result any more.
async function reloadRun(run: RunInfo, set: Setters, isGone: () => boolean) {
  const { findings, list, flow, types } = await askRun(20000);
  if (isGone()) return;
  const steps: FlowStep[] = flow.steps.map(flowStep);
  learnTypes(types);
  forgetVariables();
  keepBuffers(list);
  nameLaunches(steps, flow.kernels);
  learnSteps(steps);
  const indexer = new FlowIndexer();
  await indexer.add(steps, (s) => stepTitle(s, flow.kernels));
  await indexer.finish();
  set.setFindings(findings);
  set.setList(shownBuffers(list));
  set.setFlow({ steps, kernels: flow.kernels, total: flow.total, index: indexer.index });
  if (run.recorded) await askWatches(set);
  set.setRun(run);
}

function useFirstLoad(set: Setters) {
  useEffect(() => {
    const load = async () => {
      try {
        await loadRun(set);
      } catch (e) {
        set.setError(errorText(e));
        if (/^waiting/.test(errorText(e))) setTimeout(load, 500);
      }
    };
    void load();
    const back = () => fromAddress();
    addEventListener("popstate", back);
    addEventListener("hashchange", back);
    return () => {
      removeEventListener("popstate", back);
      removeEventListener("hashchange", back);
    };
  }, []);
}

function useWatches(run: RunInfo | undefined, findings: Finding[], set: Setters) {
  useEffect(() => {
    if (!run?.recorded) return;
    void askWatches(set).then((w) => {
      const first = w.find((x) => x.watched);
      if (first && run.live) {
        set.setTab("watches");
        if (trail().length <= 1 && !findings.length)
          start({ kind: "watch", site: first.site, launch: 0, width: 0 });
      }
    });
  }, [run?.recorded]);
}

// While the program runs the file grows: each time it has grown, the first questions are asked
// again.
function useLiveRun(run: RunInfo | undefined, set: Setters) {
  useEffect(() => {
    if (!run?.live || run.meta.complete === "yes") return;
    let gone = false;
    const look = async () => {
      try {
        forgetAnswers();
        const now = await ask<RunInfo>("run");
        if (gone) return;
        if (hasGrown(now, run)) {
          await reloadRun(now, set, () => gone);
          return;
        }
      } catch {
        /* the server may be busy: the next look tells */
      }
      if (!gone) timer = window.setTimeout(look, 500);
    };
    let timer = window.setTimeout(look, 500);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [run]);
}

export function useRun() {
  const { state, set } = useRunState();
  useFirstLoad(set);
  useWatches(state.run, state.findings, set);
  useLiveRun(state.run, set);
  return { ...state, setTab: set.setTab };
}
export type Loaded = ReturnType<typeof useRun>;
