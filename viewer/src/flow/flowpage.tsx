// The flow of the whole run on a page of its own: time from left to right, a lane for each device
// and stream, launches grouped by kernel and by loop, and below them the buffers that are wanted,
// thousands if need be.
import { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { Buffer } from "../run/api";
import { useBoxSize, usePaint } from "../parts/canvas";
import {
  FlowPointer,
  onFlowKey,
  onFlowWheel,
  openPointed,
  placeIn,
  useFlowDrag,
  useFlowPointer,
} from "./flowpageinput";
import { FlowView, useFlowFilter, useFlowView } from "./flowpagelayout";
import { paintFlow } from "./flowpagepaint";
import { FlowControls, FlowFoot } from "./flowpageparts";
import { Flow, stepText } from "./flowstep";
import { counted } from "../run/format";
import { useListen } from "../parts/hooks";
import { Button, PaneFrame } from "../parts/parts";
import { RaceProgress, RaceSearch } from "../run/races";
import { onTime, stepIndex, timeStep } from "../run/time";
import { Pane } from "../parts/trail";

// The canvas, with mouse and keys.
function FlowBox({
  index,
  box,
  canvas,
  view,
  pointer,
  races,
}: {
  index: number;
  box: RefObject<HTMLDivElement | null>;
  canvas: RefObject<HTMLCanvasElement | null>;
  view: FlowView;
  pointer: FlowPointer;
  races: Map<number, number>;
}) {
  const drag = useFlowDrag(view);
  const { step } = pointer.pointed;
  return (
    <div
      class="flowbox big"
      ref={box}
      tabIndex={0}
      role="application"
      aria-label={
        "flow of the run: left and right choose a step, up and down scroll the buffers, " +
        "n and p go to the next with findings or races, Enter opens it, " +
        `plus and minus zoom. ${step ? stepText(view.layout.flow, step, races) : ""}`
      }
      onKeyDown={(e) => onFlowKey(e, index, view, pointer)}
      onWheel={(e) => onFlowWheel(e, view)}
      onMouseDown={drag.begin}
      onMouseUp={drag.end}
      onMouseMove={(e) => {
        if (!drag.move(e)) pointer.setHover(placeIn(e));
      }}
      onMouseLeave={() => pointer.setHover(undefined)}
      onClick={(e) => {
        if (!drag.moved()) openPointed(index, placeIn(e).x, pointer.pointed);
      }}
    >
      <canvas ref={canvas} />
    </div>
  );
}

const FlowTools = ({ view }: { view: FlowView }) => (
  <>
    <Button icon="fit" label="All steps" onClick={view.showAll} />
    <Button icon="minus" label="See more steps at once" onClick={() => view.zoom(1 / 1.6)} />
    <Button icon="plus" label="See fewer steps, larger" onClick={() => view.zoom(1.6)} />
  </>
);

interface Props {
  pane: Pane;
  index: number;
  active: boolean;
  flow: Flow;
  list: Buffer[];
  races: Map<number, number>;
  raceSearch: RaceSearch;
}

export function FlowPane({ index, active, flow, list, races, raceSearch }: Props) {
  useListen(onTime);
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const { size, theme } = useBoxSize(box, { w: 800, h: 500 });
  const filter = useFlowFilter(flow, list, races);
  const view = useFlowView(flow, filter.rows, size);
  const pointer = useFlowPointer(view, races);
  const { layout } = view;
  const { rows, words, bad, wanted } = filter;
  const { cursor } = pointer;
  const now = timeStep() ? stepIndex(timeStep()) : -1;
  usePaint(canvas, (drawn) => paintFlow(drawn, { layout, now, cursor, races, wanted }), [
    ...[size, flow.steps, layout.from, layout.upto, layout.at, rows, now, cursor],
    ...[races, theme, words, bad, flow, layout.spans],
  ]);
  const { loops } = flow.index;
  return (
    <PaneFrame
      index={index}
      kind="flow"
      active={active}
      title={
        <>
          <span class="what">flow</span> {counted(flow.total, "step")},{" "}
          {counted(rows.length, "buffer")}
        </>
      }
      tools={<FlowTools view={view} />}
      sub={
        <>
          <span>
            {loops.length
              ? `${loops.length === 1 ? "1 loop" : `${loops.length} loops`} found. `
              : ""}
            A click on a launch shows what it did, one on a mark the buffer after it.{" "}
          </span>
          <RaceProgress search={raceSearch} />
        </>
      }
    >
      <FlowControls filter={filter} view={view} />
      <FlowBox {...{ index, box, canvas, view, pointer, races }} />
      <FlowFoot pointed={pointer.pointed} flow={flow} races={races} />
    </PaneFrame>
  );
}
