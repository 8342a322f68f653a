// A buffer as a picture: a dot for each element, or for many of them; outliers stay visible however
// small the dots are.
import { useEffect, useRef, useState } from "preact/hooks";
import { Buffer, buffers, Finding, FlowStep, isStatic } from "../run/api";
import { useRoom } from "./dots";
import { bufferName, bytesText, counted, shortFloat } from "../run/format";
import { useListen } from "../parts/hooks";
import { Button, Failure, PaneFrame, TypeChooser } from "../parts/parts";
import { PictureCanvas } from "./picturecanvas";
import { Choose, FindControls, PictureControls, placeAmong, TimeControls } from "./picturecontrols";
import {
  BufferView,
  useBufferPicture,
  useSteps,
  useTouched,
  useUsualScale,
  useWidths,
} from "./picturedata";
import { drawBuffer } from "./picturedraw";
import { elementOf, fieldOf, useShownElement, writerName } from "./pictureelement";
import { BufferLook, Cell, layoutOf, rowsOf, usePart, zoomed } from "./picturelayout";
import { PictureLegend } from "./picturelegend";
import { scaleOf } from "./scale";
import { onTime, timeStep } from "../run/time";
import { follow, Pane, replace } from "../parts/trail";
import { onTypes, typeHelp } from "../run/types";

interface Props {
  pane: BufferLook;
  index: number;
  active: boolean;
  steps: FlowStep[];
  findings: Finding[];
}

