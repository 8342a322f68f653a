// Chooses the component that shows a pane.
import { Flow } from "../flow/flowstep";
import { CalculatorPane } from "../thread/calculator";
import { Comparison, RunsPane } from "../compare/compare";
import { ElementPane } from "../element/element";
import { FlowPane } from "../flow/flowpage";
import { FindingPane, LaunchPane } from "../launch/launch";
import { MemoryPane } from "../memory/memory";
import { PhasePane } from "../memory/phase";
import { BufferPane } from "../picture/picture";
import { ProfilePane } from "../profile/profile";
import { RaceSearch } from "../run/races";
import { Loaded } from "./runload";
import { SlicePane } from "../thread/slice";
import { SourcePane } from "../source/source";
import { StepPane } from "../element/step";
import { ThreadPane } from "../thread/thread";
import { Pane } from "../parts/trail";
import { TwinPane } from "../compare/twin";
import { VersusPane } from "../compare/versus";
import { WatchPane } from "../watch/watch";

interface ViewProps {
  pane: Pane;
  index: number;
  active: boolean;
  loaded: Loaded;
  raceSearch: RaceSearch;
  comparison?: Comparison;
}

// Buffers that a launch uses.
const usesOf = (flow: Flow) => (launch: number) =>
  flow.steps.find((s) => s.kind === "launch" && s.launch === launch)?.uses.map((u) => u[0]) ?? [];

export function PaneView({ pane: p, index, active, loaded, raceSearch, comparison }: ViewProps) {
  const { findings, flow, run } = loaded;
  const common = { index, active };
  const searched = { races: raceSearch.races, raceSearch };
  switch (p.kind) {
    case "thread":
      return <ThreadPane {...common} pane={p} findings={findings} flowUses={usesOf(flow)} />;
    case "memory":
      return <MemoryPane {...common} pane={p} />;
    case "phase":
      return <PhasePane {...common} pane={p} />;
    case "flow":
      return <FlowPane {...common} {...searched} pane={p} flow={flow} list={loaded.list} />;
    case "profile":
      return <ProfilePane {...common} pane={p} />;
    case "element":
      return <ElementPane {...common} pane={p} findings={findings} />;
    case "buffer":
      return <BufferPane {...common} pane={p} steps={flow.steps} findings={findings} />;
    case "source":
      return <SourcePane {...common} pane={p} />;
    case "launch":
      return <LaunchPane {...common} {...searched} pane={p} findings={findings} />;
    case "step":
      return <StepPane {...common} pane={p} />;
    case "finding":
      return <FindingPane {...common} pane={p} findings={findings} />;
    case "watch": {
      const live = !!run?.live && run.meta.complete !== "yes";
      return <WatchPane {...common} pane={p} watches={loaded.watches} live={live} />;
    }
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
