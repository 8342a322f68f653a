// The canvas of a buffer's picture: keys choose an element, the wheel zooms, dragging moves.
import { useRef } from "preact/hooks";
import { Ref } from "./dots";
import { bufferName } from "../run/format";
import { Picture } from "./paint";
import { Empty } from "../parts/parts";
import { Choose } from "./picturecontrols";
import { BufferView } from "./picturedata";
import { ShownElement } from "./pictureelement";
import {
  Cell,
  cellAt,
  centredOn,
  firstElementOf,
  isSeen,
  LEFT,
  movedCell,
  TOP,
} from "./picturelayout";
import { shownName } from "./picturelegend";

interface CanvasProps {
  view: BufferView;
  picture?: Picture;
  canvas: Ref<HTMLCanvasElement>;
  holder: Ref<HTMLDivElement>;
  cell?: Cell;
  setCell(cell: Cell | undefined): void;
  shown: ShownElement;
  open(cell: Cell | undefined): void;
  choose: Choose;
  zoomBy(by: number, x: number, y: number): void;
}

const arrows: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -16],
  PageDown: [0, 16],
  Home: [-1e9, -1e9],
  End: [1e9, 1e9],
};
function onKey(e: KeyboardEvent, { view, cell, setCell, open, choose }: CanvasProps) {
  const l = view.layout;
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (arrows[e.key]) {
    const p = movedCell(l, cell, arrows[e.key]);
    if (firstElementOf(l, p) < l.count) setCell(p);
    if (!isSeen(l, p)) choose(centredOn(l, p));
  } else if (e.key === "Enter" || e.key === " ") {
    open(cell);
    (e.currentTarget as HTMLElement).blur(); // keys are for the new pane now
  } else if (e.key === "Escape") {
    setCell(undefined);
    (e.currentTarget as HTMLElement).blur();
  } else return;
  e.preventDefault();
  e.stopPropagation();
}

// Where the mouse was pressed, and the picture's corner then.
interface Drag extends Cell {
  x0: number;
  y0: number;
  moved: boolean;
}
function useDrag({ layout: l }: BufferView, choose: Choose) {
  const drag = useRef<Drag | undefined>(undefined);
  return {
    hasMoved: () => drag.current?.moved,
    onMouseDown: (e: MouseEvent) => {
      drag.current = { x: e.clientX, y: e.clientY, x0: l.x0, y0: l.y0, moved: false };
    },
    // after the click event, which checks whether the mouse moved
    onMouseUp: () => {
      setTimeout(() => {
        drag.current = undefined;
      }, 0);
    },
    onMouseMove: (e: MouseEvent) => {
      const d = drag.current;
      if (!d || !(e.buttons & 1)) return;
      if (Math.abs(e.clientX - d.x) + Math.abs(e.clientY - d.y) > 4) d.moved = true;
      if (d.moved)
        choose({
          x: Math.max(0, (d.x0 - Math.round((e.clientX - d.x) / l.dot)) * l.pool),
          y: Math.max(0, (d.y0 - Math.round((e.clientY - d.y) / l.dot)) * l.pool),
        });
    },
  };
}

export function PictureCanvas(props: CanvasProps) {
  const { view, canvas, cell, setCell, shown } = props;
  const { layout: l, buffer } = view;
  const drag = useDrag(view, props.choose);
  return (
    <div
      class="canvas still"
      ref={props.holder}
      tabIndex={0}
      role="group"
      aria-label={
        `picture of ${bufferName(buffer)}: arrow keys choose an element, Enter opens it. ` +
        (shown.element >= 0 ? `${shownName(view, shown)} ${shown.text}` : "")
      }
      onKeyDown={(e) => onKey(e, props)}
      onWheel={(e) => {
        e.preventDefault();
        const r = e.currentTarget.getBoundingClientRect();
        props.zoomBy(e.deltaY < 0 ? 0.5 : -0.5, e.clientX - r.left, e.clientY - r.top);
      }}
      onMouseDown={drag.onMouseDown}
      onMouseUp={drag.onMouseUp}
      onMouseMove={drag.onMouseMove}
    >
      {!props.picture && <Empty>reading…</Empty>}
      <canvas
        ref={canvas}
        class="dots"
        data-dot={l.dot}
        data-pool={l.pool}
        data-x={l.x0}
        data-y={l.y0}
        data-left={LEFT}
        data-top={TOP}
        onMouseMove={(e) => {
          const p = cellAt(l, canvas.current!, e);
          if (p?.x !== cell?.x || p?.y !== cell?.y) setCell(p);
        }}
        onMouseLeave={() => setCell(undefined)}
        onClick={(e) => {
          if (!drag.hasMoved()) props.open(cellAt(l, canvas.current!, e));
        }}
      />
    </div>
  );
}