function savePicture(canvas: HTMLCanvasElement | null, name: string) {
  canvas?.toBlob((blob) => {
    if (!blob) return;
    const a = document.createElement("a");
    const url = URL.createObjectURL(blob);
    a.href = url;
    a.download = `${name.replace(/[^\w.-]+/g, "_")}.png`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
}

interface ToolsProps {
  view: BufferView;
  before: number; // the step to compare with
  follow(to: Pane): void;
  choose: Choose;
  zoomBy(by: number): void;
  save(): void;
}
function Tools({ view, before, follow, choose, zoomBy, save }: ToolsProps) {
  const { pane, step, part } = view;
  const compare = () =>
    follow({
      kind: "twin",
      buffer: pane.buffer,
      step,
      other: pane.buffer,
      otherStep: pane.minus ?? before,
      run: 0,
      width: pane.width,
    });
  return (
    <>
      <Button icon="fit" label="All of it" onClick={() => choose({ zoom: 0, x: 0, y: 0 })} />
      <Button icon="minus" label="Smaller (-)" onClick={() => zoomBy(-1)} />
      <Button icon="plus" label="Larger (+)" onClick={() => zoomBy(1)} />
      {!isStatic() && (
        <Button
          icon="twins"
          label="Compare with an earlier step, side by side (v)"
          onClick={compare}
        />
      )}
      <Button icon="save" label="Save the picture (PNG)" onClick={save} />
      <TypeChooser buffer={pane.buffer} type={part.type} />
    </>
  );
}

const Title = ({ buffer, part, layout }: BufferView) => (
  <>
    <span class="what">{part.type.name}</span> {bufferName(buffer)}{" "}
    <span class="what">{counted(layout.count, "element")}</span>
  </>
);
const Sub = ({ buffer: b, pool }: { buffer: Buffer; pool: number }) => (
  <>
    <span title={b.why ? `type from ${b.why}` : undefined}>
      {bytesText(b.size)} of {b.kind ?? "device"} memory at {b.base}
    </span>
    <span class="right">
      {pool > 1 ? `a pixel is ${pool}×${pool} elements: the farthest from the mean` : ""}
    </span>
  </>
);

// The data that the pane shows, and its state.
function useBufferPane({ pane, index, steps, findings }: Props) {
  const buffer = buffers.get(pane.buffer);
  useListen(onTypes, onTime);
  const step = timeStep();
  const part = usePart(pane.buffer, pane.part);
  const [cell, setCell] = useState<Cell | undefined>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const room = useRoom(holder, { w: 0, h: 0 }, []); // not known yet: nothing is asked for
  const layout = layoutOf(pane, rowsOf(pane, buffer, part.type.bytes), room);
  const view: BufferView = { pane, buffer, step, part, layout };
  const used = useSteps(steps, pane.buffer);
  const { sure, offered } = useWidths(steps, used, view);
  useEffect(() => {
    if (sure && !pane.width && !buffer?.dims) replace(index, { ...pane, width: sure }, false);
  }, [sure, pane.buffer, pane.width]);
  const { picture, done, error } = useBufferPicture(view);
  const marks = useTouched(view);
  const usual = useUsualScale(view, picture, done);
  const low = pane.low ?? usual[0];
  const high = pane.high ?? usual[1];
  const scale = scaleOf(pane);
  useEffect(() => {
    if (canvas.current && picture && room.w)
      drawBuffer(canvas.current, { view, picture, low, high, findings, marks, cell });
  }, [
    picture,
    scale,
    low,
    high,
    pane.log,
    layout.dot,
    layout.x0,
    layout.y0,
    cell,
    findings,
    room,
    marks,
  ]);
  const [shown, setShown] = useShownElement(view, picture, cell);
  return {
    view,
    cell,
    setCell,
    canvas,
    holder,
    used,
    widths: offered,
    picture,
    done,
    error,
    marks,
    usual,
    low,
    high,
    shown,
    setShown,
  };
}

export function BufferPane(props: Props) {
  const { pane, index, active } = props;
  const state = useBufferPane(props);
  const { view, picture, used, canvas } = state;
  const { buffer, step, part, layout } = view;
  if (!buffer)
    return (
      <PaneFrame index={index} kind="buffer" active={active} title="buffer">
        <Failure text="there is no such buffer in this run" />
      </PaneFrame>
    );
  const choose: Choose = (more) => replace(index, { ...pane, ...more }, false);
  const open = (p: Cell | undefined) => {
    if (p)
      elementOf(view, picture, p).then(
        (i) => follow(index, elementPane(view, i)),
        () => {},
      );
  };
  const zoomBy = (by: number, x = layout.room.w / 2, y = layout.room.h / 2) =>
    choose(zoomed(layout, pane.zoom ?? 0, by, x, y));
  const at = placeAmong(used, step);
  const number = (v: number) =>
    pane.by && Number.isFinite(v)
      ? writerName(v)
      : Number.isNaN(v)
        ? "–"
        : shortFloat(v, part.scalar !== "f64");
  const help = typeHelp(buffer);
  const common = { ...state, findings: props.findings, choose, number };
  return (
    <PaneFrame
      index={index}
      kind="buffer"
      active={active}
      title={<Title {...view} />}
      tools={
        <Tools
          view={view}
          before={used[Math.max(0, at - (step ? 1 : 2))]?.id ?? 0}
          follow={(to) => follow(index, to)}
          choose={choose}
          zoomBy={zoomBy}
          save={() => savePicture(canvas.current, bufferName(buffer))}
        />
      }
      sub={<Sub buffer={buffer} pool={layout.pool} />}
    >
      {help && (
        <div class="help" role="note">
          {help}
        </div>
      )}
      <PictureControls {...common} isRead={!!picture} before={used[Math.max(0, at - 1)]?.id ?? 0} />
      {!isStatic() && used.length > 0 && (
        <FindControls view={view} used={used} found={(element) => showFound(state, element)} />
      )}
      <TimeControls used={used} step={step} />
      {state.error ? (
        <Failure text={state.error} />
      ) : (
        <PictureCanvas {...common} open={open} zoomBy={zoomBy} />
      )}
      <PictureLegend {...common} />
    </PaneFrame>
  );
}

function elementPane({ pane, part, step }: BufferView, element: number): Pane {
  const field = fieldOf(part);
  return {
    kind: "element",
    buffer: pane.buffer,
    offset: element * part.type.bytes + field.offset,
    bytes: field.bytes,
    step: step || undefined,
  };
}
// Marks the element that a search has found.
function showFound({ view, setShown, setCell }: ReturnType<typeof useBufferPane>, element: number) {
  const { width, pool } = view.layout;
  setShown({ element, text: "" });
  setCell({
    x: Math.floor((element % width) / pool),
    y: Math.floor(Math.floor(element / width) / pool),
  });
}
