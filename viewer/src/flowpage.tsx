// The flow of the whole run on a page of its own: time from left to right, a lane for each device and stream, launches grouped by kernel and
// by loop, and below them the buffers that are wanted, thousands if need be. Only what is in sight is drawn.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Buffer, FlowStep, buffers } from "./api";
import { bufferName, bytesText, counted, duration, many } from "./format";
import { Flow, kernelName } from "./flow";
import { spansOf, ticksOf } from "./flowtime";
import { useListen } from "./hooks";
import { Button, PaneFrame } from "./parts";
import { RaceProgress, RaceSearch } from "./races";
import { hostTail, onTime, setTime, stepIndex, timeStep } from "./time";
import { Pane, follow } from "./trail";

const NAMES = 190,
  LANE = 26,
  ROW = 20,
  HEAD = 24;
const hues = new Map<string, number>();
const hue = (name: string) => {
  const known = hues.get(name);
  if (known !== undefined) return known;
  let h = 0;
  for (let i = 0; i < name.length; i++) h = (h * 31 + name.charCodeAt(i)) % 360;
  hues.set(name, h);
  return h;
};

export function FlowPane({
  index,
  active,
  flow,
  list,
  races,
  raceSearch,
}: {
  pane: Pane;
  index: number;
  active: boolean;
  flow: Flow;
  list: Buffer[];
  races: Map<number, number>;
  raceSearch: RaceSearch;
}) {
  useListen(onTime);
  const { steps } = flow,
    canvas = useRef<HTMLCanvasElement>(null),
    box = useRef<HTMLDivElement>(null),
    [size, setSize] = useState({ w: 800, h: 500 }),
    [theme, setTheme] = useState(0);
  const [view, setView] = useState({ from: 0, upto: 0 }),
    [top, setTop] = useState(0),
    [filter, setFilter] = useState(""),
    [onlyUsed, setOnlyUsed] = useState(true),
    [bad, setBad] = useState(false),
    [hover, setHover] = useState<{ x: number; y: number }>(),
    [cursor, setCursor] = useState(-1),
    [byTime, setByTime] = useState(false),
    drag = useRef<
      { x: number; y: number; from: number; upto: number; top: number; moved: boolean } | undefined
    >(undefined);
  const name = (s: FlowStep) =>
    s.kind === "launch" ? kernelName(flow.kernels[s.kernel]) : s.call || s.kind;
  const { names, loops, lanes, laneOf, uses } = flow.index,
    n = steps.length;
  const from = view.upto ? view.from : 0,
    upto = view.upto || Math.max(1, n),
    perStep = (size.w - NAMES) / Math.max(1e-9, upto - from);
  const words = filter.trim().toLowerCase(),
    rows = useMemo(
      () =>
        list.filter(
          (b) =>
            (!onlyUsed || uses.has(b.id)) &&
            (!words ||
              bufferName(b).toLowerCase().includes(words) ||
              (uses.get(b.id) ?? []).some(([i]) => names[i].toLowerCase().includes(words))),
        ),
      [list, onlyUsed, words, flow],
    );
  const lanesHigh = HEAD + lanes.length * LANE + 6,
    highest = Math.max(0, rows.length * ROW - (size.h - lanesHigh)),
    at = Math.min(top, highest);
  const wanted = (i: number) =>
    (!words && !bad) ||
    ((!words ||
      names[i].toLowerCase().includes(words) ||
      steps[i].uses.some((u) =>
        bufferName(buffers.get(u[0]), u[0]).toLowerCase().includes(words),
      )) &&
      (!bad || steps[i].findings > 0 || (races.get(steps[i].launch) ?? 0) > 0));
  useLayoutEffect(() => {
    const o = new ResizeObserver(() => {
      const e = box.current;
      if (e) setSize({ w: e.clientWidth, h: e.clientHeight });
    });
    o.observe(box.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)"),
      changed = () => setTheme((t) => t + 1),
      m = new MutationObserver(changed);
    dark.addEventListener("change", changed);
    m.observe(document.documentElement, { attributes: true });
    return () => {
      o.disconnect();
      m.disconnect();
      dark.removeEventListener("change", changed);
    };
  }, []);
  const now = timeStep() ? stepIndex(timeStep()) : -1,
    X = (unit: number) => NAMES + (unit - from) * perStep;
  // By steps, each is a unit wide; by the clock, as long as it took.
  const spans = useMemo(() => (byTime ? spansOf(steps) : undefined), [byTime, steps]),
    begins = (i: number) => (spans ? spans.begin[i] : i),
    wide = (i: number) => (spans ? (spans.end[i] - spans.begin[i]) * perStep : perStep);

  useEffect(() => {
    const c = canvas.current!,
      ratio = devicePixelRatio || 1,
      style = getComputedStyle(c),
      v = (x: string) => style.getPropertyValue(x).trim();
    c.width = size.w * ratio;
    c.height = size.h * ratio;
    const g = c.getContext("2d")!;
    g.scale(ratio, ratio);
    g.clearRect(0, 0, size.w, size.h);
    g.textBaseline = "middle";
    const ink = v("--ink"),
      dim = v("--dim"),
      rule = v("--rule"),
      accent = v("--accent"),
      error = v("--error"),
      warning = v("--warning"),
      read = v("--load"),
      write = v("--store"),
      paper = v("--paper"),
      soft = v("--soft"),
      surface = v("--surface");
    const lightness =
      (matchMedia("(prefers-color-scheme: dark)").matches &&
        document.documentElement.dataset.theme !== "light") ||
      document.documentElement.dataset.theme === "dark"
        ? 38
        : 78;
    const first = spans ? 0 : Math.max(0, Math.floor(from)),
      last = spans ? n : Math.min(n, Math.ceil(upto));
    // Loops as brackets at the top.
    g.font = `11px ${v("--sans")}`;
    if (spans)
      for (const t of ticksOf(spans, from, upto, 90 / perStep)) {
        const x = X(t / spans.perUnit);
        if (x >= NAMES) {
          g.fillStyle = dim;
          g.fillText(duration(t), x + 4, HEAD / 2 - 1);
          g.fillStyle = rule;
          g.fillRect(x, 3, 1, HEAD + lanes.length * LANE - 3);
        }
      }
    for (const l of spans ? [] : loops) {
      const a = X(l.first),
        b = X(l.first + l.length * l.turns);
      if (b < NAMES || a > size.w || b - a < 14) continue;
      g.fillStyle = surface;
      g.fillRect(Math.max(NAMES, a) + 1, 3, Math.min(b, size.w) - Math.max(NAMES, a) - 2, HEAD - 7);
      g.fillStyle = dim;
      const label = `${many(l.turns)} × ${l.length === 1 ? names[l.first] : `${l.length} steps`}`;
      if (b - Math.max(a, NAMES) > g.measureText(label).width + 10)
        g.fillText(label, Math.max(NAMES, a) + 6, HEAD / 2 - 1);
    }
    if (now >= 0) {
      g.fillStyle = soft;
      g.fillRect(X(begins(now)), HEAD - 2, Math.max(2, wide(now)), size.h);
    }
    if (cursor >= 0) {
      g.strokeStyle = accent;
      g.lineWidth = 1.5;
      g.strokeRect(X(begins(cursor)), HEAD, Math.max(2, wide(cursor)), lanes.length * LANE);
    }
    // Lanes. Steps thinner than a pixel share one; findings and races must still be seen.
    let pixel = -1;
    const drawn = new Set<number>(),
      numbers = new Map<string, number>(),
      numberOf = (name: string) => {
        let k = numbers.get(name);
        if (k === undefined) numbers.set(name, (k = numbers.size));
        return k;
      };
    g.font = `12px ${v("--sans")}`;
    for (let i = first; i < last; i++) {
      const x = X(begins(i)),
        long = wide(i),
        w = Math.max(1, long - (long > 4 ? 1 : 0));
      if (spans && (x + w < NAMES || x > size.w)) continue;
      const s = steps[i],
        y = HEAD + laneOf[i] * LANE,
        on = wanted(i),
        found = s.findings > 0,
        raced = (races.get(s.launch) ?? 0) > 0;
      if (Math.floor(x) !== pixel) {
        pixel = Math.floor(x);
        drawn.clear();
      }
      if (long < 1) {
        const mark =
          ((laneOf[i] * 4096 + (numberOf(names[i]) % 4096)) * 2 + Number(found)) * 2 +
          Number(raced);
        if (drawn.has(mark)) continue;
        drawn.add(mark);
      }
      g.globalAlpha = on ? 1 : 0.18;
      g.fillStyle =
        s.kind === "launch"
          ? s.recorded
            ? `hsl(${hue(names[i])} 55% ${lightness}%)`
            : "#9aa0aa"
          : surface;
      g.fillRect(x, y + 3, w, LANE - 6);
      if (s.kind === "launch" && !s.recorded && long > 6) {
        g.strokeStyle = dim;
        g.setLineDash([3, 3]);
        g.strokeRect(x + 0.5, y + 3.5, w - 1, LANE - 7);
        g.setLineDash([]);
      }
      if (s.kind !== "launch") {
        g.strokeStyle = rule;
        g.strokeRect(x + 0.5, y + 5.5, Math.max(1, w - 1), LANE - 11);
      }
      if (found || raced) {
        g.fillStyle = found ? error : warning;
        g.beginPath();
        g.arc(x + Math.min(w / 2, 7), y + 6, Math.max(2, Math.min(4, spans ? 4 : perStep)), 0, 7);
        g.fill();
      }
      if (long > 34) {
        const tail = s.kind === "launch" ? ` #${s.number}` : hostTail(s.id);
        let text = names[i];
        g.fillStyle = ink;
        while (text.length > 2 && g.measureText(text + tail).width > w - 8)
          text = text.slice(0, -2) + "…";
        if (g.measureText(text + tail).width <= w - 4)
          g.fillText(text + tail, x + 5, y + LANE / 2 + 1);
      }
      g.globalAlpha = 1;
    }
    // Buffers: a line for its life, marks for what uses it.
    const firstRow = Math.floor(at / ROW),
      lastRow = Math.min(rows.length, Math.ceil((at + size.h - lanesHigh) / ROW));
    g.save();
    g.beginPath();
    g.rect(0, lanesHigh, size.w, size.h - lanesHigh);
    g.clip();
    for (let r = firstRow; r < lastRow; r++) {
      const b = rows[r],
        y = lanesHigh + r * ROW - at + ROW / 2,
        all = uses.get(b.id) ?? [];
      g.strokeStyle = rule;
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(NAMES, y);
      g.lineTo(size.w, y);
      g.stroke();
      let low = 0,
        high = all.length;
      while (!spans && low < high) {
        const m = (low + high) >> 1;
        if (all[m][0] < from - 1) low = m + 1;
        else high = m;
      }
      let lastX = -9;
      for (let k = spans ? 0 : low; k < all.length && (spans || all[k][0] <= upto); k++) {
        const [i, how] = all[k],
          x = X(begins(i)) + wide(i) / 2;
        if ((Math.abs(x - lastX) < 1 && wide(i) < 1) || (spans && (x < NAMES || x > size.w)))
          continue;
        lastX = x;
        const radius = spans ? 3 : Math.max(1, Math.min(4.5, perStep / 3));
        g.globalAlpha = wanted(i) ? 1 : 0.18;
        g.beginPath();
        g.arc(x, y, radius, 0, 7);
        g.fillStyle = how & 2 ? write : paper;
        g.fill();
        if (!(how & 2) || how === 3) {
          g.strokeStyle = how ? read : dim;
          g.lineWidth = 1.5;
          g.stroke();
        }
        g.globalAlpha = 1;
      }
    }
    g.fillStyle = paper;
    g.fillRect(0, lanesHigh, NAMES - 4, size.h);
    g.font = `12px ${v("--mono")}`;
    for (let r = firstRow; r < lastRow; r++) {
      const b = rows[r],
        text = bufferName(b);
      g.fillStyle = ink;
      g.fillText(
        text.length > 18 ? text.slice(0, 17) + "…" : text,
        12,
        lanesHigh + r * ROW - at + ROW / 2,
      );
      g.fillStyle = dim;
      g.textAlign = "right";
      g.font = `11px ${v("--sans")}`;
      g.fillText(bytesText(b.size), NAMES - 10, lanesHigh + r * ROW - at + ROW / 2);
      g.textAlign = "left";
      g.font = `12px ${v("--mono")}`;
    }
    g.restore();
    g.fillStyle = paper;
    g.fillRect(0, 0, NAMES - 4, lanesHigh);
    g.font = `12px ${v("--sans")}`;
    g.fillStyle = dim;
    lanes.forEach((l, i) => g.fillText(l.label, 12, HEAD + i * LANE + LANE / 2));
    g.strokeStyle = rule;
    g.beginPath();
    g.moveTo(0, lanesHigh - 2);
    g.lineTo(size.w, lanesHigh - 2);
    g.stroke();
    if (highest) {
      const h = size.h - lanesHigh,
        bar = Math.max(16, (h * h) / (rows.length * ROW));
      g.fillStyle = rule;
      g.fillRect(size.w - 4, lanesHigh + ((h - bar) * at) / highest, 4, bar);
    }
  }, [size, steps, from, upto, at, rows, now, cursor, races, theme, words, bad, flow, spans]);

  const zoom = (by: number, x = size.w / 2) => {
    const width = Math.max(spans ? n / 1e7 : 2, Math.min(n, (upto - from) / by)),
      anchor = from + (Math.max(NAMES, x) - NAMES) / perStep,
      share = (anchor - from) / Math.max(1e-9, upto - from),
      start = Math.max(0, Math.min(n - width, anchor - share * width));
    setView({ from: start, upto: start + width });
  };
  const pan = (by: number) => {
    const w = upto - from,
      start = Math.max(0, Math.min(n - w, from + by));
    setView({ from: start, upto: start + w });
  };
  const rowHit =
      hover && hover.y > lanesHigh ? rows[Math.floor((hover.y - lanesHigh + at) / ROW)] : undefined,
    laneHit =
      hover && hover.y > HEAD && hover.y < lanesHigh ? Math.floor((hover.y - HEAD) / LANE) : -1;
  // By the clock: the step of the lane, or of those that use the buffer, that is nearest.
  const nearest = (x: number) => {
    let best = -1,
      away = 6;
    const look = (i: number) => {
      const a = X(begins(i)),
        d = x < a ? a - x : Math.max(0, x - a - wide(i));
      if (d < away) {
        away = d;
        best = i;
      }
    };
    if (rowHit) for (const [i] of uses.get(rowHit.id) ?? []) look(i);
    else for (let i = 0; i < n && laneHit >= 0; i++) if (laneOf[i] === laneHit) look(i);
    return best;
  };
  const stepAt = (x: number) => {
    if (spans) return x >= NAMES ? nearest(x) : -1;
    const i = Math.floor(from + (x - NAMES) / perStep);
    return x >= NAMES && i >= 0 && i < n ? i : -1;
  };
  const hit = hover && hover.y > HEAD ? stepAt(hover.x) : -1,
    shownStep =
      hit >= 0 && (rowHit || laneOf[hit] === laneHit)
        ? steps[hit]
        : !hover && cursor >= 0
          ? steps[cursor]
          : undefined;
  const how = rowHit && shownStep?.uses.find((u) => u[0] === rowHit.id)?.[1];
  const said = (s: FlowStep) =>
    s.kind === "launch"
      ? `${name(s)} #${s.number}: ${many(s.blocks)} × ${s.threads} threads${s.ns ? `, ${duration(s.ns)}` : ""}${s.findings ? `, ${s.findings === 1 ? "1 finding" : `${s.findings} findings`}` : ""}${races.get(s.launch) ? `, ${races.get(s.launch)} race${races.get(s.launch) === 1 ? "" : "s"}` : ""}${s.recorded ? "" : ", not recorded"}`
      : `${name(s)}: ${bytesText(s.bytes)}`;
  const open = (s: FlowStep | undefined, b: Buffer | undefined) => {
    if (s) setTime(s.id);
    if (b) follow(index, { kind: "buffer", buffer: b.id, step: 0, width: 0 });
    else if (s?.launch && s.kind === "launch") follow(index, { kind: "launch", launch: s.launch });
    else if (s) follow(index, { kind: "step", step: s.id, buffer: 0, offset: 0, bytes: 0 });
  };
  const goTo = (i: number) => {
    const k = Math.max(0, Math.min(n - 1, i));
    setHover(undefined);
    setCursor(k);
    const u = begins(k);
    if (u < from || u >= upto) pan(u - (from + upto) / 2);
  };
  const nextBad = (by: number) => {
    for (let i = (cursor < 0 ? (by > 0 ? -1 : n) : cursor) + by; i >= 0 && i < n; i += by)
      if (steps[i].findings > 0 || (races.get(steps[i].launch) ?? 0) > 0) {
        goTo(i);
        return;
      }
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const acts: Record<string, () => void> = {
      ArrowRight: () => goTo(cursor + 1),
      ArrowLeft: () => goTo(cursor - 1),
      Home: () => goTo(0),
      End: () => goTo(n - 1),
      PageDown: () => setTop(Math.min(highest, at + size.h - lanesHigh)),
      PageUp: () => setTop(Math.max(0, at - size.h + lanesHigh)),
      ArrowDown: () => setTop(Math.min(highest, at + ROW)),
      ArrowUp: () => setTop(Math.max(0, at - ROW)),
      "+": () => zoom(1.6),
      "-": () => zoom(1 / 1.6),
      n: () => nextBad(1),
      p: () => nextBad(-1),
      Enter: () => {
        open(steps[cursor], undefined);
        (e.currentTarget as HTMLElement).blur();
      },
      Escape: () => (e.currentTarget as HTMLElement).blur(),
    };
    if (acts[e.key]) {
      acts[e.key]();
      e.preventDefault();
      e.stopPropagation();
    }
  };
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
      tools={
        <>
          <Button icon="fit" label="All steps" onClick={() => setView({ from: 0, upto: 0 })} />
          <Button icon="minus" label="See more steps at once" onClick={() => zoom(1 / 1.6)} />
          <Button icon="plus" label="See fewer steps, larger" onClick={() => zoom(1.6)} />
        </>
      }
      sub={
        <>
          <span>
            {loops.length
              ? `${loops.length === 1 ? "1 loop" : `${loops.length} loops`} found. `
              : ""}
          </span>
          <RaceProgress search={raceSearch} />
        </>
      }
    >
      <div class="controls">
        <label>
          find{" "}
          <input
            type="search"
            aria-label="kernels and buffers"
            placeholder="a kernel or a buffer"
            value={filter}
            onInput={(e) => {
              setFilter(e.currentTarget.value);
              setTop(0);
            }}
          />
        </label>
        <label title="how long each step took, as far as that is known; otherwise each step has the same width">
          <input
            type="checkbox"
            checked={byTime}
            onChange={(e) => {
              setByTime(e.currentTarget.checked);
              setView({ from: 0, upto: 0 });
            }}
          />{" "}
          by the clock
        </label>
        <label>
          <input type="checkbox" checked={bad} onChange={(e) => setBad(e.currentTarget.checked)} />{" "}
          only with findings or races
        </label>
        <label>
          <input
            type="checkbox"
            checked={!onlyUsed}
            onChange={(e) => setOnlyUsed(!e.currentTarget.checked)}
          />{" "}
          buffers that nothing uses
        </label>
      </div>
      <div
        class="flowbox big"
        ref={box}
        tabIndex={0}
        role="application"
        aria-label={`flow of the run: left and right choose a step, up and down scroll the buffers, n and p go to the next with findings or races, Enter opens it, plus and minus zoom. ${shownStep ? said(shownStep) : ""}`}
        onKeyDown={onKey}
        onWheel={(e) => {
          e.preventDefault();
          const r = e.currentTarget.getBoundingClientRect();
          if (e.ctrlKey || e.metaKey || e.clientY - r.top < lanesHigh)
            zoom(e.deltaY < 0 ? 1.25 : 0.8, e.clientX - r.left);
          else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
            pan((e.deltaX || e.deltaY) / perStep);
          else setTop(Math.max(0, Math.min(highest, at + e.deltaY)));
        }}
        onMouseDown={(e) => {
          drag.current = { x: e.clientX, y: e.clientY, from, upto, top: at, moved: false };
        }}
        onMouseUp={() =>
          setTimeout(() => {
            drag.current = undefined;
          }, 0)
        }
        onMouseMove={(e) => {
          const r = e.currentTarget.getBoundingClientRect(),
            d = drag.current;
          if (d && e.buttons & 1) {
            if (Math.abs(e.clientX - d.x) + Math.abs(e.clientY - d.y) > 4) d.moved = true;
            if (d.moved) {
              const w = d.upto - d.from,
                start = Math.max(0, Math.min(n - w, d.from - (e.clientX - d.x) / perStep));
              setView({ from: start, upto: start + w });
              setTop(Math.max(0, Math.min(highest, d.top - (e.clientY - d.y))));
            }
          } else setHover({ x: e.clientX - r.left, y: e.clientY - r.top });
        }}
        onMouseLeave={() => setHover(undefined)}
        onClick={(e) => {
          if (!drag.current?.moved) {
            const r = e.currentTarget.getBoundingClientRect(),
              x = e.clientX - r.left;
            if (x < NAMES && rowHit) open(undefined, rowHit);
            else if (shownStep) open(shownStep, rowHit && how !== undefined ? rowHit : undefined);
          }
        }}
      >
        <canvas ref={canvas} />
      </div>
      <div class="flowfoot">
        {shownStep ? (
          <>
            {said(shownStep)}
            {rowHit && how !== undefined && (
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
                {bufferName(rowHit)}
              </>
            )}
          </>
        ) : rowHit ? (
          `${bufferName(rowHit)}: ${bytesText(rowHit.size)}, used by ${counted(uses.get(rowHit.id)?.length ?? 0, "step")}`
        ) : (
          <>
            <i class="m-write" /> writes <i class="m-read" /> reads <i class="m-bad" /> findings{" "}
            <i class="m-race" /> races <i class="m-grey" /> not recorded
          </>
        )}
      </div>
    </PaneFrame>
  );
}
