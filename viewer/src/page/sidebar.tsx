// The left side of the page: findings, buffers or watches, and the flow chart below them.
import { bufferPane } from "../run/bufferpane";
import { Flow } from "../flow/flowstep";
import { ComponentChildren } from "preact";
import { launches } from "../run/api";
import { FlowChart } from "../flow/flow";
import { List } from "../parts/list";
import { openFlow } from "./opening";
import { Buffers, Findings, RacedLaunches } from "./rail";
import { Loaded, Tab } from "./runload";
import { setTime, timeStep } from "../run/time";
import { Pane, start } from "../parts/trail";
import { WatchRow } from "../watch/watch";

// Left and right go from tab to tab.
function moveTab(e: KeyboardEvent) {
  if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
  e.preventDefault();
  e.stopPropagation();
  const all = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = all[(at + (e.key === "ArrowRight" ? 1 : -1) + all.length) % all.length];
  next.focus();
  next.click();
}

interface SideProps {
  loaded: Loaded;
  races: Map<number, number>;
  panes: Pane[];
  here?: Pane;
}
function Tabs({ loaded, races }: SideProps) {
  const { run, ready, list, watches } = loaded;
  const tab = (name: Tab, children: ComponentChildren) => (
    <button
      type="button"
      role="tab"
      aria-selected={loaded.tab === name}
      onClick={() => loaded.setTab(name)}
    >
      {children}
    </button>
  );
  return (
    <div class="tabs" role="tablist" onKeyDown={moveTab}>
      {tab(
        "findings",
        <>
          Findings <span class="count">{run?.findings ?? ""}</span>
          {races.size > 0 && <span class="dot raced" title="the recording shows races" />}
        </>,
      )}
      {tab(
        "buffers",
        <>
          Buffers <span class="count">{ready ? list.length : ""}</span>
        </>,
      )}
      {watches.length > 0 &&
        tab(
          "watches",
          <>
            Watches <span class="count">{watches.length}</span>
          </>,
        )}
    </div>
  );
}

const currentBufferOf = (here: Pane | undefined) => (here && "buffer" in here ? here.buffer : 0);
function currentStepOf(here: Pane | undefined, flow: Flow): number {
  if (here?.kind === "step") return here.step;
  if (here?.kind === "buffer" || here?.kind === "flow") return timeStep();
  const launch = here && "launch" in here ? here.launch : 0;
  return (
    launches.get(launch)?.step ??
    flow.steps.find((s) => s.launch === launch && launch && s.kind === "launch")?.id ??
    0
  );
}

function TabContents({ loaded, races, panes, here }: SideProps) {
  const { run, findings, watches, list } = loaded;
  if (loaded.tab === "findings")
    return (
      <div class="found">
        <Findings list={findings} current={panes} total={run?.findings ?? 0} />
        <RacedLaunches races={races} open={(launch) => start({ kind: "launch", launch })} />
      </div>
    );
  if (loaded.tab === "watches")
    return (
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
    );
  return (
    <Buffers list={list} current={currentBufferOf(here)} open={(id) => start(bufferPane(id))} />
  );
}

export function Sidebar(props: SideProps) {
  const { loaded, races, here } = props;
  return (
    <aside class="rail">
      <Tabs {...props} />
      {loaded.ready && <TabContents {...props} />}
      <FlowChart
        flow={loaded.flow}
        current={currentStepOf(here, loaded.flow)}
        currentBuffer={currentBufferOf(here)}
        openLaunch={(launch) => start({ kind: "launch", launch })}
        openBuffer={(buffer, step) => {
          setTime(step);
          start(bufferPane(buffer));
        }}
        openAll={openFlow}
        races={races}
        openStep={(step) => start({ kind: "step", step, buffer: 0, offset: 0, bytes: 0 })}
      />
    </aside>
  );
}
