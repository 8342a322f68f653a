// The flow chart: launches, copies and sets from top to bottom, buffers as columns; a filled mark
// writes, a hollow one reads.
import { useEffect, useRef, useState } from "preact/hooks";
import { FlowStep, buffers } from "../run/api";
import { useBoxSize, usePaint } from "../parts/canvas";
import { ChartColumns, ChartView, useChartColumns, useChartView } from "./flowchartlayout";
import { ChartCursor, paintChart } from "./flowchartpaint";
import { Flow, accessText, stepText } from "./flowstep";
import { bufferName, counted, many } from "../run/format";
import { Button, FlowMarks } from "../parts/parts";
import { hostTail } from "../run/time";

interface Props {
  flow: Flow;
  current: number;
  currentBuffer: number;
  openLaunch(id: number): void;
  openBuffer(id: number, step: number): void;
  openStep(id: number): void;
  openAll(): void;
  races: Map<number, number>;
}

interface ChartPlace {
  props: Props;
  columns: ChartColumns;
  view: ChartView;
  high: number;
}

// The target of the mouse or of the keyboard's cursor: a step, a buffer, and how the step uses the
// buffer.
function useChartPointer({ props, columns, view }: ChartPlace) {
  const [hover, setHover] = useState<{ x: number; y: number } | undefined>();
  const [cursor, setCursor] = useState<ChartCursor | undefined>();
  const { steps } = props.flow;
  const { lanes, laneX, head } = columns;
  const hit: FlowStep | undefined = hover
    ? hover.y > head
      ? steps[Math.floor((hover.y - head + view.at) / view.row)]
      : undefined
    : cursor && steps[cursor.step];
  const lane = hover
    ? [...laneX].find(([, x]) => Math.abs(x - hover.x) < 8)?.[0]
    : cursor && lanes[cursor.lane];
  const how = hit && lane ? hit.uses.find((u) => u[0] === lane)?.[1] : undefined;
  const open = () => {
    if (hover && hover.y <= head && lane) props.openBuffer(lane, 0);
    else if (hit && lane && how !== undefined) props.openBuffer(lane, hit.id);
    else if (hit?.launch) props.openLaunch(hit.launch);
    else if (hit) props.openStep(hit.id);
  };
  const goTo = (step: number, lane = -1) => {
    const i = Math.max(0, Math.min(steps.length - 1, step));
    setHover(undefined);
    setCursor({ step: i, lane });
    view.reveal(i);
  };
  return { hover, setHover, cursor, setCursor, hit, lane, how, open, goTo };
}
type ChartPointer = ReturnType<typeof useChartPointer>;

// The keyboard goes from step to step, and on a step from one of its buffers to the next.
function onChartKey(e: KeyboardEvent, place: ChartPlace, pointer: ChartPointer) {
  const { columns, view, high } = place;
  const { steps } = place.props.flow;
  const { cursor, setCursor, goTo, open } = pointer;
  const current = steps.findIndex((s) => s.id === place.props.current);
  const here = cursor?.step ?? Math.max(0, current);
  const page = Math.max(1, Math.floor((high - columns.head) / view.row) - 1);
  const used = columns.lanes
    .map((b, i) => (steps[here]?.uses.some((u) => u[0] === b) ? i : -1))
    .filter((i) => i >= 0);
  const beside = (by: number) => {
    const all = [-1, ...used];
    const k = all.indexOf(cursor?.lane ?? -1);
    goTo(here, all[Math.max(0, Math.min(all.length - 1, k + by))]);
  };
  const acts: Record<string, () => void> = {
    ArrowDown: () => goTo(here + 1),
    ArrowUp: () => goTo(here - 1),
    PageDown: () => goTo(here + page),
    PageUp: () => goTo(here - page),
    Home: () => goTo(0),
    End: () => goTo(steps.length - 1),
    ArrowRight: () => beside(1),
    ArrowLeft: () => beside(-1),
    Enter: () => {
      open();
      (e.currentTarget as HTMLElement).blur();
    },
    " ": open,
    "+": () => view.zoom(1.6),
    "-": () => view.zoom(1 / 1.6),
    Escape: () => {
      setCursor(undefined);
      (e.currentTarget as HTMLElement).blur();
    },
  };
  const act = e.ctrlKey || e.metaKey || e.altKey ? undefined : acts[e.key];
  if (act) {
    act();
    e.preventDefault();
    e.stopPropagation();
  }
}

