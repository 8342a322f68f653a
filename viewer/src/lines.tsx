// Lines between neighbouring panes: the same operation in both is joined; the one that was followed is drawn strong, a step to a peer is dashed.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Pane } from "./trail";

interface Line {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  kind: string;
}

export function Lines({ panes, host }: { panes: Pane[]; host: { current: HTMLElement | null } }) {
  const [lines, set] = useState<Line[]>([]),
    [size, setSize] = useState({ w: 0, h: 0 }),
    last = useRef("");
  useLayoutEffect(() => {
    const e = host.current;
    if (!e) return;
    let frame = 0;
    const draw = () => {
      frame = 0;
      const base = e.getBoundingClientRect(),
        out: Line[] = [],
        x = (v: number) => v - base.left + e.scrollLeft,
        y = (v: number) => v - base.top;
      const sections = [...e.querySelectorAll<HTMLElement>("section[data-pane]")];
      for (let i = 0; i + 1 < sections.length; i++) {
        const rows = new Map<string, HTMLElement>(),
          a = sections[i].getBoundingClientRect(),
          b = sections[i + 1].getBoundingClientRect();
        sections[i]
          .querySelectorAll<HTMLElement>("[data-op]")
          .forEach((r) => rows.set(r.dataset.op!, r));
        const next = panes[i + 1],
          focus =
            next && "at" in next && next.at && "record" in next.at
              ? `${next.at.record}.${next.at.lane}`
              : "";
        let joined = false;
        sections[i + 1].querySelectorAll<HTMLElement>("[data-op]").forEach((r) => {
          const from = rows.get(r.dataset.op!);
          if (!from) return;
          const p = from.getBoundingClientRect(),
            q = r.getBoundingClientRect(),
            l1 = from.closest(".list")!.getBoundingClientRect(),
            l2 = r.closest(".list")!.getBoundingClientRect();
          const y1 = p.top + p.height / 2,
            y2 = q.top + q.height / 2;
          if (y1 < l1.top || y1 > l1.bottom || y2 < l2.top || y2 > l2.bottom) return;
          const strong = r.dataset.op === focus;
          joined = joined || strong;
          out.push({
            x1: x(a.right),
            y1: y(y1),
            x2: x(b.left),
            y2: y(y2),
            kind: strong ? "followed" : "same",
          });
        });
        if (!joined && next) {
          // From the operation that led there, where that is marked, else from title to title.
          const mark = sections[i].querySelector<HTMLElement>(".op.selected"),
            kind = next.kind === "thread" && panes[i].kind === "thread" ? "peer" : "plain";
          const y1 = kind === "plain" && mark ? mark.getBoundingClientRect().top + 13 : a.top + 22;
          out.push({ x1: x(a.right), y1: y(y1), x2: x(b.left), y2: y(b.top + 22), kind });
        }
      }
      const text = JSON.stringify(out);
      if (text !== last.current) {
        last.current = text;
        set(out);
      }
      setSize((s) =>
        s.w === e.scrollWidth && s.h === e.clientHeight
          ? s
          : { w: e.scrollWidth, h: e.clientHeight },
      );
    };
    const soon = () => {
      if (!frame) frame = requestAnimationFrame(draw);
    };
    soon();
    e.addEventListener("scroll", soon, true);
    const o = new ResizeObserver(soon),
      m = new MutationObserver((list) => {
        if (list.some((c) => !(c.target as Element).closest?.("svg.lines"))) soon();
      });
    o.observe(e);
    m.observe(e, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["class", "style"],
    });
    return () => {
      cancelAnimationFrame(frame);
      e.removeEventListener("scroll", soon, true);
      o.disconnect();
      m.disconnect();
    };
  }, [panes]);
  return (
    <svg class="lines" width={size.w} height={size.h} aria-hidden="true">
      {lines.map((l) => {
        const bend = Math.max(10, (l.x2 - l.x1) / 2);
        return (
          <g class={l.kind}>
            <path
              d={`M${l.x1 - 4} ${l.y1}C${l.x1 + bend} ${l.y1} ${l.x2 - bend} ${l.y2} ${l.x2 + 4} ${l.y2}`}
            />
            <circle cx={l.x1 - 4} cy={l.y1} r={3} />
            <circle cx={l.x2 + 4} cy={l.y2} r={3} />
          </g>
        );
      })}
    </svg>
  );
}
