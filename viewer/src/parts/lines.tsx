// Lines between neighbouring panes: the same operation in both is joined; the one that was followed
// is drawn strong, a step to a peer is dashed.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Ref } from "../picture/dots";
import { Pane } from "./trail";

interface Line {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  kind: string;
}

// From coordinates of the window to those of the lines.
interface Frame {
  x(clientX: number): number;
  y(clientY: number): number;
}
function frameOf(host: HTMLElement): Frame {
  const base = host.getBoundingClientRect();
  return { x: (v) => v - base.left + host.scrollLeft, y: (v) => v - base.top };
}
function operationFollowed(pane: Pane | undefined): string {
  return pane && "at" in pane && pane.at && "record" in pane.at
    ? `${pane.at.record}.${pane.at.lane}`
    : "";
}
const middleOf = (r: DOMRect) => r.top + r.height / 2;
const isInside = (y: number, row: HTMLElement) => {
  const list = row.closest(".list")!.getBoundingClientRect();
  return y >= list.top && y <= list.bottom;
};

// Lines between the rows of two neighbouring panes that show the same operation.
function sameOperations(left: HTMLElement, right: HTMLElement, focus: string, at: Frame): Line[] {
  const out: Line[] = [];
  const rows = new Map<string, HTMLElement>();
  const x1 = at.x(left.getBoundingClientRect().right);
  const x2 = at.x(right.getBoundingClientRect().left);
  left.querySelectorAll<HTMLElement>("[data-op]").forEach((r) => rows.set(r.dataset.op!, r));
  right.querySelectorAll<HTMLElement>("[data-op]").forEach((row) => {
    const from = rows.get(row.dataset.op!);
    if (!from) return;
    const y1 = middleOf(from.getBoundingClientRect());
    const y2 = middleOf(row.getBoundingClientRect());
    if (!isInside(y1, from) || !isInside(y2, row)) return;
    const kind = row.dataset.op === focus ? "followed" : "same";
    out.push({ x1, y1: at.y(y1), x2, y2: at.y(y2), kind });
  });
  return out;
}

// From the operation that led there, where that is marked, else from title to title.
function stepBetween(left: HTMLElement, right: HTMLElement, isPeer: boolean, at: Frame): Line {
  const a = left.getBoundingClientRect();
  const b = right.getBoundingClientRect();
  const mark = left.querySelector<HTMLElement>(".op.selected");
  const y1 = !isPeer && mark ? mark.getBoundingClientRect().top + 13 : a.top + 22;
  const kind = isPeer ? "peer" : "plain";
  return { x1: at.x(a.right), y1: at.y(y1), x2: at.x(b.left), y2: at.y(b.top + 22), kind };
}

function linesBetween(host: HTMLElement, panes: Pane[]): Line[] {
  const at = frameOf(host);
  const sections = [...host.querySelectorAll<HTMLElement>("section[data-pane]")];
  return sections.slice(0, -1).flatMap((left, i) => {
    const right = sections[i + 1];
    const next = panes[i + 1];
    const same = sameOperations(left, right, operationFollowed(next), at);
    if (!next || same.some((l) => l.kind === "followed")) return same;
    const isPeer = next.kind === "thread" && panes[i].kind === "thread";
    return [...same, stepBetween(left, right, isPeer, at)];
  });
}

// Calls `draw` once a frame while the panes move or change.
function watchPanes(host: HTMLElement, draw: () => void) {
  let frame = 0;
  const soon = () => {
    if (!frame)
      frame = requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
  };
  soon();
  host.addEventListener("scroll", soon, true);
  const o = new ResizeObserver(soon);
  const m = new MutationObserver((list) => {
    if (list.some((c) => !(c.target as Element).closest?.("svg.lines"))) soon();
  });
  o.observe(host);
  m.observe(host, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["class", "style"],
  });
  return () => {
    cancelAnimationFrame(frame);
    host.removeEventListener("scroll", soon, true);
    o.disconnect();
    m.disconnect();
  };
}

function LinePath({ line: l }: { line: Line }) {
  const bend = Math.max(10, (l.x2 - l.x1) / 2);
  return (
    <g class={l.kind}>
      <path
        d={
          `M${l.x1 - 4} ${l.y1}C${l.x1 + bend} ${l.y1} ` +
          `${l.x2 - bend} ${l.y2} ${l.x2 + 4} ${l.y2}`
        }
      />
      <circle cx={l.x1 - 4} cy={l.y1} r={3} />
      <circle cx={l.x2 + 4} cy={l.y2} r={3} />
    </g>
  );
}

export function Lines({ panes, host }: { panes: Pane[]; host: Ref<HTMLElement> }) {
  const [lines, set] = useState<Line[]>([]);
  const [size, setSize] = useState({ w: 0, h: 0 });
  const last = useRef("");
  useLayoutEffect(() => {
    const e = host.current;
    if (!e) return;
    return watchPanes(e, () => {
      const next = linesBetween(e, panes);
      const text = JSON.stringify(next);
      if (text !== last.current) {
        last.current = text;
        set(next);
      }
      setSize((s) =>
        s.w === e.scrollWidth && s.h === e.clientHeight
          ? s
          : { w: e.scrollWidth, h: e.clientHeight },
      );
    });
  }, [panes]);
  return (
    <svg class="lines" width={size.w} height={size.h} aria-hidden="true">
      {lines.map((l) => (
        <LinePath line={l} />
      ))}
    </svg>
  );
}
