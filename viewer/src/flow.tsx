// The flow chart: launches, copies and sets from top to bottom, buffers as columns; a filled mark writes, a hollow one reads.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { FlowStep, buffers } from "./api";
import { bufferName, bytesText, counted, duration, many } from "./format";
import type { FlowIndex } from "./flowindex";
import { Button } from "./parts";
import { hostTail } from "./time";

export interface Flow {
  steps: FlowStep[];
  kernels: Record<string, string>;
  total: number;
  index: FlowIndex;
}
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

export const kernelName = (readable: string | undefined) =>
  (readable ?? "?")
    .replace(/\(anonymous namespace\)::/g, "")
    .replace(/^void /, "")
    .replace(/[<(].*$/, "") || "?";
const LABEL = 158,
  LANE = 15,
  LETTER = 6.7,
  SLOPE = 0.87; // names of buffers that do not fit beside each other stand aslant, at 60 degrees

export function FlowChart({
  flow,
  current,
  currentBuffer,
  openLaunch,
  openBuffer,
  openStep,
  openAll,
  races,
}: Props) {
  const canvas = useRef<HTMLCanvasElement>(null),
    box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ w: 300, h: 300 }),
    [top, setTop] = useState(0),
    [row, setRow] = useState(20),
    [hover, setHover] = useState<{ x: number; y: number } | undefined>(),
    [theme, setTheme] = useState(0);
  const [cursor, setCursor] = useState<{ step: number; lane: number } | undefined>(); // of the keyboard: lane -1 is the step itself
  const { steps } = flow;
  // For buffers that do not fit there is a page of its own.
  const { uses } = flow.index;
  const lanes = useMemo(() => {
    const all = flow.index.order.length
      ? flow.index.order
      : [...uses.keys()].sort((a, b) => uses.get(b)!.length - uses.get(a)!.length);
    return all.slice(0, Math.max(1, Math.floor((size.w - LABEL - 8) / LANE))).sort((a, b) => a - b);
  }, [flow, size.w]);
  const missing = uses.size - lanes.length;
  const names = useMemo(
    () => new Map(lanes.map((b) => [b, bufferName(buffers.get(b), b)])),
    [lanes, buffers.size],
  );
  const apart =
      lanes.length > 1
        ? Math.min(44, Math.max(LANE, (size.w - LABEL - 16) / lanes.length))
        : size.w - LABEL - 16,
    longest = Math.max(0, ...[...names.values()].map((n) => n.length)),
    aslant = longest * LETTER > apart - 4;
  const letters = Math.min(longest, 14),
    HEAD = aslant ? Math.ceil(letters * LETTER * SLOPE) + 14 : 22,
    lean = aslant ? (letters * LETTER) / 2 : 0;
  const laneX = useMemo(
    () =>
      new Map(
        lanes.map((b, i) => [
          b,
          LABEL +
            10 +
            i * Math.min(44, Math.max(LANE / 2, (size.w - LABEL - 16 - lean) / lanes.length)),
        ]),
      ),
    [lanes, size.w, lean],
  );
  const hot = row >= 10 ? hover : undefined; // smaller rows do not change under the mouse, and are many
  const highest = Math.max(0, steps.length * row - (size.h - HEAD));
  const at = Math.min(top, highest);

  useLayoutEffect(() => {
    const o = new ResizeObserver(() => {
      const e = box.current;
      if (e) setSize({ w: e.clientWidth, h: e.clientHeight });
    });
    o.observe(box.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)"),
      changed = () => setTheme((n) => n + 1);
    dark.addEventListener("change", changed);
    const m = new MutationObserver(changed);
    m.observe(document.documentElement, { attributes: true });
    return () => {
      o.disconnect();
      m.disconnect();
      dark.removeEventListener("change", changed);
    };
  }, []);
  useEffect(() => {
    const i = steps.findIndex((s) => s.id === current);
    if (i >= 0 && (i * row < at || (i + 1) * row > at + size.h - HEAD))
      setTop(Math.max(0, Math.min(highest, i * row - (size.h - HEAD) / 2)));
  }, [current, steps]);

  useEffect(() => {
    const c = canvas.current!,
      ratio = devicePixelRatio || 1,
      style = getComputedStyle(c),
      v = (n: string) => style.getPropertyValue(n).trim();
    ((c.width = size.w * ratio), (c.height = size.h * ratio));
    const g = c.getContext("2d")!;
    g.scale(ratio, ratio);
    g.clearRect(0, 0, size.w, size.h);
    g.textBaseline = "middle";
    const ink = v("--ink"),
      dim = v("--dim"),
      rule = v("--rule"),
      accent = v("--accent"),
      error = v("--error"),
      read = v("--load"),
      write = v("--store"),
      soft = v("--soft"),
      surface = v("--surface");
    const first = Math.max(0, Math.floor(at / row)),
      last = Math.min(steps.length, Math.ceil((at + size.h - HEAD) / row));
    const mark = Math.max(1, Math.min(4.5, row / 3.2));
    // Life lines.
    for (const [b, x] of laneX) {
      g.strokeStyle = b === currentBuffer ? accent : rule;
      g.lineWidth = b === currentBuffer ? 1.5 : 1;
      g.beginPath();
      g.moveTo(x, HEAD);
      g.lineTo(x, HEAD + Math.min(size.h - HEAD, steps.length * row - at));
      g.stroke();
    }
    // Rows thinner than a pixel share one: each mark is drawn once there, and findings must still be seen.
    let pixel = -1;
    const drawn = new Set<number>(),
      isNew = (mark: number) => row >= 1 || (!drawn.has(mark) && !!drawn.add(mark));
    for (let i = first; i < last; i++) {
      const s = steps[i],
        y = HEAD + i * row - at,
        middle = y + row / 2,
        here = s.id === current;
      if (row < 1 && Math.floor(y) !== pixel) {
        pixel = Math.floor(y);
        drawn.clear();
      }
      if (here) {
        g.fillStyle = soft;
        g.fillRect(0, y, size.w, Math.max(row, 2));
        g.fillStyle = accent;
        g.fillRect(0, y, 3, Math.max(row, 2));
      } else if (cursor?.step === i) {
        g.fillStyle = surface;
        g.fillRect(0, y, size.w, Math.max(row, 2));
      } else if (hot && hot.y >= y && hot.y < y + row) {
        g.fillStyle = surface;
        g.fillRect(0, y, size.w, row);
      }
      let from = LABEL - 6;
      for (const u of s.uses) {
        const x = laneX.get(u[0]);
        if (x === undefined) continue;
        if (row >= 8) {
          g.strokeStyle = here ? accent : rule;
          g.lineWidth = 1;
          g.beginPath();
          g.moveTo(from, middle);
          g.lineTo(x, middle);
          g.stroke();
          from = Math.min(from, x);
        }
      }
      for (const u of s.uses) {
        const x = laneX.get(u[0]);
        if (x === undefined || !isNew(4 * u[0] + u[1])) continue;
        g.beginPath();
        g.arc(x, middle, mark, 0, 7);
        g.fillStyle = u[1] & 2 ? write : v("--paper");
        g.fill();
        if (!(u[1] & 2)) {
          g.strokeStyle = u[1] ? read : dim;
          g.lineWidth = 1.5;
          g.stroke();
        }
        if (u[1] === 3) {
          g.strokeStyle = read;
          g.lineWidth = 1.5;
          g.stroke();
        }
      }
      if (row >= 12) {
        g.font = `${here ? "600 " : ""}12px ${v("--sans")}`;
        g.fillStyle = s.kind === "launch" && s.recorded ? ink : dim;
        const label = s.kind === "launch" ? kernelName(flow.kernels[s.kernel]) : s.call || s.kind,
          tail = s.kind === "launch" ? ` #${s.number}` : hostTail(s.id);
        let text = label;
        while (text.length > 3 && g.measureText(text + tail).width > LABEL - 30)
          text = text.slice(0, -2) + "…";
        g.fillText(text + tail, 20, middle);
        if (s.kind === "launch" && !s.recorded) {
          g.strokeStyle = dim;
          g.setLineDash([2, 3]);
          g.beginPath();
          g.moveTo(20, middle + 7);
          g.lineTo(Math.min(LABEL - 12, 20 + g.measureText(text + tail).width), middle + 7);
          g.stroke();
          g.setLineDash([]);
        }
      }
      if (cursor?.step === i) {
        g.strokeStyle = accent;
        g.lineWidth = 1.5;
        const x = cursor.lane >= 0 ? laneX.get(lanes[cursor.lane]) : undefined;
        if (x !== undefined) {
          g.beginPath();
          g.arc(x, middle, mark + 3, 0, 7);
          g.stroke();
        } else g.strokeRect(1, y + 1, LABEL - 12, Math.max(row - 2, 2));
      }
      if ((s.findings || races.get(s.launch)) && isNew(s.findings ? -1 : -2)) {
        g.fillStyle = s.findings ? error : v("--warning");
        g.beginPath();
        g.arc(11, middle, Math.max(2, Math.min(4, row / 3)), 0, 7);
        g.fill();
      }
    }
    g.fillStyle = v("--paper");
    g.fillRect(0, 0, size.w, HEAD);
    g.font = `11px ${v("--mono")}`;
    for (const [b, x] of laneX) {
      const name = names.get(b) ?? "",
        fits = aslant ? 14 : Math.max(1, Math.floor(apart / LETTER)),
        text = name.length > fits ? name.slice(0, fits - 1) + "…" : name;
      g.fillStyle = b === currentBuffer ? accent : dim;
      g.textAlign = aslant ? "left" : "center";
      g.save();
      g.translate(x, aslant ? HEAD - 8 : HEAD / 2);
      if (aslant) g.rotate(-Math.PI / 3);
      g.fillText(text, 0, 0);
      g.restore();
      g.textAlign = "left";
    }
    // Where in the whole this is.
    if (steps.length * row > size.h - HEAD) {
      const h = size.h - HEAD,
        bar = Math.max(16, (h * h) / (steps.length * row));
      g.fillStyle = rule;
      g.fillRect(size.w - 3, HEAD + (h - bar) * (highest ? at / highest : 0), 3, bar);
    }
  }, [flow, size, at, row, current, currentBuffer, hot, cursor, laneX, names, theme, races]);

  const zoom = (by: number, y = size.h / 2) => {
    const next = Math.max(
        Math.min(1, (size.h - HEAD) / Math.max(1, steps.length)),
        Math.min(32, row * by),
      ),
      step = (at + y - HEAD) / row;
    setRow(next);
    setTop(Math.max(0, step * next - (y - HEAD)));
  };
  const hit = hover
    ? hover.y > HEAD
      ? steps[Math.floor((hover.y - HEAD + at) / row)]
      : undefined
    : cursor && steps[cursor.step];
  const lane = hover
    ? [...laneX].find(([, x]) => Math.abs(x - hover.x) < 8)?.[0]
    : cursor && lanes[cursor.lane];
  const how = hit && lane ? hit.uses.find((u) => u[0] === lane)?.[1] : undefined;
  const said = (s: FlowStep) =>
    s.kind === "launch"
      ? `${kernelName(flow.kernels[s.kernel])} #${s.number}: ${many(s.blocks)} × ${s.threads} threads${s.ns ? `, ${duration(s.ns)}` : ""}${s.findings ? `, ${s.findings === 1 ? "1 finding" : `${s.findings} findings`}` : ""}${races.get(s.launch) ? `, ${races.get(s.launch)} race${races.get(s.launch) === 1 ? "" : "s"}` : ""}${s.recorded ? "" : ", not recorded"}`
      : `${s.call || s.kind}${hostTail(s.id)}: ${bytesText(s.bytes)}`;
  const open = () => {
    if (hover && hover.y <= HEAD && lane) openBuffer(lane, 0);
    else if (hit && lane && how !== undefined) openBuffer(lane, hit.id);
    else if (hit?.launch) openLaunch(hit.launch);
    else if (hit) openStep(hit.id);
  };
  // The keyboard goes from step to step, and on a step from one of its buffers to the next.
  const goTo = (step: number, lane = -1) => {
    const i = Math.max(0, Math.min(steps.length - 1, step));
    setHover(undefined);
    setCursor({ step: i, lane });
    if (i * row < at || (i + 1) * row > at + size.h - HEAD)
      setTop(Math.max(0, Math.min(highest, i * row - (size.h - HEAD) / 2)));
  };
  const onKey = (e: KeyboardEvent) => {
    const here =
        cursor?.step ??
        Math.max(
          0,
          steps.findIndex((s) => s.id === current),
        ),
      page = Math.max(1, Math.floor((size.h - HEAD) / row) - 1),
      used = lanes
        .map((b, i) => (steps[here]?.uses.some((u) => u[0] === b) ? i : -1))
        .filter((i) => i >= 0);
    const beside = (by: number) => {
      const all = [-1, ...used],
        k = all.indexOf(cursor?.lane ?? -1);
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
      "+": () => zoom(1.6),
      "-": () => zoom(1 / 1.6),
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
  };
  return (
    <div class="flow">
      <div class="flowhead">
        <h3>Flow</h3>
        <span class="dim">
          {counted(flow.total, "step")}
          {steps.length < flow.total ? `, the first ${many(steps.length)}` : ""}
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
        <Button icon="minus" label="See more steps at once" onClick={() => zoom(1 / 1.6)} />
        <Button icon="plus" label="See fewer steps, larger" onClick={() => zoom(1.6)} />
      </div>
      <div
        class="flowbox"
        ref={box}
        tabIndex={0}
        role="application"
        aria-label={`flow chart: up and down choose a step, left and right a buffer it uses, Enter opens it, plus and minus zoom. ${hit ? said(hit) : ""}`}
        onKeyDown={onKey}
        onFocus={() => {
          if (!hover && !cursor) goTo(steps.findIndex((s) => s.id === current));
        }}
        onBlur={() => setCursor(undefined)}
        onWheel={(e) => {
          e.preventDefault();
          if (e.ctrlKey || e.metaKey) zoom(e.deltaY < 0 ? 1.25 : 0.8, e.offsetY);
          else setTop(Math.max(0, Math.min(highest, at + e.deltaY)));
        }}
        onMouseDown={(e) => e.preventDefault()}
        onMouseMove={(e) => {
          const r = e.currentTarget.getBoundingClientRect();
          setHover({ x: e.clientX - r.left, y: e.clientY - r.top });
        }}
        onMouseLeave={() => setHover(undefined)}
        onClick={open}
      >
        <canvas ref={canvas} />
      </div>
      <div class="flowfoot">
        {hit ? (
          <>
            {said(hit)}
            {lane && how !== undefined && (
              <>
                {" "}
                —{" "}
                {how === 3
                  ? "reads and writes"
                  : how === 2
                    ? "writes"
                    : how === 1
                      ? "reads"
                      : "is given"}{" "}
                {bufferName(buffers.get(lane), lane)}
              </>
            )}
          </>
        ) : (
          <>
            <i class="m-write" /> writes <i class="m-read" /> reads <i class="m-bad" /> findings{" "}
            <i class="m-race" /> races
          </>
        )}
      </div>
    </div>
  );
}
