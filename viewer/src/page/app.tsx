// The page: a bar, the path walked, lists at the left, and the panes side by side.
import { useEffect, useRef, useState } from "preact/hooks";
import { isStatic, RunInfo } from "../run/api";
import { useComparison } from "../compare/compare";
import { Ref } from "../picture/dots";
import { useListen } from "../parts/hooks";
import { KeySheet } from "./keysheet";
import { Lines } from "../parts/lines";
import { usePageKeys } from "./pagekeys";
import { PaneView } from "./paneview";
import { Failure } from "../parts/parts";
import { Progress } from "./progress";
import { useRaces } from "../run/races";
import { useRun } from "./runload";
import { Sidebar } from "./sidebar";
import { useTheme } from "./theme";
import { onTime } from "../run/time";
import { TopBar } from "./topbar";
import { activate, activePane, onTrail, Pane, paneText, trail } from "../parts/trail";
import { TrailBar } from "./trailbar";
import { onTypes } from "../run/types";

// Measures positions only after the page has been laid out: measuring earlier would force the
// browser to lay it out at once.
function laidOut(box: Element | null, then: () => void) {
  if (!box) return () => {};
  const o = new ResizeObserver(() => {
    o.disconnect();
    then();
  });
  o.observe(box);
  return () => o.disconnect();
}

// Scrolls the active pane into sight: when the path has changed, or when a key or the path above
// has chosen the pane. Not while a mouse button is down on something.
function reveal(box: HTMLElement | null) {
  const e = box?.querySelector<HTMLElement>(`section[data-pane="${activePane()}"]`);
  if (box && e)
    box.scrollTo({
      left: Math.max(0, e.offsetLeft + e.offsetWidth - box.clientWidth + 16),
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
    });
}
function useReveal(panesBox: Ref<HTMLElement>, panes: Pane[], active: number, ready: boolean) {
  useEffect(
    () => laidOut(panesBox.current, () => reveal(panesBox.current)),
    [panes.map(paneText).join("/"), ready],
  );
  useEffect(() => {
    const o = new ResizeObserver(() => reveal(panesBox.current));
    if (panesBox.current) o.observe(panesBox.current);
    return () => o.disconnect();
  }, []);
  useEffect(() => {
    const here = document.querySelector(".trail .here");
    return laidOut(here, () => here?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  }, [panes.length, active, ready]);
}

// Instead of the page, while there is no run.
const NoRun = ({ error }: { error: string }) => (
  <main class="broken">
    <h1>Warpgrind</h1>
    {/^waiting/.test(error) ? (
      <p role="status">Waiting for the program: its run file is not there yet.</p>
    ) : (
      <Failure text={error} />
    )}
  </main>
);
const NotRecorded = ({ run }: { run: RunInfo }) => (
  <div class="hint">
    {(run.not_recorded ?? "").replace(/\.?$/, ".")} Threads, elements and buffers need a recording:
    warpgrind --record -o run.wg ./app
  </div>
);

export function App() {
  useListen(onTrail, onTypes, onTime);
  const loaded = useRun();
  const { run, error, findings, flow, list, ready } = loaded;
  const [help, setHelp] = useState(false);
  const comparison = useComparison(!!run && !isStatic());
  const raceSearch = useRaces(run);
  const { races } = raceSearch;
  const { theme, turnTheme } = useTheme();
  const panesBox = useRef<HTMLElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const panes = trail();
  const active = activePane();
  const choosePane = (i: number) => {
    activate(i);
    reveal(panesBox.current);
  };
  useReveal(panesBox, panes, active, ready);
  usePageKeys({ panesBox, search, findings, flow, theme, choosePane, turnTheme, setHelp });

  if (error && !run) return <NoRun error={error} />;
  return (
    <div class="app">
      <Progress />
      <TopBar
        {...{ run, comparison, search, list, flow, choosePane, turnTheme }}
        turnHelp={() => setHelp(!help)}
      />
      <TrailBar panes={panes} active={active} flow={flow} choosePane={choosePane} />
      <Sidebar loaded={loaded} races={races} panes={panes} here={panes[active]} />
      <main class="panes" ref={panesBox}>
        {ready && run && !run.recorded && !panes.some((p) => p.kind === "profile") && (
          <NotRecorded run={run} />
        )}
        {ready && <Lines panes={panes} host={panesBox} />}
        {ready &&
          panes.map((p, i) => (
            <PaneView
              key={`${i}:${p.kind}`}
              {...{ pane: p, index: i, active: i === active, loaded, raceSearch, comparison }}
            />
          ))}
        {ready && !panes.length && (
          <div class="empty">Choose a finding, a launch or a buffer on the left.</div>
        )}
      </main>
      {help && <KeySheet close={() => setHelp(false)} />}
    </div>
  );
}
