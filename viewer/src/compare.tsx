// Two runs, or two steps: which launches differ, and a buffer side by side with its other self, with the difference as a picture.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FlowStep, ask, askBytes, buffers, flowStep, isStatic } from "./api";
import { kernelName } from "./flow";
import { bufferName, elementName, knownOf, many, partsText } from "./format";
import { useAnswer, useListen } from "./hooks";
import { Button, Empty, Failure, PaneFrame } from "./parts";
import {
  NUMBER,
  Picture,
  ScaleControls,
  decode,
  goodWidth,
  paint,
  placeOn,
  ring,
  scaleOf,
  scales,
  usualRange,
} from "./picture";
import { allSteps, hostTail, stepById } from "./time";
import { Pane, follow, replace } from "./trail";
import { bufferType, leaves, onTypes } from "./types";

export interface Differing {
  launch: number;
  other_launch: number;
  number: number;
  kernel: string;
  name: string;
  buffer: number;
  other_buffer: number;
  within?: number;
  why?: string;
  compared?: number;
  different?: number;
  nans?: number;
  first?: number;
  ulps?: number;
  absolute?: number;
  relative?: number;
}
export interface Comparison {
  files?: [string, string];
  done: number;
  total: number;
  finished: boolean;
  equal: number;
  different: number;
  unmatched: number;
  not_compared: number;
  failed?: string;
  rows: Differing[];
}
// The server was started with two runs. A page without a server never is.
export async function comparesRuns(): Promise<boolean> {
  if (isStatic()) return false;
  try {
    return !!(await (await fetch("api/compare_state")).json()).files;
  } catch {
    return false;
  }
}