function ChartHead({ props, columns, view }: ChartPlace) {
  const { flow, openAll } = props;
  const { missing } = columns;
  return (
    <div class="flowhead">
      <h3>Flow</h3>
      <span class="dim">
        {counted(flow.total, "step")}
        {flow.steps.length < flow.total ? `, the first ${many(flow.steps.length)}` : ""}
        {missing > 0 && (
          <>
            {" "}
            ·{" "}
            <button type="button" class="link" onClick={openAll}>
              {many(missing)} more {missing === 1 ? "buffer" : "buffers"}
            </button>
          </>
        )}
      </span>
      <Button icon="flow" label="The flow of the whole run (F)" onClick={openAll} />
      <Button icon="minus" label="See more steps at once" onClick={() => view.zoom(1 / 1.6)} />
      <Button icon="plus" label="See fewer steps, larger" onClick={() => view.zoom(1.6)} />
    </div>
  );
}

interface ChartFootProps {
  pointer: ChartPointer;
  given: boolean;
  said(s: FlowStep): string;
}
function ChartFoot({ pointer, given, said }: ChartFootProps) {
  const { hit, lane, how } = pointer;
  return (
    <div class="flowfoot">
      {hit ? (
        <>
          {said(hit)}
          {lane && how !== undefined && (
            <> — {accessText(hit, how, bufferName(buffers.get(lane), lane))}</>
          )}
        </>
      ) : (
        <FlowMarks given={given} />
      )}
    </div>
  );
}

export function FlowChart(props: Props) {
  const { flow, current, currentBuffer, races } = props;
  const { steps } = flow;
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const { size, theme } = useBoxSize(box, { w: 300, h: 300 });
  const columns = useChartColumns(flow, size.w);
  const view = useChartView(steps.length, size, columns.head);
  const place = { props, columns, view, high: size.h };
  const pointer = useChartPointer(place);
  const { hover, setHover, cursor, setCursor, hit } = pointer;
  const { at, row, highest } = view;
  // lower rows are not highlighted under the mouse: there are too many
  const hot = row >= 10 ? hover : undefined;
  const indexNow = () => steps.findIndex((s) => s.id === current);
  useEffect(() => {
    const i = indexNow();
    if (i >= 0) view.reveal(i);
  }, [current, steps]);
  const scene = { flow, columns, size, at, row, highest, current, currentBuffer };
  usePaint(canvas, (drawn) => paintChart(drawn, { ...scene, hot, cursor, races }), [
    ...[flow, size, at, row, current, currentBuffer, hot, cursor],
    ...[columns.laneX, columns.names, theme, races],
  ]);
  const said = (s: FlowStep) => stepText(flow, s, races, hostTail(s.id));
  return (
    <div class="flow">
      <ChartHead {...place} />
      <div
        class="flowbox"
        ref={box}
        tabIndex={0}
        role="application"
        aria-label={
          "flow chart: up and down choose a step, left and right a buffer it uses, " +
          `Enter opens it, plus and minus zoom. ${hit ? said(hit) : ""}`
        }
        onKeyDown={(e) => onChartKey(e, place, pointer)}
        onFocus={() => {
          if (!hover && !cursor) pointer.goTo(indexNow());
        }}
        onBlur={() => setCursor(undefined)}
        onWheel={(e) => {
          e.preventDefault();
          if (e.ctrlKey || e.metaKey) view.zoom(e.deltaY < 0 ? 1.25 : 0.8, e.offsetY);
          else view.scrollTo(at + e.deltaY);
        }}
        onMouseDown={(e) => e.preventDefault()}
        onMouseMove={(e) => {
          const r = e.currentTarget.getBoundingClientRect();
          setHover({ x: e.clientX - r.left, y: e.clientY - r.top });
        }}
        onMouseLeave={() => setHover(undefined)}
        onClick={pointer.open}
      >
        <canvas ref={canvas} data-apart={Math.floor(columns.each)} />
      </div>
      <ChartFoot pointer={pointer} given={flow.index.given} said={said} />
    </div>
  );
}
