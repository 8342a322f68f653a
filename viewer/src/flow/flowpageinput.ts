// Mouse and keys in the page of flow: what they point to, choose, move and open.
import { useRef, useState } from "preact/hooks";
import { Buffer, FlowStep } from "../run/api";
import { FlowView, NAMES, Point, ROW, beginOf, hasFault, hitAt } from "./flowpagelayout";
import { Pointed } from "./flowpageparts";
import { setTime } from "../run/time";
import { follow } from "../parts/trail";

export const placeIn = (e: MouseEvent & { currentTarget: HTMLElement }): Point => {
  const r = e.currentTarget.getBoundingClientRect();
  return { x: e.clientX - r.left, y: e.clientY - r.top };
};

// Where the mouse is, which step the keyboard has chosen, and so what is pointed to.
export function useFlowPointer(view: FlowView, races: Map<number, number>) {
  const [hover, setHover] = useState<Point>();
  const [cursor, setCursor] = useState(-1);
  const { layout } = view;
  const { steps } = layout.flow;
  const hit = hitAt(layout, hover);
  const isHit = hit.step >= 0 && (hit.row || layout.flow.index.laneOf[hit.step] === hit.lane);
  const step = isHit ? steps[hit.step] : !hover && cursor >= 0 ? steps[cursor] : undefined;
  const how = hit.row && step?.uses.find((u) => u[0] === hit.row!.id)?.[1];
  const pointed: Pointed = { step, buffer: hit.row, how };
  const goTo = (i: number) => {
    const k = Math.max(0, Math.min(steps.length - 1, i));
    setHover(undefined);
    setCursor(k);
    const unit = beginOf(layout, k);
    if (unit < layout.from || unit >= layout.upto) view.pan(unit - (layout.from + layout.upto) / 2);
  };
  const nextBad = (by: number) => {
    const start = cursor < 0 ? (by > 0 ? -1 : steps.length) : cursor;
    for (let i = start + by; i >= 0 && i < steps.length; i += by)
      if (hasFault(steps[i], races)) {
        goTo(i);
        return;
      }
  };
  return { setHover, cursor, pointed, goTo, nextBad };
}
export type FlowPointer = ReturnType<typeof useFlowPointer>;

export function openStep(index: number, s: FlowStep | undefined, b: Buffer | undefined) {
  if (s) setTime(s.id);
  if (b) follow(index, { kind: "buffer", buffer: b.id, step: 0, width: 0 });
  else if (s?.launch && s.kind === "launch") follow(index, { kind: "launch", launch: s.launch });
  else if (s) follow(index, { kind: "step", step: s.id, buffer: 0, offset: 0, bytes: 0 });
}

export function onFlowKey(e: KeyboardEvent, index: number, view: FlowView, pointer: FlowPointer) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const { cursor, goTo, nextBad } = pointer;
  const { at, size, lanesHigh, flow } = view.layout;
  const leave = () => (e.currentTarget as HTMLElement).blur();
  const acts: Record<string, () => void> = {
    ArrowRight: () => goTo(cursor + 1),
    ArrowLeft: () => goTo(cursor - 1),
    Home: () => goTo(0),
    End: () => goTo(flow.steps.length - 1),
    PageDown: () => view.scrollTo(at + size.h - lanesHigh),
    PageUp: () => view.scrollTo(at - size.h + lanesHigh),
    ArrowDown: () => view.scrollTo(at + ROW),
    ArrowUp: () => view.scrollTo(at - ROW),
    "+": () => view.zoom(1.6),
    "-": () => view.zoom(1 / 1.6),
    n: () => nextBad(1),
    p: () => nextBad(-1),
    Enter: () => {
      openStep(index, flow.steps[cursor], undefined);
      leave();
    },
    Escape: leave,
  };
  if (acts[e.key]) {
    acts[e.key]();
    e.preventDefault();
    e.stopPropagation();
  }
}

export function onFlowWheel(e: WheelEvent & { currentTarget: HTMLElement }, view: FlowView) {
  e.preventDefault();
  const { x, y } = placeIn(e);
  if (e.ctrlKey || e.metaKey || y < view.layout.lanesHigh) view.zoom(e.deltaY < 0 ? 1.25 : 0.8, x);
  else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
    view.pan((e.deltaX || e.deltaY) / view.layout.perStep);
  else view.scrollTo(view.layout.at + e.deltaY);
}

interface Drag {
  x: number;
  y: number;
  from: number;
  upto: number;
  top: number;
  moved: boolean;
}
// Dragging moves the view; a click is a press that did not move.
export function useFlowDrag(view: FlowView) {
  const drag = useRef<Drag | undefined>(undefined);
  const { from, upto, at, perStep } = view.layout;
  return {
    moved: () => !!drag.current?.moved,
    begin: (e: MouseEvent) => {
      drag.current = { x: e.clientX, y: e.clientY, from, upto, top: at, moved: false };
    },
    // after the click event, which follows the release of the button
    end: () => {
      setTimeout(() => {
        drag.current = undefined;
      }, 0);
    },
    // true: the mouse button is down, so the mouse points to nothing.
    move: (e: MouseEvent): boolean => {
      const d = drag.current;
      if (!d || !(e.buttons & 1)) return false;
      if (Math.abs(e.clientX - d.x) + Math.abs(e.clientY - d.y) > 4) d.moved = true;
      if (d.moved) {
        view.panTo(d.from - (e.clientX - d.x) / perStep, d.upto - d.from);
        view.scrollTo(d.top - (e.clientY - d.y));
      }
      return true;
    },
  };
}

// A click on a buffer's name opens the buffer; a click elsewhere opens the step under the mouse.
export function openPointed(index: number, x: number, { step, buffer, how }: Pointed) {
  if (x < NAMES && buffer) openStep(index, undefined, buffer);
  else if (step) openStep(index, step, buffer && how !== undefined ? buffer : undefined);
}
