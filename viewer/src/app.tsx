import { ComponentChild } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  Buffer,
  Finding,
  FlowStep,
  RunInfo,
  Watch,
  ask,
  buffers,
  flowStep,
  forgetAnswers,
  isStatic,
  isWaiting,
  launches,
  onWaiting,
  sites,
} from "./api";
import { CalculatorPane } from "./calculator";
import { RunsPane, TwinPane, comparesRuns, useComparison } from "./compare";
import { ElementPane } from "./element";
import { isPlace, resolve } from "./expression";
import { Flow, FlowChart, kernelName } from "./flow";
import { FlowIndexer } from "./flowindex";
import { FlowPane } from "./flowpage";
import {
  bufferName,
  bytesText,
  counted,
  elementName,
  errorText,
  fileName,
  flowNames,
  launchName,
  learnStream,
  many,
  stepName,
} from "./format";
import { useListen } from "./hooks";
import { MemoryPane, PhasePane, memoryName } from "./memory";
import { learnSteps, onTime, setTime, stepIndex, timeStep } from "./time";
import { TimeBar } from "./timebar";
import {
  bufferType,
  forgetVariables,
  learnTypes,
  onTypes,
  variableBytes,
  variableType,
  variables,
  variablesOfKernel,
} from "./types";
import { FindingPane, LaunchPane } from "./launch";
import { Lines } from "./lines";
import { List } from "./list";
import { Button, Copy, Failure, mainPlace } from "./parts";
import { BufferPane } from "./picture";
import { useRaces } from "./races";
import { SlicePane } from "./slice";
import { ProfilePane } from "./profile";
import { SourcePane } from "./source";
import { StepPane } from "./step";
import { ThreadPane } from "./thread";
import { VersusPane } from "./versus";
import { WatchPane, WatchRow } from "./watch";
import {
  Pane,
  activate,
  activePane,
  close,
  cut,
  follow,
  fromAddress,
  onTrail,
  paneText,
  start,
  trail,
} from "./trail";

export function findingPane(f: Finding): Pane {
  return f.thread === undefined || !f.launch
    ? { kind: "finding", finding: f.id }
    : {
        kind: "thread",
        launch: f.launch,
        thread: f.thread,
        at: f.address ? { address: f.address, write: /write|race/.test(f.kind) } : undefined,
        finding: f.id,
      };
}