// Compared in the background, from the moment the page is opened; undefined: there is one run only.
export function useComparison(wanted: boolean): Comparison | undefined {
  const [state, set] = useState<Comparison>();
  useEffect(() => {
    if (!wanted) return;
    let gone = false,
      timer = 0;
    const look = async () => {
      try {
        const j: Comparison = await (await fetch("api/compare_state")).json();
        if (gone || !j.files) return;
        set(j);
        if (!j.finished) timer = window.setTimeout(look, 500);
      } catch {
        /* the server has ended */
      }
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [wanted]);
  return state;
}

// Steps of the other run, to find a launch's.
export async function otherSteps(): Promise<FlowStep[]> {
  return (await ask<any>("other/flow", { skip: 0, most: 100000 })).steps.map(flowStep);
}

export function RunsPane({
  index,
  active,
  comparison: c,
}: {
  index: number;
  active: boolean;
  comparison?: Comparison;
}) {
  const open = async (d: Differing) => {
    const mine = stepOf(d.launch),
      there =
        (await otherSteps()).find((s) => s.kind === "launch" && s.launch === d.other_launch)?.id ??
        0;
    if (d.buffer)
      follow(index, {
        kind: "twin",
        buffer: d.buffer,
        step: mine,
        other: d.other_buffer,
        otherStep: there,
        run: 1,
        width: 0,
      });
  };
  return (
    <PaneFrame
      index={index}
      kind="runs"
      active={active}
      title={
        <>
          <span class="what">compare</span> two runs
        </>
      }
      sub={
        c?.files ? (
          <span title={c.files.join(" and ")}>
            {c.files[0]} and {c.files[1]}
          </span>
        ) : undefined
      }
    >
      {!c ? (
        <Failure text="This page shows one run. warpgrind diff --view A B shows two." />
      ) : c.failed ? (
        <Failure text={c.failed} />
      ) : (
        <div class="scroll">
          <p>
            {c.finished ? "" : `${many(c.done)} of ${many(c.total)} launches compared. `}
            {c.different
              ? c.different === 1
                ? "1 buffer differs"
                : `${many(c.different)} buffers differ`
              : c.finished
                ? "Nothing differs"
                : "nothing differs so far"}
            , {many(c.equal)} {c.equal === 1 ? "is" : "are"} the same
            {c.not_compared ? `, ${many(c.not_compared)} could not be compared` : ""}
            {c.unmatched
              ? `; ${c.unmatched === 1 ? "1 launch has" : `${many(c.unmatched)} launches have`} no counterpart`
              : ""}
            .{" "}
            <a href="other/" target="_blank" rel="noopener">
              the other run
            </a>
          </p>
          {c.rows.length > 0 && (
            <table class="differences">
              <thead>
                <tr>
                  <td>launch</td>
                  <td>buffer</td>
                  <td>differ</td>
                  <td>most, relative</td>
                </tr>
              </thead>
              <tbody>
                {c.rows.slice(0, 2000).map((d, i) => (
                  <tr class={i ? "" : "first"}>
                    <td>
                      <button
                        type="button"
                        class="link"
                        onClick={() => follow(index, { kind: "launch", launch: d.launch })}
                      >
                        {kernelName(d.kernel)} #{d.number}
                      </button>
                    </td>
                    <td>
                      <button type="button" class="link twin" onClick={() => void open(d)}>
                        {d.buffer ? bufferName(buffers.get(d.buffer), d.buffer) : d.name}
                      </button>
                    </td>
                    <td>
                      {d.why ??
                        (d.different === undefined
                          ? "by its hash"
                          : `${many(d.different)} of ${many(d.compared ?? 0)}${d.nans ? `, ${many(d.nans)} NaN` : ""}`)}
                      {d.within ? " (within the rules)" : ""}
                    </td>
                    <td class="num">
                      {d.relative === undefined || d.relative === null
                        ? ""
                        : Number(d.relative.toPrecision(3))}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
      )}
    </PaneFrame>
  );
}
const stepOf = (launch: number) =>
  allSteps.find((s) => s.kind === "launch" && s.launch === launch)?.id ?? 0;

// --- a buffer and its other self ---
function useBoth(pane: Extract<Pane, { kind: "twin" }>, question: Record<string, string | number>) {
  return useAnswer(async () => {
    const [a, b] = await Promise.all([
      askBytes("picture", { ...question, allocation: pane.buffer, step: pane.step }),
      askBytes(pane.run ? "other/picture" : "picture", {
        ...question,
        allocation: pane.other,
        step: pane.otherStep,
      }),
    ]);
    return [decode(a), decode(b)] as [Picture, Picture];
  }, [pane.buffer, pane.step, pane.other, pane.otherStep, pane.run, JSON.stringify(question)]);
}
export function differenceOf(p: Picture, q: Picture): Picture {
  const n = Math.min(p.mean.length, q.mean.length),
    d: Picture = {
      columns: p.columns,
      rows: p.rows,
      low: NaN,
      high: NaN,
      min: new Float32Array(p.mean.length),
      max: new Float32Array(p.mean.length),
      mean: new Float32Array(p.mean.length),
      flags: new Uint8Array(p.flags),
    };
  for (let i = 0; i < n; i++) {
    if (p.flags[i] & q.flags[i] & NUMBER) {
      d.min[i] = p.min[i] - q.min[i];
      d.max[i] = p.max[i] - q.max[i];
      d.mean[i] = p.mean[i] - q.mean[i];
      if (!(d.mean[i] >= d.low)) d.low = d.mean[i];
      if (!(d.mean[i] <= d.high)) d.high = d.mean[i];
    }
    d.flags[i] = p.flags[i] | q.flags[i];
  }
  return d;
}
function Side({
  title,
  picture,
  dot,
  stops,
  place,
  at,
  choose,
  open,
}: {
  title: string;
  picture: Picture;
  dot: number;
  stops: number[][];
  place(v: number): number;
  at: number;
  choose(i: number): void;
  open(i: number): void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) {
      const g = paint(canvas.current, picture, dot, stops, place);
      if (at >= 0) ring(g, at, picture.columns, dot, "#1c2230");
    }
  }, [picture, dot, stops, place, at]);
  const under = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect(),
      x = Math.floor((e.clientX - r.left) / dot),
      y = Math.floor((e.clientY - r.top) / dot);
    return x >= 0 && x < picture.columns && y >= 0 && y < picture.rows
      ? y * picture.columns + x
      : -1;
  };
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div class="sidebox">
        <canvas
          ref={canvas}
          class="dots"
          onMouseMove={(e) => choose(under(e))}
          onMouseLeave={() => choose(-1)}
          onClick={(e) => open(under(e))}
        />
      </div>
    </figure>
  );
}
export function TwinPane({
  pane,
  index,
  active,
  kernels,
}: {
  pane: Extract<Pane, { kind: "twin" }>;
  index: number;
  active: boolean;
  kernels: Record<string, string>;
}) {
  useListen(onTypes);
  const b = buffers.get(pane.buffer),
    t = bufferType(pane.buffer),
    all = useMemo(() => leaves(t), [t]),
    part = Math.min(pane.part ?? 0, all.length - 1),
    leaf = all[Math.max(0, part)],
    scalar = leaf.scalar === "bool" ? "u8" : leaf.scalar === "ptr" ? "u64" : leaf.scalar;
  const count = b ? Math.floor(b.size / t.bytes) : 0,
    width = Math.max(1, pane.width || goodWidth(count)),
    rows = Math.max(1, Math.ceil(count / width)),
    holder = useRef<HTMLDivElement>(null),
    [room, setRoom] = useState({ w: 0, h: 0 });
  useEffect(() => {
    const o = new ResizeObserver(() => {
      const e = holder.current;
      if (e) setRoom({ w: e.clientWidth, h: e.clientHeight });
    });
    if (holder.current) o.observe(holder.current);
    return () => o.disconnect();
  }, []);
  // Three pictures in one, two or three columns: whichever makes them largest.
  const size = Math.min(
      32,
      Math.max(
        ...[1, 2, 3].map((k) =>
          Math.min(
            ((room.w || 1060) - 28 - 16 * (k - 1)) / k / width,
            ((room.h || 460) - 20 - 16 * (Math.ceil(3 / k) - 1)) / Math.ceil(3 / k) / rows -
              24 / rows,
          ),
        ),
        1 / 4096,
      ),
    ),
    pool = Math.max(1, Math.ceil(1 / size)),
    dot = pool > 1 ? 1 : Math.max(1, Math.floor(size));
  const question = {
    type: scalar,
    stride: t.bytes,
    offset: leaf.offset,
    width,
    rows,
    pool_x: pool,
    pool_y: pool,
    first: 0,
  };
  const both = useBoth(pane, question),
    difference = useMemo(() => both.value && differenceOf(...both.value), [both.value]),
    usual = useMemo(() => usualRange(both.value?.[0]), [both.value]);
  const low = pane.low ?? usual[0],
    high = pane.high ?? usual[1],
    far = difference
      ? Math.max(Math.abs(difference.low || 0), Math.abs(difference.high || 0)) || 1
      : 1;
  const place = useMemo(() => placeOn(low, high, pane.log), [low, high, pane.log]),
    placeDifference = useMemo(() => placeOn(-far, far, pane.log), [far, pane.log]);
  const [at, setAt] = useState(-1),
    [text, setText] = useState(""),
    choose = (more: Partial<typeof pane>) => replace(index, { ...pane, ...more }, false);
  const elementAt = (i: number) => {
    const c = difference?.columns ?? 1;
    return i < 0 ? -1 : Math.min(count - 1, Math.floor(i / c) * pool * width + (i % c) * pool);
  };
  const different = useMemo(() => {
    const out: number[] = [];
    if (difference && both.value)
      for (let i = 0; i < difference.mean.length && out.length < 200; i++)
        if (
          (difference.mean[i] !== 0 && difference.flags[i] & NUMBER) ||
          both.value[0].flags[i] !== both.value[1].flags[i]
        )
          out.push(i);
    return out;
  }, [difference]);
  useEffect(() => {
    const e = elementAt(at);
    if (e < 0) {
      setText("");
      return;
    }
    let gone = false;
    const timer = setTimeout(async () => {
      try {
        const q = { offset: e * t.bytes, bytes: t.bytes },
          values = await Promise.all([
            askBytes("contents", { ...q, allocation: pane.buffer, step: pane.step }),
            askBytes(pane.run ? "other/contents" : "contents", {
              ...q,
              allocation: pane.other,
              step: pane.otherStep,
            }),
          ]);
        const [x, y] = values.map((v) =>
          knownOf(new Uint8Array(v, t.bytes, t.bytes), t, 0)
            ? "not known"
            : partsText(new DataView(v, 0, t.bytes), t, 0),
        );
        if (!gone) setText(`${elementName(pane.buffer, e * t.bytes, t.bytes)}: ${x} and ${y}`);
      } catch {
        /* the picture says what is wrong */
      }
    }, 30);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [at, both.value]);
  const steps = useMemo(
    () =>
      allSteps.filter((s) => s.uses.some((u) => u[0] === pane.buffer && u[1] !== 1)).slice(0, 500),
    [pane.buffer, allSteps.length],
  );
  const label = (id: number) => {
    const s = stepById(id);
    return !id
      ? "at the end"
      : s
        ? `after ${s.kind === "launch" ? `${kernelName(kernels[s.kernel])} #${s.number}` : `${s.call || s.kind}${hostTail(s.id)}`}`
        : `after step ${id}`;
  };
  const open = (i: number) => {
    const e = elementAt(i);
    if (e >= 0)
      follow(index, {
        kind: "element",
        buffer: pane.buffer,
        offset: e * t.bytes,
        bytes: t.bytes,
        step: pane.step || undefined,
      });
  };
  const go = (by: number) => {
    const k = different.findIndex((i) => i === at),
      n = different[Math.max(0, Math.min(different.length - 1, k < 0 ? 0 : k + by))];
    if (n !== undefined) setAt(n);
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "ArrowRight" || e.key === "ArrowDown") go(1);
    else if (e.key === "ArrowLeft" || e.key === "ArrowUp") go(-1);
    else if (e.key === "Enter" && at >= 0) open(at);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <PaneFrame
      index={index}
      kind="twin"
      active={active}
      title={
        <>
          <span class="what">compare</span> {bufferName(b, pane.buffer)}[{many(count)}]
        </>
      }
      sub={
        pane.run
          ? `this run and the other, ${label(pane.step)}`
          : `${label(pane.step)} and ${label(pane.otherStep)}`
      }
      tools={
        pane.run && pane.other ? (
          <a
            class="button"
            target="_blank"
            rel="noopener"
            href={`other/#/b:${pane.other}.${pane.otherStep}.0`}
          >
            in the other run
          </a>
        ) : undefined
      }
    >
      <div class="controls">
        <label>
          width{" "}
          <input
            type="number"
            min={1}
            max={Math.max(1, count)}
            value={width}
            onChange={(e) => {
              const n = Math.floor(Number(e.currentTarget.value));
              if (n >= 1 && n <= count) choose({ width: n });
            }}
          />
        </label>
        {all.length > 1 && (
          <label>
            part{" "}
            <select value={part} onChange={(e) => choose({ part: Number(e.currentTarget.value) })}>
              {all.map((l, i) => (
                <option value={i}>{l.path.replace(/^\./, "")}</option>
              ))}
            </select>
          </label>
        )}
        {!pane.run &&
          (["step", "otherStep"] as const).map((k, i) => (
            <label>
              {i ? "and" : ""}{" "}
              <select
                aria-label={i ? "the other step" : "the step"}
                value={pane[k]}
                onChange={(e) => choose({ [k]: Number(e.currentTarget.value) })}
              >
                {steps.map((s) => (
                  <option value={s.id}>{label(s.id)}</option>
                ))}
                <option value={0}>at the end</option>
              </select>
            </label>
          ))}
        <ScaleControls
          look={pane}
          usual={both.value && usual}
          number={(n) => String(Number(n.toPrecision(6)))}
          choose={choose}
        />
      </div>
      <div class="twinroom" ref={holder}>
        {both.error ? (
          <Failure text={both.error} />
        ) : !both.value || !difference ? (
          <Empty>reading…</Empty>
        ) : (
          <div
            class="twins canvas"
            tabIndex={0}
            role="group"
            aria-label={`two pictures and their difference: arrow keys go over what differs, Enter opens it. ${text}`}
            onKeyDown={onKey}
          >
            <Side
              title={pane.run ? "this run" : label(pane.step)}
              picture={both.value[0]}
              dot={dot}
              stops={scales[scaleOf(pane)]}
              place={place}
              at={at}
              choose={setAt}
              open={open}
            />
            <Side
              title={pane.run ? "the other run" : label(pane.otherStep)}
              picture={both.value[1]}
              dot={dot}
              stops={scales[scaleOf(pane)]}
              place={place}
              at={at}
              choose={setAt}
              open={open}
            />
            <Side
              title="difference"
              picture={difference}
              dot={dot}
              stops={scales["blue-red"]}
              place={placeDifference}
              at={at}
              choose={setAt}
              open={open}
            />
          </div>
        )}
      </div>
      <footer class="legend">
        <span class="under">
          {text ? (
            <b>{text}</b>
          ) : (
            <span class="dim">
              {different.length === 1
                ? `1 ${pool > 1 ? "pixel" : "element"} differs`
                : `${different.length === 200 ? "200 or more" : different.length} ${pool > 1 ? "pixels" : "elements"} differ`}
              {far !== 1 || different.length ? `, by at most ${Number(far.toPrecision(4))}` : ""}
            </span>
          )}
        </span>
        <Button icon="left" label="What differs before" onClick={() => go(-1)} />
        <Button icon="right" label="What differs next" onClick={() => go(1)} />
      </footer>
    </PaneFrame>
  );
}