// --- the line at the top while something takes long ---
const doing: Record<string, string> = {
  thread: "reading the thread's operations",
  element: "reading the element's operations",
  writers: "looking for who wrote it",
  conflicts: "looking for who else touches it",
  races: "looking for races",
  picture: "making the picture",
  contents: "reading contents",
  watch: "making the picture",
  flow: "reading launches",
  findings: "reading findings",
  buffers: "reading buffers",
  calc: "calculating",
};
function Progress() {
  useListen(onWaiting);
  const [text, set] = useState("");
  const waiting = isWaiting();
  useEffect(() => {
    if (!waiting) {
      set("");
      return;
    }
    let gone = false;
    const look = async () => {
      if (gone || isStatic()) return;
      try {
        const j = await (await fetch("api/progress")).json();
        const oldest = j.working.sort((a: any, b: any) => b.milliseconds - a.milliseconds)[0];
        if (!gone && oldest)
          set(`${doing[oldest.what] ?? oldest.what}: ${(oldest.milliseconds / 1000).toFixed(1)} s`);
      } catch {
        /* the next question will say so */
      }
    };
    const timer = setInterval(look, 500);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [waiting]);
  return (
    <div class={`progress ${waiting ? "on" : ""}`} role="status">
      {text && <span>{text}</span>}
    </div>
  );
}

function trailLabel(p: Pane): string {
  switch (p.kind) {
    case "thread":
      return `${launchName(launches.get(p.launch), p.launch)} thread ${p.thread}`;
    case "element":
      return elementName(p.buffer, p.offset, p.bytes);
    case "buffer":
      return `${bufferName(buffers.get(p.buffer), p.buffer)} as picture`;
    case "source":
      return `line ${p.line}`;
    case "launch":
      return launchName(launches.get(p.launch), p.launch);
    case "finding":
      return `finding`;
    case "step":
      return stepName(p.step);
    case "watch":
      return "watch";
    case "calculator":
      return "calculator";
    case "memory":
      return memoryName(p);
    case "phase":
      return `${variablesOfKernel(launches.get(p.launch)?.kernel ?? 0)[p.variable]?.name ?? "memory"} as picture`;
    case "flow":
      return "flow";
    case "runs":
      return "two runs";
    case "slice":
      return "came from";
    case "twin":
      return `${bufferName(buffers.get(p.buffer), p.buffer)} compared`;
    case "versus":
      return `threads ${p.thread} and ${p.otherThread}`;
    case "profile":
      return "profile";
  }
}

// Launches with races that no tool reported: the recording shows them.
function RacedLaunches({
  races,
  open,
}: {
  races: Map<number, number>;
  open(launch: number): void;
}) {
  const list = [...races].filter(([, n]) => n > 0);
  if (!list.length) return <></>;
  return (
    <>
      <h3 class="listhead">Races that the recording shows</h3>
      <List
        label="launches with races"
        className="findings"
        count={list.length}
        height={34}
        row={(i) => (
          <button type="button" class="raced" onClick={() => open(list[i][0])}>
            <span class="dot" />
            <b>{launchName(launches.get(list[i][0]), list[i][0])}</b>
            <span class="dim">{counted(list[i][1], "race")}</span>
          </button>
        )}
      />
    </>
  );
}

function Findings({ list, current, total }: { list: Finding[]; current: Pane[]; total: number }) {
  const here = current[0] && "finding" in current[0] ? current[0].finding : undefined;
  if (!list.length) return <p class="none">No findings in this run.</p>;
  return (
    <>
      <List
        label="findings"
        className="findings"
        count={list.length}
        height={56}
        row={(i) => {
          const f = list[i],
            p = mainPlace(f.site),
            b = f.allocation ? buffers.get(f.allocation) : undefined;
          const s = sites.get(f.site),
            path = s?.function ? kernelName(s.function) : "";
          return (
            <button
              type="button"
              class={`finding ${f.severity} ${f.id === here ? "here" : ""}`}
              aria-current={f.id === here}
              onClick={() => start(findingPane(f))}
            >
              <span class="dot" />
              <span class="headline" title={f.headline}>
                {f.headline}
              </span>
              <span class="detail">
                {[
                  f.thread !== undefined
                    ? `#${f.launch_number} thread ${f.thread}`
                    : f.launch
                      ? `#${f.launch_number}`
                      : "host",
                  b &&
                    (bufferType(b.id).known
                      ? elementName(b.id, f.offset, f.size || undefined)
                      : bufferName(b)),
                  p && `line ${p[1]}`,
                  path,
                ]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
              {f.count > 1 && (
                <span class="count" title="how often it was found">
                  ×{many(f.count)}
                </span>
              )}
            </button>
          );
        }}
      />
      {list.length < total && (
        <p class="rest">
          the first {many(list.length)} of {many(total)}
        </p>
      )}
    </>
  );
}

function Buffers({
  list,
  current,
  open,
}: {
  list: Buffer[];
  current: number;
  open(id: number): void;
}) {
  return (
    <List
      label="buffers"
      className="buffers"
      count={list.length}
      height={30}
      row={(i) => {
        const b = list[i];
        return (
          <button
            type="button"
            class={`bufferrow ${b.id === current ? "here" : ""}`}
            onClick={() => open(b.id)}
            title={`${b.kind ?? "device"} memory at ${b.base}${b.freed ? ", freed" : ""}`}
          >
            <b>
              {bufferName(b)}
              {!b.name && b.given && (
                <span
                  class="dim given"
                  title="the parameter of the first kernel that was given it; what the program itself calls it is not known"
                >
                  {" "}
                  ({b.given})
                </span>
              )}
            </b>
            <span
              class="dim"
              title={b.why ? `from ${b.why}` : "not known: compile the host code with -g"}
            >
              {bufferType(b.id).known ? bufferType(b.id).name : "?"}
            </span>
            <span class="dim num">{bytesText(b.size)}</span>
          </button>
        );
      }}
    />
  );
}

// What the line at the top understands: 2:4012 is thread 4012 of launch 2, 2 the launch, b[4013] an element, b the buffer, shade the first launch of a kernel.
export const understood =
  "a thread (2:4012), an element (b[4013], s[3], p[3].vel.x, rows[2][5]), a launch (2), a buffer (b) or a kernel";
// s[3] in shared memory: of the block that is looked at, or of the first launch of a kernel that has such a variable.
function goToVariable(text: string, flow: Flow): boolean {
  const m = /^\s*([A-Za-z_]\w*)((?:\[\d+\])*)\s*$/.exec(text),
    here = trail()[activePane()],
    launchHere = here && "launch" in here ? here.launch : 0;
  if (!m) return false;
  const fits = variables.filter((v) => v.name === m[1] && v.address !== undefined);
  const v = fits.find((x) => x.kernel === launches.get(launchHere)?.kernel) ?? fits[0];
  if (!v) return false;
  const launch =
      launches.get(launchHere)?.kernel === v.kernel
        ? launchHere
        : (flow.steps.find((x) => x.kind === "launch" && x.kernel === v.kernel && x.recorded)
            ?.launch ?? 0),
    l = launches.get(launch),
    per = l ? l.block[0] * l.block[1] * l.block[2] : 0;
  const thread = here && here.kind === "thread" && here.launch === launch ? here.thread : 0,
    block =
      here && (here.kind === "memory" || here.kind === "phase") && here.launch === launch
        ? here.block
        : per
          ? Math.floor(thread / per)
          : 0;
  const t = variableType(v),
    dims = (v.dims ?? "")
      .split(",")
      .map(Number)
      .filter((n) => n > 0),
    index = [...m[2].matchAll(/\d+/g)].map(Number);
  if (!launch) return false;
  const space = v.space === "shared" ? 1 : 2,
    own = space === 2 && per ? thread % per : 0;
  const open = () => {
    if (!index.length && variableBytes(v, launches.get(launch)) > t.bytes) {
      start({
        kind: "phase",
        launch,
        space,
        block,
        thread: own,
        variable: variablesOfKernel(v.kernel).indexOf(v),
        phase: 0,
      });
      return;
    }
    let element = 0;
    index.forEach((n, i) => {
      element = i ? element * (dims[i] || 1) + n : n;
    });
    start({
      kind: "memory",
      launch,
      space,
      block,
      thread: own,
      address: v.address! + element * t.bytes,
      bytes: t.bytes,
    });
  };
  if (l) open();
  else
    void ask("launch", { id: launch }).then(
      (j: any) => {
        if (j.launch) launches.set(launch, j.launch);
        open();
      },
      () => {},
    );
  return true;
}
async function goTo(text: string, flow: Flow): Promise<boolean> {
  const t = /^\s*#?(\d+)(?:\s*[:. ]\s*(\d+))?\s*$/.exec(text),
    name = text.replace(/\s+/g, "");
  const launch =
    t && flow.steps.find((x) => x.launch && x.kind === "launch" && x.number === Number(t[1]));
  if (launch) {
    if (t[2] === undefined) start({ kind: "launch", launch: launch.launch });
    else if (Number(t[2]) < launch.blocks * launch.threads)
      start({ kind: "thread", launch: launch.launch, thread: Number(t[2]) });
    else return false;
    return true;
  }
  const named = (n: string) => [...buffers.values()].find((x) => bufferName(x) === n),
    b = named(name);
  if (b) {
    start({ kind: "buffer", buffer: b.id, step: 0, width: 0 });
    return true;
  }
  // Names of the program come before those that a kernel has for its parameters.
  const place = /[[.*>]/.test(name) ? await resolve(name) : undefined,
    own = isPlace(place) && name.startsWith(bufferName(buffers.get(place.buffer)));
  if (!own && goToVariable(text, flow)) return true;
  if (isPlace(place)) {
    start({ kind: "element", buffer: place.buffer, offset: place.offset, bytes: place.bytes });
    return true;
  }
  const kernel =
    name &&
    flow.steps.find(
      (x) => x.launch && x.kind === "launch" && kernelName(flow.kernels[x.kernel]) === name,
    );
  if (kernel) start({ kind: "launch", launch: kernel.launch });
  return !!kernel;
}

// Names that begin with what is typed: buffers, variables of kernels, kernels.
function suggestions(text: string, list: Buffer[], flow: Flow): string[] {
  const typed = text.trim().toLowerCase(),
    out = new Set<string>();
  if (!/^[a-z_]/.test(typed)) return [];
  for (const all of [
    list.map((b) => bufferName(b)),
    variables.map((v) => v.name),
    Object.values(flow.kernels).map(kernelName),
  ])
    for (const n of all) {
      if (out.size >= 12) return [...out];
      if (n.toLowerCase().startsWith(typed) && n.toLowerCase() !== typed) out.add(n);
    }
  return [...out];
}

const keys: [string, string][] = [
  ["↑ ↓", "choose an operation"],
  ["Enter", "follow it: to its element, or to the thread"],
  ["w", "to the thread that wrote the value"],
  ["r", "to a thread that races for the element"],
  ["← →", "to the pane beside"],
  ["[ ]", "the thread or element before, after"],
  ["{ }", "of an element: the write before, the next one"],
  ["Backspace", "close the pane"],
  ["K", "keep the pane when something else is followed"],
  ["< >", "move the pane"],
  ["s", "source"],
  ["x", "PTX beside the source"],
  ["b", "the buffer as a picture"],
  ["+ -", "picture larger, smaller"],
  ["f", "to the flow chart"],
  ["F", "the flow of the whole run, on a page of its own"],
  [", .", "time: the step before, the next one"],
  ["Space", "time: play, stop"],
  ["o", "where the value came from, as a tree"],
  ["v", "compare: with another thread, with another step"],
  ["P", "what the profile says"],
  ["D", "what differs between two runs"],
  ["c", "calculator"],
  ["n p", "next, previous finding"],
  ["g or /", `go to ${understood}`],
  ["t", "light, dark"],
  ["?", "this list"],
];

// Buffers of the compiler and of Warpgrind (texts of printf, saved states of interrupts) are not listed.
const shownBuffers = (all: Buffer[]) => all.filter((b) => !b.own).sort((x, y) => x.id - y.id);
const FLOW_PAGE = 2000; // steps: what is read in a moment
const stepTitle = (s: FlowStep, kernels: Record<string, string>) =>
  s.kind === "launch" ? kernelName(kernels[s.kernel]) : s.call || s.kind;
const nameLaunches = (steps: FlowStep[], kernels: Record<string, string>) =>
  steps.forEach((x) => {
    if (x.kind === "launch" && x.launch)
      (flowNames.set(x.launch, `${kernelName(kernels[x.kernel])} #${x.number}`),
        learnStream(x.launch, x.stream));
  });

export function App() {
  useListen(onTrail, onTypes, onTime);

  const [run, setRun] = useState<RunInfo>(),
    [error, setError] = useState<string>(),
    [findings, setFindings] = useState<Finding[]>([]),
    [flow, setFlow] = useState<Flow>(() => ({
      steps: [],
      kernels: {},
      total: 0,
      index: new FlowIndexer().index,
    }));
  const [list, setList] = useState<Buffer[]>([]),
    [ready, setReady] = useState(false),
    [tab, setTab] = useState<"findings" | "buffers" | "watches">("findings"),
    [watches, setWatches] = useState<Watch[]>([]),
    [help, setHelp] = useState(false),
    [where, setWhere] = useState("");
  const comparison = useComparison(!!run && !isStatic()),
    raceSearch = useRaces(run),
    { races } = raceSearch;
  const [theme, setTheme] = useState(() => {
    try {
      return localStorage.getItem("theme") ?? "auto";
    } catch {
      return "auto";
    }
  });
  const panesBox = useRef<HTMLElement>(null),
    search = useRef<HTMLInputElement>(null);
  const panes = trail(),
    active = activePane();

  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      /* not kept */
    }
  }, [theme]);
  useEffect(() => {
    const load = async () => {
      try {
        const [r, f, b, first, known] = await Promise.all([
          ask<RunInfo>("run"),
          ask<{ findings: Finding[] }>("findings", { most: 500 }),
          ask<{ buffers: Buffer[] }>("buffers", { most: 5000 }),
          ask<any>("flow", { skip: 0, most: FLOW_PAGE }),
          ask<any>("types"),
        ]);
        learnTypes(known);
        b.buffers.forEach((x) => buffers.set(x.id, x));
        let steps: FlowStep[] = first.steps.map(flowStep),
          all = b.buffers,
          found = f.findings;
        const indexer = new FlowIndexer(),
          name = (s: FlowStep) => stepTitle(s, first.kernels);
        learnSteps(steps);
        nameLaunches(steps, first.kernels);
        await indexer.add(steps, name);
        if (steps.length >= first.total) await indexer.finish();
        setRun(r);
        setFindings(f.findings);
        setList(shownBuffers(b.buffers));
        setFlow({ steps, kernels: first.kernels, total: first.total, index: indexer.index });
        document.title = `${fileName(r.meta.program ?? r.file)} · Warpgrind`;
        if (!r.findings) setTab("buffers");
        fromAddress();
        // Opening a run with a finding starts at its thread.
        // One without starts at the flow of the whole run.
        if (!trail().length && !f.findings.length && (await comparesRuns()))
          start({ kind: "runs" });
        if (
          !trail().length &&
          (f.findings.length || steps.length || r.meta.tools?.includes("profile"))
        ) {
          start(
            f.findings.length
              ? findingPane(f.findings[0])
              : r.meta.tools?.split(",").includes("profile")
                ? { kind: "profile", kernel: 0 }
                : { kind: "flow" },
          );
          history.replaceState(null, "", location.hash);
        }
        setReady(true);
        while (all.length < r.buffers && all.length < 100000) {
          const more = await ask<{ buffers: Buffer[] }>("buffers", {
            skip: all.length,
            most: 20000,
          });
          if (!more.buffers.length) break;
          more.buffers.forEach((x) => buffers.set(x.id, x));
          setList(shownBuffers((all = [...all, ...more.buffers])));
        }
        while (found.length < r.findings && found.length < 5000) {
          const more = await ask<{ findings: Finding[] }>("findings", {
            skip: found.length,
            most: 1500,
          });
          if (!more.findings.length) break;
          setFindings((found = [...found, ...more.findings]));
        }
        while (steps.length < first.total && steps.length < 100000) {
          const more = await ask<any>("flow", { skip: steps.length, most: FLOW_PAGE });
          if (!more.steps.length) break;
          const next: FlowStep[] = more.steps.map(flowStep);
          nameLaunches(next, more.kernels);
          steps = steps.concat(next);
          learnSteps(steps);
          await indexer.add(next, name);
        }
        // drawn once for all of them: each time takes a moment
        if (steps.length > first.steps.length) {
          await indexer.finish();
          setFlow({ steps, kernels: first.kernels, total: first.total, index: indexer.index });
        }
        setError(undefined);
      } catch (e) {
        setError(errorText(e));
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

  const haveWatches = () =>
    ask<{ watches: Watch[] }>("watches").then(
      (w) => {
        setWatches(w.watches);
        return w.watches;
      },
      () => [] as Watch[],
    );
  useEffect(() => {
    if (!run?.recorded) return;
    void haveWatches().then((w) => {
      const first = w.find((x) => x.watched);
      if (first && run.live) {
        setTab("watches");
        if (trail().length <= 1 && !findings.length)
          start({ kind: "watch", site: first.site, launch: 0, width: 0 });
      }
    });
  }, [run?.recorded]);
  // While the program runs the file grows: all that was asked at the start is asked again when it has.
  useEffect(() => {
    if (!run?.live || run.meta.complete === "yes") return;
    let gone = false;
    const look = async () => {
      try {
        forgetAnswers();
        const r = await ask<RunInfo>("run");
        if (gone) return;
        if (
          r.steps !== run.steps ||
          r.operations !== run.operations ||
          r.launches !== run.launches ||
          r.findings !== run.findings ||
          r.recorded !== run.recorded ||
          r.meta.complete !== run.meta.complete
        ) {
          const [f, b, all, known] = await Promise.all([
            ask<{ findings: Finding[] }>("findings", { most: 500 }),
            ask<{ buffers: Buffer[] }>("buffers", { most: 5000 }),
            ask<any>("flow", { skip: 0, most: 20000 }),
            ask<any>("types"),
          ]);
          if (gone) return;
          const steps: FlowStep[] = all.steps.map(flowStep);
          learnTypes(known);
          forgetVariables();
          b.buffers.forEach((x) => buffers.set(x.id, x));
          nameLaunches(steps, all.kernels);
          learnSteps(steps);
          const indexer = new FlowIndexer();
          await indexer.add(steps, (s) => stepTitle(s, all.kernels));
          await indexer.finish();
          setFindings(f.findings);
          setList(shownBuffers(b.buffers));
          setFlow({ steps, kernels: all.kernels, total: all.total, index: indexer.index });
          if (r.recorded) await haveWatches();
          setRun(r);
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

  // The active pane comes into sight when the path has changed, and where a key or the path above has chosen it; not under a mouse that is pressing something.
  const reveal = () => {
    const box = panesBox.current,
      e = box?.querySelector<HTMLElement>(`section[data-pane="${activePane()}"]`);
    if (box && e)
      box.scrollTo({
        left: Math.max(0, e.offsetLeft + e.offsetWidth - box.clientWidth + 16),
        behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
      });
  };
  const choosePane = (i: number) => {
    activate(i);
    reveal();
  };
  // after the page is drawn: asking for sizes before would make the browser lay it out at once
  useEffect(reveal, [panes.map(paneText).join("/"), ready]);
  useEffect(() => {
    const o = new ResizeObserver(reveal);
    if (panesBox.current) o.observe(panesBox.current);
    return () => o.disconnect();
  }, []);
  useEffect(
    () =>
      document
        .querySelector(".trail .here")
        ?.scrollIntoView({ block: "nearest", inline: "nearest" }),
    [panes.length, active, ready],
  );

  const here = panes[active];
  const currentLaunch = here && "launch" in here ? here.launch : 0;
  const current =
    here?.kind === "step"
      ? here.step
      : here?.kind === "buffer" || here?.kind === "flow"
        ? timeStep()
        : (launches.get(currentLaunch)?.step ??
          flow.steps.find((s) => s.launch === currentLaunch && currentLaunch && s.kind === "launch")
            ?.id ??
          0);
  const currentBuffer = here && "buffer" in here ? here.buffer : 0;

  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      // Boxes to tick and sliders take no letters: those stay keys of the page.
      const kind = (target as HTMLInputElement).type,
        ticks = kind === "checkbox" && e.key !== " ",
        slides = kind === "range" && !/^(Arrow|Page|Home|End)/.test(e.key);
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !ticks && !slides) {
        if (e.key === "Escape") target.blur();
        return;
      }
      const section = panesBox.current?.querySelector<HTMLElement>(
        `section[data-pane="${activePane()}"]`,
      );
      const p = trail()[activePane()];
      const press = (label: string) =>
        section?.querySelector<HTMLElement>(`button[aria-label^="${label}"]`)?.click();
      const chosenRow = () =>
        document.activeElement?.classList.contains("op")
          ? (document.activeElement as HTMLElement)
          : section?.querySelector<HTMLElement>(".op.selected");
      const move = (by: number) => {
        const dots = section?.querySelector<HTMLElement>(".canvas");
        if (dots) {
          dots.focus();
          return;
        }
        const rows = [...(section?.querySelectorAll<HTMLElement>(".op") ?? [])],
          at = rows.findIndex((r) => r === document.activeElement),
          mark = at >= 0 ? at : rows.findIndex((r) => r.classList.contains("selected"));
        const next = rows[Math.max(0, Math.min(rows.length - 1, mark < 0 ? 0 : mark + by))];
        next?.focus();
        next?.scrollIntoView({ block: "nearest" });
      };
      const finding = (by: number) => {
        const i = findings.findIndex(
            (f) => trail()[0] && paneText(findingPane(f)) === paneText(trail()[0]),
          ),
          n = findings[Math.max(0, Math.min(findings.length - 1, i + by))];
        if (n) start(findingPane(n));
      };
      const actions: Record<string, () => void> = {
        ArrowDown: () => move(1),
        j: () => move(1),
        ArrowUp: () => move(-1),
        k: () => move(-1),
        K: () => press("Keep this pane"),
        "<": () => press("Move this pane to the left"),
        ">": () => press("Move this pane to the right"),
        ArrowLeft: () => choosePane(activePane() - 1),
        h: () => choosePane(activePane() - 1),
        ArrowRight: () => choosePane(activePane() + 1),
        l: () => choosePane(activePane() + 1),
        Enter: () => {
          if (!/^(BUTTON|A)$/.test(target.tagName)) chosenRow()?.click();
        },
        w: () => chosenRow()?.querySelector<HTMLElement>(".go.from")?.click(),
        r: () => chosenRow()?.querySelector<HTMLElement>(".go.race")?.click(),
        f: () => document.querySelector<HTMLElement>(".rail .flowbox")?.focus(),
        F: () => openFlow(),
        P: () => openProfile(),
        D: () => openRuns(),
        o: () => press("Where this came from"),
        v: () => press("Compare"),
        ",": () => moveTime(-1),
        ".": () => moveTime(1),
        " ": () =>
          document
            .querySelector<HTMLElement>(
              '.timebar button[aria-label^="Play"], .timebar button[aria-label^="Stop"]',
            )
            ?.click(),
        "[": () => press(p?.kind === "element" ? "The element before" : "The thread before"),
        "]": () => press(p?.kind === "element" ? "The next element" : "The next thread"),
        "{": () => press("The write before"),
        "}": () => press("The next write"),
        Backspace: () => close(activePane()),
        s: () => press("Source"),
        x: () => press("PTX"),
        b: () => press("The buffer as a picture"),
        c: () => openCalculator(),
        n: () => finding(1),
        p: () => finding(-1),
        g: () => search.current?.focus(),
        "/": () => search.current?.focus(),
        t: () => turnTheme(),
        "?": () => setHelp((h) => !h),
        Escape: () => setHelp(false),
        "+": () => press("Larger"),
        "-": () => press("Smaller"),
      };
      const act = actions[e.key];
      if (!act || ((e.key === "Enter" || e.key === " ") && /^(BUTTON|A)$/.test(target.tagName)))
        return;
      e.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [findings, theme, flow]);

  const dark =
    theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  const turnTheme = () => setTheme(dark ? "light" : "dark");
  const openFlow = () => {
    const i = trail().findIndex((p) => p.kind === "flow");
    if (i >= 0) {
      cut(i);
      document.querySelector<HTMLElement>(".flowbox.big")?.focus();
    } else start({ kind: "flow" });
  };
  const openRuns = () => {
    const i = trail().findIndex((p) => p.kind === "runs");
    if (i >= 0) cut(i);
    else start({ kind: "runs" });
  };
  const openProfile = () => {
    const i = trail().findIndex((p) => p.kind === "profile");
    if (i >= 0) cut(i);
    else start({ kind: "profile", kernel: 0 });
  };
  const moveTime = (by: number) => {
    const n = flow.steps.length,
      i = (timeStep() ? stepIndex(timeStep()) : n) + by;
    if (n) setTime(i >= n ? 0 : flow.steps[Math.max(0, i)].id);
  };
  const usesOf = (launch: number) =>
    flow.steps.find((s) => s.kind === "launch" && s.launch === launch)?.uses.map((u) => u[0]) ?? [];
  const openCalculator = () => {
    const i = trail().findIndex((p) => p.kind === "calculator");
    if (i >= 0) choosePane(i);
    else if (trail().length) follow(trail().length - 1, { kind: "calculator", expression: "" });
    else start({ kind: "calculator", expression: "" });
  };
  const facts = useMemo(
    () =>
      run &&
      [
        run.meta.device && `device ${run.meta.device}`,
        run.meta.tools
          ?.split(",")
          .map((x) => (x === "record" || x === "trace" ? "recorded" : x))
          .join(", "),
        counted(run.launches, "launch", "launches"),
        run.recorded ? counted(run.operations ?? 0, "operation") : "",
        run.meta.complete === "no" &&
          (run.live ? "still running" : "not finished: what was known when Warpgrind was ended"),
      ]
        .filter(Boolean)
        .join(" · "),
    [run],
  );

  function view(p: Pane, i: number): ComponentChild {
    const common = { key: `${i}:${p.kind}`, index: i, active: i === active };
    switch (p.kind) {
      case "thread":
        return <ThreadPane {...common} pane={p} findings={findings} flowUses={usesOf} />;
      case "memory":
        return <MemoryPane {...common} pane={p} />;
      case "phase":
        return <PhasePane {...common} pane={p} />;
      case "flow":
        return (
          <FlowPane
            {...common}
            pane={p}
            flow={flow}
            list={list}
            races={races}
            raceSearch={raceSearch}
          />
        );
      case "profile":
        return <ProfilePane {...common} pane={p} />;
      case "element":
        return <ElementPane {...common} pane={p} findings={findings} />;
      case "buffer":
        return <BufferPane {...common} pane={p} steps={flow.steps} findings={findings} />;
      case "source":
        return <SourcePane {...common} pane={p} />;
      case "launch":
        return (
          <LaunchPane
            {...common}
            pane={p}
            findings={findings}
            races={races}
            raceSearch={raceSearch}
          />
        );
      case "step":
        return <StepPane {...common} pane={p} />;
      case "finding":
        return <FindingPane {...common} pane={p} findings={findings} />;
      case "watch":
        return (
          <WatchPane
            {...common}
            pane={p}
            watches={watches}
            live={!!run?.live && run.meta.complete !== "yes"}
          />
        );
      case "slice":
        return <SlicePane {...common} pane={p} />;
      case "runs":
        return <RunsPane {...common} comparison={comparison} />;
      case "twin":
        return <TwinPane {...common} pane={p} kernels={flow.kernels} />;
      case "versus":
        return <VersusPane {...common} pane={p} hasOther={!!comparison} />;
      case "calculator":
        return <CalculatorPane {...common} pane={p} />;
    }
  }

  if (error && !run && /^waiting/.test(error))
    return (
      <main class="broken">
        <h1>Warpgrind</h1>
        <p role="status">Waiting for the program: its run file is not there yet.</p>
      </main>
    );
  if (error && !run)
    return (
      <main class="broken">
        <h1>Warpgrind</h1>
        <Failure text={error} />
      </main>
    );
  return (
    <div class="app">
      <Progress />
      <header class="bar">
        <h1>
          <span class="logo" aria-hidden="true" />
          {run ? fileName(run.meta.program ?? run.file) : "…"}
        </h1>
        <span class="facts dim">{facts}</span>
        <form
          class="search"
          onSubmit={(e) => {
            e.preventDefault();
            void goTo(search.current?.value ?? "", flow)
              .catch(() => false)
              .then((found) => {
                if (found) {
                  setWhere("");
                  search.current?.blur();
                } else
                  (search.current?.setCustomValidity(`nothing of that name is here: ${understood}`),
                    search.current?.reportValidity());
              });
          }}
        >
          <input
            ref={search}
            value={where}
            placeholder="2:4012 or b[4013]"
            aria-label={`go to ${understood}`}
            title={`go to ${understood}`}
            spellcheck={false}
            list="names"
            autocomplete="off"
            onInput={(e) => {
              e.currentTarget.setCustomValidity("");
              setWhere(e.currentTarget.value);
            }}
          />
          <datalist id="names">
            {suggestions(where, list, flow).map((n) => (
              <option value={n} />
            ))}
          </datalist>
        </form>
        <Button icon="flow" label="The flow of the whole run (F)" onClick={openFlow} />
        {comparison && (
          <Button icon="twins" label="Compare the two runs (D)" onClick={openRuns}>
            {comparison.different ? `${many(comparison.different)} differ` : "compare"}
          </Button>
        )}
        {run?.meta.tools?.split(",").includes("profile") && (
          <Button icon="profile" label="What the profile says (P)" onClick={openProfile} />
        )}
        <Button icon="calculator" label="Calculator (c)" onClick={openCalculator} />
        <Button icon="sun" label="Light or dark (t)" onClick={turnTheme} />
        <Button icon="help" label="Keys (?)" onClick={() => setHelp(!help)} />
      </header>
      <nav class="trail" aria-label="the path walked">
        {panes.map((p, i) => (
          <>
            {i > 0 && (
              <span class="step" aria-hidden="true">
                ›
              </span>
            )}
            <button
              type="button"
              class={i === active ? "here" : ""}
              onClick={() => choosePane(i)}
              onDblClick={() => cut(i)}
              title="double click: back to here"
            >
              {trailLabel(p)}
            </button>
          </>
        ))}
        <TimeBar steps={flow.steps} kernel={(x) => kernelName(flow.kernels[x.kernel])} />
        {panes.length > 0 && (
          <Copy label="Copy the address of this path" text={() => location.href} />
        )}
      </nav>
      <aside class="rail">
        <div
          class="tabs"
          role="tablist"
          onKeyDown={(e) => {
            if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
            e.preventDefault();
            e.stopPropagation();
            const all = [...e.currentTarget.querySelectorAll<HTMLElement>("button")],
              n =
                all[
                  (all.indexOf(document.activeElement as HTMLElement) +
                    (e.key === "ArrowRight" ? 1 : -1) +
                    all.length) %
                    all.length
                ];
            n.focus();
            n.click();
          }}
        >
          <button
            type="button"
            role="tab"
            aria-selected={tab === "findings"}
            onClick={() => setTab("findings")}
          >
            Findings <span class="count">{run?.findings ?? ""}</span>
            {races.size > 0 && <span class="dot raced" title="the recording shows races" />}
          </button>
          <button
            type="button"
            role="tab"
            aria-selected={tab === "buffers"}
            onClick={() => setTab("buffers")}
          >
            Buffers <span class="count">{ready ? list.length : ""}</span>
          </button>
          {watches.length > 0 && (
            <button
              type="button"
              role="tab"
              aria-selected={tab === "watches"}
              onClick={() => setTab("watches")}
            >
              Watches <span class="count">{watches.length}</span>
            </button>
          )}
        </div>
        {ready &&
          (tab === "findings" ? (
            <div class="found">
              <Findings list={findings} current={panes} total={run?.findings ?? 0} />
              <RacedLaunches races={races} open={(launch) => start({ kind: "launch", launch })} />
            </div>
          ) : tab === "watches" ? (
            <List
              label="watches"
              className="buffers"
              count={watches.length}
              height={30}
              row={(i) => (
                <WatchRow
                  watch={watches[i]}
                  here={here?.kind === "watch" && here.site === watches[i].site}
                  open={() => start({ kind: "watch", site: watches[i].site, launch: 0, width: 0 })}
                />
              )}
            />
          ) : (
            <Buffers
              list={list}
              current={currentBuffer}
              open={(id) => start({ kind: "buffer", buffer: id, step: 0, width: 0 })}
            />
          ))}
        <FlowChart
          flow={flow}
          current={current}
          currentBuffer={currentBuffer}
          openLaunch={(launch) => start({ kind: "launch", launch })}
          openBuffer={(buffer, step) => {
            setTime(step);
            start({ kind: "buffer", buffer, step: 0, width: 0 });
          }}
          openAll={openFlow}
          races={races}
          openStep={(step) => start({ kind: "step", step, buffer: 0, offset: 0, bytes: 0 })}
        />
      </aside>
      <main class="panes" ref={panesBox}>
        {ready && run && !run.recorded && !panes.some((p) => p.kind === "profile") && (
          <div class="hint">
            {(run.not_recorded ?? "").replace(/\.?$/, ".")} Threads, elements and buffers need a
            recording: warpgrind --record -o run.wg ./app
          </div>
        )}
        {ready && <Lines panes={panes} host={panesBox} />}
        {ready && panes.map(view)}
        {ready && !panes.length && (
          <div class="empty">Choose a finding, a launch or a buffer on the left.</div>
        )}
      </main>
      {help && (
        <div class="overlay" onClick={() => setHelp(false)}>
          <div class="keysheet" role="dialog" aria-label="keys">
            <h2>Keys</h2>
            <dl>
              {keys.map(([k, v]) => (
                <>
                  <dt>{k.split(" ").map((x) => (x === "or" ? " or " : <kbd>{x}</kbd>))}</dt>
                  <dd>{v}</dd>
                </>
              ))}
            </dl>
          </div>
        </div>
      )}
    </div>
  );
}
