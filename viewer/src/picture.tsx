// A buffer as a picture: a dot for each element, or for many of them; what is unlike the rest stays visible however small the dots are.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Finding, FlowStep, LaunchInfo, ask, askBytes, buffers, isStatic } from "./api";
import {
  bufferName,
  bufferType,
  bytesOf,
  bytesText,
  counted,
  elementName,
  errorText,
  flowNames,
  hexAt,
  knownOf,
  many,
  partsText,
  shortFloat,
} from "./format";
import { FindStep } from "./find";
import { useAnswer, useListen } from "./hooks";
import { Button, Empty, Failure, PaneFrame, TypeChooser } from "./parts";
import { allSteps, hostTail, onTime, setTime, stepById, timeStep } from "./time";
import { Look, Pane, follow, replace } from "./trail";
import { leaves, onTypes, typeHelp } from "./types";

export interface Picture {
  columns: number;
  rows: number;
  low: number;
  high: number;
  min: Float32Array;
  max: Float32Array;
  mean: Float32Array;
  flags: Uint8Array;
}
export const NUMBER = 1,
  NAN = 2,
  PLUS = 4,
  MINUS = 8,
  UNWRITTEN = 16,
  UNRECORDED = 32,
  NOTHING = 64;

export function decode(b: ArrayBuffer): Picture {
  const d = new DataView(b),
    columns = d.getUint32(0, true),
    rows = d.getUint32(4, true),
    n = columns * rows;
  const floats = (k: number) => new Float32Array(b, 24 + 4 * n * k, n);
  return {
    columns,
    rows,
    low: d.getFloat64(8, true),
    high: d.getFloat64(16, true),
    min: floats(0),
    max: floats(1),
    mean: floats(2),
    flags: new Uint8Array(b, 24 + 12 * n, n),
  };
}

// Colour scales from dark to light, as stops.
export const scales: Record<string, number[][]> = {
  viridis: [
    [68, 1, 84],
    [72, 40, 120],
    [62, 74, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
  ],
  grey: [
    [20, 20, 20],
    [245, 245, 245],
  ],
  "blue-red": [
    [33, 60, 143],
    [94, 135, 199],
    [190, 205, 226],
    [240, 240, 240],
    [233, 190, 170],
    [206, 104, 84],
    [150, 20, 38],
  ],
};
const special: Record<string, [number, number, number]> = {
  nan: [255, 0, 170],
  plus: [255, 140, 0],
  minus: [0, 150, 255],
  unwritten: [214, 48, 49],
  unrecorded: [128, 128, 136],
};
export function colour(t: number, stops: number[][]): number[] {
  const x = Math.max(0, Math.min(1, t)) * (stops.length - 1),
    i = Math.min(stops.length - 2, Math.floor(x)),
    f = x - i;
  return stops[i].map((c, k) => c + (stops[i + 1][k] - c) * f);
}

// A square for plain arrays; a width that somebody has chosen otherwise.
export function goodWidth(count: number) {
  const w = 2 ** Math.round(Math.log2(Math.max(1, Math.sqrt(count))));
  return Math.max(1, Math.min(count, Math.max(16, w)));
}

// A large picture is asked for in bands, a few at a time, and shown as they come. BAND: bytes of a buffer that the server looks at in a moment; for last writes, which may be
// many launches ago, a quarter of it.
const BAND = 1 << 20;
export function usePicture(
  key: unknown[],
  whole: { columns: number; rows: number } | undefined,
  rowsOfBand: number,
  load: (first: number, rows: number) => Promise<ArrayBuffer>,
): { picture?: Picture; done: number; error?: string } {
  const [state, set] = useState<{ picture?: Picture; done: number; error?: string }>({ done: 0 });
  useEffect(() => {
    if (!whole) return;
    let gone = false,
      next = 0,
      done = 0;
    const { columns, rows } = whole,
      n = columns * rows,
      bands = Math.max(1, Math.ceil(rows / rowsOfBand));
    const all: Picture = {
      columns,
      rows,
      low: NaN,
      high: NaN,
      min: new Float32Array(n),
      max: new Float32Array(n),
      mean: new Float32Array(n),
      flags: new Uint8Array(n).fill(NOTHING),
    };
    const take = (first: number, p: Picture) => {
      const at = first * columns;
      all.min.set(p.min, at);
      all.max.set(p.max, at);
      all.mean.set(p.mean, at);
      all.flags.set(p.flags, at);
      if (!(all.low <= p.low)) all.low = Number.isNaN(p.low) ? all.low : p.low;
      if (!(all.high >= p.high)) all.high = Number.isNaN(p.high) ? all.high : p.high;
    };
    const worker = async () => {
      while (!gone && next < bands) {
        const first = next++ * rowsOfBand;
        try {
          take(first, decode(await load(first, Math.min(rowsOfBand, rows - first))));
        } catch (e) {
          if (!gone) {
            gone = true;
            set({ done: 1, error: errorText(e) });
          }
          return;
        }
        if (!gone) set({ picture: { ...all }, done: ++done / bands });
      }
    };
    for (let i = 0; i < 3; i++) void worker();
    return () => {
      gone = true;
    };
  }, key);
  return state;
}

// Of several elements in one pixel the one that is farthest from the mean of all is shown.
export function middleOf(picture: Picture) {
  let sum = 0,
    n = 0;
  for (let i = 0; i < picture.mean.length; i++)
    if (picture.flags[i] & NUMBER) ((sum += picture.mean[i]), n++);
  return n ? sum / n : 0;
}
export function paint(
  c: HTMLCanvasElement,
  picture: Picture,
  dot: number,
  stops: number[][],
  place: (v: number) => number,
  middle = middleOf(picture),
): CanvasRenderingContext2D {
  ((c.width = picture.columns * dot), (c.height = picture.rows * dot));
  const g = c.getContext("2d")!,
    image = g.createImageData(c.width, c.height);
  const gap = dot > 4 ? 1 : 0,
    round = dot >= 8;
  for (let i = 0; i < picture.flags.length; i++) {
    const f = picture.flags[i];
    if (f & NOTHING) continue;
    const v =
      Math.abs(picture.max[i] - middle) >= Math.abs(picture.min[i] - middle)
        ? picture.max[i]
        : picture.min[i];
    const rgb =
      f & NAN
        ? special.nan
        : f & PLUS
          ? special.plus
          : f & MINUS
            ? special.minus
            : f & UNWRITTEN
              ? special.unwritten
              : f & UNRECORDED
                ? special.unrecorded
                : colour(place(v), stops);
    const x0 = (i % picture.columns) * dot,
      y0 = Math.floor(i / picture.columns) * dot,
      r = (dot - gap) / 2;
    for (let y = 0; y < dot - gap; y++)
      for (let x = 0; x < dot - gap; x++) {
        if (round && (x + 0.5 - r) ** 2 + (y + 0.5 - r) ** 2 > r * r) continue;
        const k = ((y0 + y) * c.width + x0 + x) * 4;
        ((image.data[k] = rgb[0]),
          (image.data[k + 1] = rgb[1]),
          (image.data[k + 2] = rgb[2]),
          (image.data[k + 3] = 255));
      }
  }
  g.putImageData(image, 0, 0);
  return g;
}

// Values in dots that are large enough for them, each only if all of it has room: a shortened number would be a wrong one.
export function writeValues(
  g: CanvasRenderingContext2D,
  picture: Picture,
  dot: number,
  exact: boolean,
  stops: number[][],
  place: (v: number) => number,
  font: string,
) {
  if (dot < 26) return;
  g.save();
  g.font = `10px ${font}`;
  g.textAlign = "center";
  g.textBaseline = "middle";
  for (let i = 0; i < picture.flags.length; i++) {
    const v = picture.mean[i];
    if (!(picture.flags[i] & NUMBER) || (!exact && Math.abs(v) >= 1 << 24)) continue;
    const text = shortFloat(v, true),
      rgb = colour(place(v), stops);
    if (g.measureText(text).width > dot - 7) continue;
    g.fillStyle = rgb[0] * 0.3 + rgb[1] * 0.59 + rgb[2] * 0.11 > 130 ? "#10131a" : "#fff";
    g.fillText(
      text,
      (i % picture.columns) * dot + (dot - 1) / 2,
      Math.floor(i / picture.columns) * dot + dot / 2,
    );
  }
  g.restore();
}

// A frame around a pixel's dot, seen on every colour.
export function ring(
  g: CanvasRenderingContext2D,
  at: number,
  columns: number,
  dot: number,
  style: string,
) {
  const gap = dot > 4 ? 1 : 0,
    x = (at % columns) * dot,
    y = Math.floor(at / columns) * dot,
    m = Math.max(dot - gap, 3) + 5;
  for (const [width, colour] of [
    [4, "rgba(255, 255, 255, .85)"],
    [1.75, style],
  ] as [number, string][]) {
    ((g.strokeStyle = colour), (g.lineWidth = width));
    g.strokeRect(x + (dot - gap - m) / 2, y + (dot - gap - m) / 2, m, m);
  }
}

// The scale for all but the farthest hundredth at either end.
export function usualRange(picture: Picture | undefined): [number, number] {
  if (!picture) return [0, 1];
  const all: number[] = [],
    every = Math.max(1, Math.floor(picture.mean.length / 20000));
  for (let i = 0; i < picture.mean.length; i += every)
    if (picture.flags[i] & NUMBER) all.push(picture.mean[i]);
  all.sort((a, b) => a - b);
  const at = (q: number) =>
    all.length ? all[Math.min(all.length - 1, Math.floor(q * all.length))] : 0;
  return !all.length
    ? [NaN, NaN]
    : all.length < 50
      ? [picture.low, picture.high]
      : [at(0.01), at(0.99)];
}

// Where a value is on the scale, from 0 to 1.
export function placeOn(low: number, high: number, log?: boolean) {
  const f = log ? (x: number) => Math.sign(x) * Math.log1p(Math.abs(x)) : (x: number) => x;
  return (v: number) => (f(high) > f(low) ? (f(v) - f(low)) / (f(high) - f(low)) : 0.5);
}

export const scaleOf = (look: Look) =>
  look.colours && scales[look.colours] ? look.colours : "viridis";
export function ScaleControls({
  look,
  usual,
  number,
  choose,
}: {
  look: Look;
  usual?: [number, number];
  number(v: number): string;
  choose(more: Look): void;
}) {
  const limit = (name: "low" | "high", text: string, i: 0 | 1) => (
    <label>
      {text}{" "}
      <input
        type="number"
        step="any"
        aria-label={`scale ${text}`}
        value={look[name] ?? ""}
        placeholder={usual ? number(usual[i]) : ""}
        onChange={(e) =>
          choose({
            [name]: e.currentTarget.value === "" ? undefined : Number(e.currentTarget.value),
          })
        }
      />
    </label>
  );
  return (
    <>
      <label>
        colours{" "}
        <select value={scaleOf(look)} onChange={(e) => choose({ colours: e.currentTarget.value })}>
          {Object.keys(scales).map((s) => (
            <option>{s}</option>
          ))}
        </select>
      </label>
      {limit("low", "from", 0)}
      {limit("high", "to", 1)}
      <label>
        <input
          type="checkbox"
          checked={!!look.log}
          onChange={(e) => choose({ log: e.currentTarget.checked || undefined })}
        />{" "}
        log
      </label>
    </>
  );
}

// The colours of what is no number, of those that are there.
export function SpecialKeys({ picture }: { picture?: Picture }) {
  const present = useMemo(() => {
    let f = 0;
    for (const x of picture?.flags ?? []) f |= x;
    return f;
  }, [picture]);
  return (
    <>
      {(
        [
          [UNWRITTEN, "unwritten", "never written"],
          [NAN, "nan", "NaN"],
          [PLUS, "plus", "+inf"],
          [MINUS, "minus", "−inf"],
          [UNRECORDED, "unrecorded", "not recorded"],
        ] as [number, string, string][]
      )
        .filter((k) => present & k[0])
        .map((k) => (
          <>
            <i class={`c-${k[1]}`} />
            {k[2]}{" "}
          </>
        ))}
    </>
  );
}

// How many pixels of each value there are; what lies outside of the scale is in the first and the last bar.
function Histogram({
  picture,
  low,
  high,
  choose,
}: {
  picture: Picture;
  low: number;
  high: number;
  choose(low: number, high: number): void;
}) {
  const bars = useMemo(() => {
      const n = new Array<number>(42).fill(0);
      for (let i = 0; i < picture.flags.length; i++)
        if (picture.flags[i] & NUMBER) {
          const v = picture.mean[i];
          n[
            v < low
              ? 0
              : v > high
                ? 41
                : 1 + Math.min(39, Math.floor(((v - low) / Math.max(1e-300, high - low)) * 40))
          ]++;
        }
      return n;
    }, [picture, low, high]),
    most = Math.max(1, ...bars),
    out = bars[0] + bars[41];
  return (
    <div
      class="histogram"
      role="img"
      aria-label={`histogram: ${counted(out, "value")} outside of the scale`}
      title={`from ${low} to ${high}; ${many(out)} outside of the scale. Click: the scale of all values`}
      onClick={() => choose(picture.low, picture.high)}
    >
      {bars.map((n, i) => (
        <i
          class={i === 0 || i === 41 ? "outside" : ""}
          style={{ height: `${n ? Math.max(2, (26 * Math.log1p(n)) / Math.log1p(most)) : 0}px` }}
        />
      ))}
    </div>
  );
}

// A step by its place in the run, from 1.
function writerName(n: number): string {
  const s = allSteps[Math.round(n) - 1];
  return !s
    ? `step ${Math.round(n)}`
    : s.kind === "launch"
      ? (flowNames.get(s.launch) ?? `launch #${s.number}`)
      : `${s.call || s.kind}${hostTail(s.id)}`;
}

export const LARGEST_DOT = 44; // pixels; small buffers fill what room there is up to that
const LEFT = 44,
  TOP = 18; // room for the numbers of rows and columns
// The part of the picture that is seen: so many pixels for an element, and the element at the upper left corner.
export function BufferPane({
  pane,
  index,
  active,
  steps,
  findings,
}: {
  pane: Extract<Pane, { kind: "buffer" }>;
  index: number;
  active: boolean;
  steps: FlowStep[];
  findings: Finding[];
}) {
  const b = buffers.get(pane.buffer);
  useListen(onTypes, onTime);
  const step = timeStep(),
    t = bufferType(pane.buffer),
    all = useMemo(() => leaves(t), [t]),
    part = Math.min(pane.part ?? 0, all.length - 1),
    leaf = all[Math.max(0, part)],
    scalar = leaf.scalar === "bool" ? "u8" : leaf.scalar === "ptr" ? "u64" : leaf.scalar;
  const dims = (b?.dims ?? "")
    .split(",")
    .map(Number)
    .filter((n) => n > 0);
  const count = b ? Math.floor(b.size / t.bytes) : 0,
    width = Math.max(1, pane.width || (dims.length > 1 ? dims[dims.length - 1] : goodWidth(count)));
  // 3-D data: a slice of so many rows at a time.
  const depth = pane.rows ?? 0,
    slice = pane.slice ?? 0,
    firstElement = depth ? slice * depth * width : 0,
    slices = depth ? Math.ceil(count / (depth * width)) : 1;
  const rows = Math.max(1, Math.min(depth || Infinity, Math.ceil((count - firstElement) / width)));
  const scale = scaleOf(pane),
    zoom = pane.zoom ?? 0;
  const [cell, setCell] = useState<{ x: number; y: number } | undefined>(),
    [shown, setShown] = useState({ element: -1, text: "" }); // under the mouse or the keyboard's cursor: a pixel of the pool, and the element that makes it look so
  const canvas = useRef<HTMLCanvasElement>(null),
    holder = useRef<HTMLDivElement>(null),
    drag = useRef<{ x: number; y: number; px: number; py: number; moved: boolean } | undefined>(
      undefined,
    );
  const [room, setRoom] = useState({ w: 0, h: 0 }); // not known yet: nothing is asked for
  useLayoutEffect(() => {
    const o = new ResizeObserver(() => {
      const e = holder.current;
      if (e) setRoom({ w: e.clientWidth, h: e.clientHeight });
    });
    if (holder.current) o.observe(holder.current);
    return () => o.disconnect();
  }, []);
  const w = Math.max(1, (room.w || 600) - LEFT),
    h = Math.max(1, (room.h || 400) - TOP),
    fit = Math.min(w / width, h / rows);
  const size = Math.max(
    (fit >= 1 ? Math.floor(Math.min(fit, LARGEST_DOT)) : fit) * 2 ** zoom,
    1 / 4096,
  );
  const pool = Math.max(1, Math.ceil(1 / size)),
    dot = pool > 1 ? 1 : Math.max(1, Math.floor(size)),
    columns = Math.ceil(width / pool),
    lines = Math.ceil(rows / pool);
  const seenX = Math.ceil(w / dot),
    seenY = Math.ceil(h / dot),
    x0 = Math.max(
      0,
      Math.min(columns - Math.min(columns, seenX), Math.round((pane.x ?? 0) / pool)),
    ),
    y0 = Math.max(0, Math.min(lines - Math.min(lines, seenY), Math.round((pane.y ?? 0) / pool)));
  // Of tall pictures only the rows around what is seen are asked for.
  const chunk = Math.max(64, 2 * seenY),
    from =
      lines <= 2 * chunk
        ? 0
        : Math.max(0, Math.floor((y0 - seenY / 2) / (chunk / 2)) * (chunk / 2)),
    upto = lines <= 2 * chunk ? lines : Math.min(lines, from + 2 * chunk),
    loaded = upto - from;
  const used = useMemo(
    () =>
      steps.filter((s) => s.uses.some((u) => u[0] === pane.buffer && (u[1] !== 1 || !s.recorded))),
    [steps, pane.buffer],
  );
  // Numbers that a kernel was given together with the buffer, and that divide it into rows: one of them may be its width.
  const user =
    used.find((s) => s.kind === "launch" && s.launch)?.launch ??
    steps.find((s) => s.kind === "launch" && s.launch && s.uses.some((u) => u[0] === pane.buffer))
      ?.launch;
  const given = useAnswer<LaunchInfo>(
      () => (user ? ask("launch", { id: user }) : undefined),
      [user],
    ),
    widths = (given.value?.parameters ?? [])
      .filter(
        (p) =>
          p.name &&
          p.value &&
          !p.allocation &&
          (p.bytes === 4 || p.bytes === 8) &&
          /^(u?int|unsigned|long|size_t|u?int\d+_t)/.test(p.type ?? ""),
      )
      .map(
        (p) =>
          [p.name!, Number(bytesOf(p.value!.toLowerCase()).getUint32(0, true))] as [string, number],
      )
      .filter(([, n]) => n > 1 && n < count && count % n === 0 && n !== width)
      .slice(0, 3);
  const shownStep = stepById(step),
    question = {
      allocation: pane.buffer,
      type: scalar,
      stride: t.bytes,
      offset: leaf.offset,
      width,
      pool_x: pool,
      pool_y: pool,
      of: pane.by,
    };
  const rowsOfBand = Math.max(
      1,
      Math.floor((pane.by ? BAND / 4 : BAND) / (t.bytes * width * pool)),
    ),
    load = (at: number) => (first: number, n: number) =>
      askBytes("picture", {
        ...question,
        step: at,
        first: firstElement + (from + first) * pool * width,
        rows: Math.min(n * pool, rows - (from + first) * pool),
      });
  const what = [
      pane.buffer,
      width,
      rows,
      firstElement,
      scalar,
      t.bytes,
      leaf.offset,
      pool,
      from,
      loaded,
      pane.by ?? "",
      !room.w,
    ],
    whole = b && count && room.w ? { columns, rows: loaded } : undefined;
  const now = usePicture([...what, step], whole, rowsOfBand, load(step)),
    other = usePicture(
      [...what, pane.minus],
      pane.minus !== undefined ? whole : undefined,
      rowsOfBand,
      load(pane.minus ?? 0),
    );
  const { done, error } = now;
  // The difference to another step: what has changed.
  const picture = useMemo(() => {
    const p = now.picture,
      q = pane.minus !== undefined && !pane.by ? other.picture : undefined;
    if (!p || !q || p.flags.length !== q.flags.length) return p;
    const d: Picture = {
      ...p,
      min: new Float32Array(p.min.length),
      max: new Float32Array(p.min.length),
      mean: new Float32Array(p.min.length),
      low: NaN,
      high: NaN,
    };
    for (let i = 0; i < p.flags.length; i++) {
      d.mean[i] = p.mean[i] - q.mean[i];
      d.min[i] = p.min[i] - q.min[i];
      d.max[i] = p.max[i] - q.max[i];
      if (p.flags[i] & NUMBER) {
        if (!(d.mean[i] >= d.low)) d.low = d.mean[i];
        if (!(d.mean[i] <= d.high)) d.high = d.mean[i];
      }
    }
    return d;
  }, [now.picture, other.picture, pane.minus]);

  // Elements that some threads of a launch touched, drawn over the picture.
  const touched = useAnswer(
    () =>
      pane.ofLaunch && b
        ? askBytes("touched", {
            launch: pane.ofLaunch,
            first: pane.firstThread ?? 0,
            last: pane.lastThread ?? 0,
            allocation: pane.buffer,
            stride: t.bytes,
          })
        : undefined,
    [pane.ofLaunch, pane.firstThread, pane.lastThread, pane.buffer, t.bytes],
  );
  const marks = useMemo(() => touched.value && new Uint8Array(touched.value), [touched.value]);
  // Without a word from somebody the scale is for all but the farthest hundredth at either end of what was seen first, so that it does not change with every move.
  const usualOf = useRef<{ key: string; range: [number, number] } | undefined>(undefined);
  const usual = useMemo(() => {
    const key = JSON.stringify([
        pane.buffer,
        step,
        width,
        scalar,
        leaf.offset,
        slice,
        pane.minus,
        pane.by,
      ]),
      range: [number, number] =
        pane.by && picture ? [picture.low, picture.high] : usualRange(picture);
    if (usualOf.current?.key !== key || done < 1 || !zoom) usualOf.current = { key, range };
    return usualOf.current.range;
  }, [picture, zoom]);
  const low = pane.low ?? usual[0],
    high = pane.high ?? usual[1],
    pixelOf = (e: number) => ({
      x: Math.floor(((e - firstElement) % width) / pool),
      y: Math.floor(Math.floor((e - firstElement) / width) / pool),
    });
  useEffect(() => {
    const c = canvas.current;
    if (!c || !picture || !room.w) return;
    const across = Math.min(columns - x0, seenX),
      down = Math.min(lines - y0, seenY),
      part: Picture = {
        columns: across,
        rows: down,
        low: 0,
        high: 0,
        min: new Float32Array(across * down),
        max: new Float32Array(across * down),
        mean: new Float32Array(across * down),
        flags: new Uint8Array(across * down).fill(NOTHING),
      };
    for (let y = 0; y < down; y++) {
      const k = y0 + y - from;
      if (k < 0 || k >= picture.rows) continue;
      for (let x = 0; x < across; x++) {
        const i = k * columns + x0 + x,
          o = y * across + x;
        part.min[o] = picture.min[i];
        part.max[o] = picture.max[i];
        part.mean[o] = picture.mean[i];
        part.flags[o] = picture.flags[i];
      }
    }
    const dots = document.createElement("canvas");
    if (!across || !down) return;
    const painted = paint(
      dots,
      part,
      dot,
      scales[scale],
      placeOn(low, high, pane.log),
      middleOf(picture),
    );
    if (pool === 1 && !pane.by && scalar !== "f64" && leaf.scalar !== "ptr")
      writeValues(
        painted,
        part,
        dot,
        scalar === "f32",
        scales[scale],
        placeOn(low, high, pane.log),
        getComputedStyle(c).getPropertyValue("--mono"),
      );
    c.width = room.w;
    c.height = room.h;
    const g = c.getContext("2d")!,
      style = getComputedStyle(c);
    g.drawImage(dots, LEFT, TOP);
    g.font = `10px ${style.getPropertyValue("--mono")}`;
    g.fillStyle = style.getPropertyValue("--dim");
    const every = (n: number) => {
      const raw = (n / Math.max(1, dot)) * pool,
        p = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
      return Math.max(1, [1, 2, 5, 10].map((k) => k * p).find((k) => k >= raw) ?? raw);
    };
    g.textAlign = "center";
    for (
      let x = Math.ceil((x0 * pool) / every(64)) * every(64);
      x < Math.min(width, (x0 + across) * pool);
      x += every(64)
    )
      g.fillText(String(x), LEFT + (x / pool - x0) * dot + dot / 2, 11);
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (
      let y = Math.ceil((y0 * pool) / every(28)) * every(28);
      y < Math.min(rows, (y0 + down) * pool);
      y += every(28)
    )
      g.fillText(String(y), LEFT - 6, TOP + (y / pool - y0) * dot + dot / 2);
    const frame = (p: { x: number; y: number }, colour: string) => {
      if (p.x >= x0 && p.y >= y0 && p.x < x0 + across && p.y < y0 + down) {
        g.save();
        g.translate(LEFT + (p.x - x0) * dot, TOP + (p.y - y0) * dot);
        ring(g, 0, 1, dot, colour);
        g.restore();
      }
    };
    if (marks) {
      const seen = new Map<number, number>();
      for (let e = firstElement; e < Math.min(count, firstElement + rows * width); e++)
        if (marks[e]) {
          const p = pixelOf(e);
          if (p.x >= x0 && p.y >= y0 && p.x < x0 + across && p.y < y0 + down) {
            const k = p.y * columns + p.x;
            seen.set(k, (seen.get(k) ?? 0) | marks[e]);
          }
        }
      g.globalAlpha = 0.35;
      g.fillStyle = style.getPropertyValue("--paper");
      for (let y = y0; y < y0 + down; y++)
        for (let x = x0; x < x0 + across; x++)
          if (!seen.has(y * columns + x))
            g.fillRect(LEFT + (x - x0) * dot, TOP + (y - y0) * dot, dot, dot);
      g.globalAlpha = 1;
      g.lineWidth = Math.max(1, Math.min(2, dot / 5));
      for (const [k, how] of seen) {
        g.strokeStyle = how & 2 ? "rgb(255, 90, 40)" : "rgb(40, 200, 150)";
        const x = LEFT + ((k % columns) - x0) * dot,
          y = TOP + (Math.floor(k / columns) - y0) * dot;
        if (dot >= 4) g.strokeRect(x + 0.5, y + 0.5, dot - 2, dot - 2);
        else {
          g.fillStyle = g.strokeStyle;
          g.fillRect(x, y, Math.max(1, dot), Math.max(1, dot));
        }
      }
    }
    const ringed = new Set<number>();
    for (const f of findings)
      if (
        f.allocation === pane.buffer &&
        f.offset >= 0 &&
        b &&
        f.offset < b.size &&
        !ringed.has(f.offset) &&
        ringed.add(f.offset)
      ) {
        const e = Math.floor(f.offset / t.bytes);
        if (e >= firstElement && e < firstElement + rows * width)
          frame(pixelOf(e), f.severity === "error" ? "#d70015" : "#b25000");
      }
    if (cell) frame(cell, "#1c2230");
  }, [picture, scale, low, high, pane.log, dot, x0, y0, cell, findings, room, marks]);

  const cellAt = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect(),
      x = x0 + Math.floor((e.clientX - r.left - LEFT) / dot),
      y = y0 + Math.floor((e.clientY - r.top - TOP) / dot);
    return e.clientX - r.left >= LEFT &&
      e.clientY - r.top >= TOP &&
      x < columns &&
      y < lines &&
      firstElement + y * pool * width + x * pool < count
      ? { x, y }
      : undefined;
  };
  // What an element of the picture is: a field of a struct, where one is shown.
  const mine =
    all.length > 1 && leaf
      ? { offset: leaf.offset, bytes: leaf.bytes }
      : { offset: 0, bytes: t.bytes };
  // The element that gave a pixel its colour: the same order as in paint().
  const elementOf = async (p: { x: number; y: number }): Promise<number> => {
    if (pool === 1 || !picture) return firstElement + p.y * pool * width + p.x * pool;
    const q = await ask<Record<string, number>>("pixel", {
      ...question,
      step,
      x: p.x,
      y: p.y + firstElement / width / pool,
    });
    const middle = middleOf(picture),
      i = (p.y - from) * columns + p.x,
      far = Math.abs(picture.max[i] - middle) >= Math.abs(picture.min[i] - middle) ? q.high : q.low;
    return (
      q.nan ??
      q.plus ??
      q.minus ??
      q.unwritten ??
      q.unrecorded ??
      far ??
      firstElement + p.y * pool * width + p.x * pool
    );
  };
  useEffect(() => {
    if (!cell || !b) {
      setShown({ element: -1, text: "" });
      return;
    }
    let gone = false;
    const timer = setTimeout(async () => {
      try {
        const element = await elementOf(cell),
          n = mine.bytes,
          a = await askBytes("contents", {
            allocation: pane.buffer,
            step,
            offset: element * t.bytes + mine.offset,
            bytes: n,
          });
        const d = new DataView(a, 0, n),
          known = new Uint8Array(a, n, n);
        if (!gone)
          setShown({
            element,
            text:
              knownOf(known, t, mine.offset) === "unwritten"
                ? "never written"
                : knownOf(known, t, mine.offset)
                  ? "written by something that was not recorded"
                  : (partsText(d, t, mine.offset).replace(/^\((.*)\)$/, "$1") || hexAt(d, 0, n)) +
                    lastWriter(picture, cell),
          });
      } catch {
        /* the picture says what is wrong */
      }
    }, 30);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [cell?.x, cell?.y, step, picture, mine.offset]);

  // Of a picture of last writes: which step that was.
  function lastWriter(p: Picture | undefined, at: { x: number; y: number }) {
    const i = (at.y - from) * columns + at.x;
    return pane.by && p && p.flags[i] & NUMBER ? `, last written by ${writerName(p.max[i])}` : "";
  }
  if (!b)
    return (
      <PaneFrame index={index} kind="buffer" active={active} title="buffer">
        <Failure text="there is no such buffer in this run" />
      </PaneFrame>
    );
  const choose = (more: Partial<typeof pane>) => replace(index, { ...pane, ...more }, false);
  const open = (p: { x: number; y: number } | undefined) => {
    if (p)
      elementOf(p).then(
        (i) =>
          follow(index, {
            kind: "element",
            buffer: pane.buffer,
            offset: i * t.bytes + mine.offset,
            bytes: mine.bytes,
            step: step || undefined,
          }),
        () => {},
      );
  };
  // Zooms about a point of the canvas: what is under it stays there.
  const zoomBy = (by: number, px = room.w / 2, py = room.h / 2) => {
    const next = Math.max(-4, Math.min(12, zoom + by)),
      ex = (x0 + (px - LEFT) / dot) * pool,
      ey = (y0 + (py - TOP) / dot) * pool,
      nextSize = Math.max(
        (fit >= 1 ? Math.floor(Math.min(fit, LARGEST_DOT)) : fit) * 2 ** next,
        1 / 4096,
      ),
      perPixel = nextSize >= 1 ? 1 / Math.floor(nextSize) : Math.ceil(1 / nextSize);
    choose({
      zoom: next,
      x: Math.max(0, Math.round(ex - (px - LEFT) * perPixel)),
      y: Math.max(0, Math.round(ey - (py - TOP) * perPixel)),
    });
  };
  const onKey = (e: KeyboardEvent) => {
    const by: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
      PageUp: [0, -16],
      PageDown: [0, 16],
      Home: [-1e9, -1e9],
      End: [1e9, 1e9],
    };
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (by[e.key]) {
      const d = by[e.key],
        p = !cell
          ? { x: x0, y: y0 }
          : {
              x: Math.max(0, Math.min(columns - 1, cell.x + d[0])),
              y: Math.max(0, Math.min(lines - 1, cell.y + d[1])),
            };
      // the end of a row leads to the next one
      if (cell && d[0] === 1 && cell.x === columns - 1 && cell.y + 1 < lines) {
        p.x = 0;
        p.y = cell.y + 1;
      }
      if (firstElement + p.y * pool * width + p.x * pool < count) setCell(p);
      if (p.x < x0 || p.x >= x0 + seenX || p.y < y0 || p.y >= y0 + seenY)
        choose({
          x: Math.max(0, (p.x - Math.floor(seenX / 2)) * pool),
          y: Math.max(0, (p.y - Math.floor(seenY / 2)) * pool),
        });
    } else if (e.key === "Enter" || e.key === " ") {
      open(cell);
      (e.currentTarget as HTMLElement).blur();
    } // keys are for the new pane now
    else if (e.key === "Escape") {
      setCell(undefined);
      (e.currentTarget as HTMLElement).blur();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const save = () =>
    canvas.current?.toBlob((blob) => {
      if (!blob) return;
      const a = document.createElement("a"),
        url = URL.createObjectURL(blob);
      a.href = url;
      a.download = `${bufferName(b).replace(/[^\w.-]+/g, "_")}.png`;
      a.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
  const at = used.findIndex((s) => s.id >= step),
    slider = step === 0 || at < 0 ? used.length : used[at].id === step ? at : Math.max(0, at - 1);
  const number = (v: number) =>
      pane.by && Number.isFinite(v)
        ? writerName(v)
        : Number.isNaN(v)
          ? "–"
          : shortFloat(v, scalar !== "f64"),
    help = typeHelp(b),
    fixed = pane.low !== undefined && pane.high !== undefined;
  return (
    <PaneFrame
      index={index}
      kind="buffer"
      active={active}
      title={
        <>
          <span class="what">{t.name}</span> {bufferName(b)}[{many(count)}]
        </>
      }
      tools={
        <>
          <Button icon="fit" label="All of it" onClick={() => choose({ zoom: 0, x: 0, y: 0 })} />
          <Button icon="minus" label="Smaller (-)" onClick={() => zoomBy(-1)} />
          <Button icon="plus" label="Larger (+)" onClick={() => zoomBy(1)} />
          {!isStatic() && (
            <Button
              icon="twins"
              label="Compare with an earlier step, side by side (v)"
              onClick={() =>
                follow(index, {
                  kind: "twin",
                  buffer: pane.buffer,
                  step,
                  other: pane.buffer,
                  otherStep: pane.minus ?? used[Math.max(0, slider - (step ? 1 : 2))]?.id ?? 0,
                  run: 0,
                  width: pane.width,
                })
              }
            />
          )}
          <Button icon="save" label="Save the picture (PNG)" onClick={save} />
          <TypeChooser buffer={pane.buffer} type={t} />
        </>
      }
      sub={
        <>
          <span title={b.why ? `type from ${b.why}` : undefined}>
            {bytesText(b.size)} of {b.kind ?? "device"} memory at {b.base}
          </span>
          <span class="right">
            {pool > 1 ? `a pixel is ${pool}×${pool} elements: the farthest from the mean` : ""}
          </span>
        </>
      }
    >
      {help && (
        <div class="help" role="note">
          {help}
        </div>
      )}
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
              if (n >= 1 && n <= count) choose({ width: n, x: 0, y: 0 });
            }}
          />
          {widths.length > 0 && (
            <span class="widths">
              {widths.map(([name, n]) => (
                <button
                  type="button"
                  class="link"
                  title={`rows of ${n} elements: ${name} is a parameter of a kernel that uses this buffer`}
                  onClick={() => choose({ width: n, x: 0, y: 0 })}
                >
                  {name} {n}
                </button>
              ))}
            </span>
          )}
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
        <ScaleControls
          look={pane}
          usual={picture && usual}
          number={(v) => (pane.by ? String(v) : number(v))}
          choose={choose}
        />
        {!isStatic() && (
          <label title="which value an element has, or which step wrote it last">
            by{" "}
            <select
              aria-label="what colours mean"
              value={pane.by ?? ""}
              onChange={(e) =>
                choose({
                  by: e.currentTarget.value === "writes" ? "writes" : undefined,
                  low: undefined,
                  high: undefined,
                  minus: undefined,
                })
              }
            >
              <option value="">value</option>
              <option value="writes">last write</option>
            </select>
          </label>
        )}
        <label title="the scale stays as it is now when the step changes">
          <input
            type="checkbox"
            checked={fixed}
            onChange={(e) =>
              choose(
                e.currentTarget.checked
                  ? { low: usual[0], high: usual[1] }
                  : { low: undefined, high: undefined },
              )
            }
          />{" "}
          fixed
        </label>
        <label title="three dimensions: rows of a slice">
          slices of{" "}
          <input
            type="number"
            class="short"
            min={0}
            value={depth || ""}
            placeholder="–"
            aria-label="rows of a slice"
            onChange={(e) =>
              choose({
                rows: Math.max(0, Math.floor(Number(e.currentTarget.value))) || undefined,
                slice: 0,
                x: 0,
                y: 0,
              })
            }
          />{" "}
          rows
        </label>
        {depth > 0 && (
          <label>
            slice{" "}
            <input
              type="range"
              min={0}
              max={slices - 1}
              value={slice}
              onInput={(e) => choose({ slice: Number(e.currentTarget.value) })}
            />{" "}
            {slice}
          </label>
        )}
        <label title="what has changed since another step">
          <input
            type="checkbox"
            checked={pane.minus !== undefined}
            onChange={(e) =>
              choose({
                minus: e.currentTarget.checked
                  ? (used[Math.max(0, slider - 1)]?.id ?? 0)
                  : undefined,
                colours: e.currentTarget.checked ? "blue-red" : undefined,
                low: undefined,
                high: undefined,
              })
            }
          />{" "}
          difference
          {pane.minus !== undefined
            ? ` to ${stepById(pane.minus)?.kind === "launch" ? `launch #${stepById(pane.minus)!.number}` : "the step before"}`
            : ""}
        </label>
      </div>
      {!isStatic() && used.length > 0 && (
        <div class="controls">
          <FindStep
            steps={used}
            count={count}
            width={width}
            scalar={leaf.scalar}
            exact={{
              scalar: leaf.scalar,
              stride: t.bytes,
              offset: leaf.offset,
              bytes: (at, first, n) =>
                askBytes("contents", {
                  allocation: pane.buffer,
                  step: at,
                  offset: first * t.bytes,
                  bytes: n * t.bytes,
                }),
            }}
            load={(at, n, k) =>
              askBytes("picture", {
                ...question,
                step: at,
                first: 0,
                rows: n,
                pool_x: k,
                pool_y: k,
              })
            }
            found={(at, element) => {
              setTime(at);
              setShown({ element, text: "" });
              setCell({
                x: Math.floor((element % width) / pool),
                y: Math.floor(Math.floor(element / width) / pool),
              });
            }}
          />
        </div>
      )}
      <div class="controls time">
        <input
          type="range"
          aria-label="after which step"
          min={0}
          max={used.length}
          value={slider}
          onInput={(e) => {
            const i = Number(e.currentTarget.value);
            setTime(i >= used.length ? 0 : used[i].id);
          }}
        />
        <span>
          {step === 0
            ? "at the end"
            : shownStep
              ? `after ${shownStep.kind === "launch" ? `launch #${shownStep.number}` : `${shownStep.call || shownStep.kind}${hostTail(shownStep.id)}`}`
              : `after step ${step}`}
        </span>
      </div>
      {error ? (
        <Failure text={error} />
      ) : (
        <div
          class="canvas still"
          ref={holder}
          tabIndex={0}
          role="group"
          aria-label={`picture of ${bufferName(b)}: arrow keys choose an element, Enter opens it. ${shown.element >= 0 ? `${elementName(pane.buffer, shown.element * t.bytes + mine.offset, mine.bytes)} ${shown.text}` : ""}`}
          onKeyDown={onKey}
          onWheel={(e) => {
            e.preventDefault();
            const r = e.currentTarget.getBoundingClientRect();
            zoomBy(e.deltaY < 0 ? 0.5 : -0.5, e.clientX - r.left, e.clientY - r.top);
          }}
          onMouseDown={(e) => {
            drag.current = { x: e.clientX, y: e.clientY, px: x0, py: y0, moved: false };
          }}
          onMouseUp={() => {
            setTimeout(() => {
              drag.current = undefined;
            }, 0);
          }}
          onMouseMove={(e) => {
            const d = drag.current;
            if (!d || !(e.buttons & 1)) return;
            if (Math.abs(e.clientX - d.x) + Math.abs(e.clientY - d.y) > 4) d.moved = true;
            if (d.moved)
              choose({
                x: Math.max(0, (d.px - Math.round((e.clientX - d.x) / dot)) * pool),
                y: Math.max(0, (d.py - Math.round((e.clientY - d.y) / dot)) * pool),
              });
          }}
        >
          {!picture && <Empty>reading…</Empty>}
          <canvas
            ref={canvas}
            class="dots"
            data-dot={dot}
            data-pool={pool}
            data-x={x0}
            data-y={y0}
            data-left={LEFT}
            data-top={TOP}
            onMouseMove={(e) => {
              const p = cellAt(e);
              if (p?.x !== cell?.x || p?.y !== cell?.y) setCell(p);
            }}
            onMouseLeave={() => setCell(undefined)}
            onClick={(e) => {
              if (!drag.current?.moved) open(cellAt(e));
            }}
          />
        </div>
      )}
      <footer class="legend">
        <span class="under">
          {shown.element >= 0 ? (
            <>
              <b>{elementName(pane.buffer, shown.element * t.bytes + mine.offset, mine.bytes)}</b>{" "}
              {shown.text}{" "}
              <span class="dim">
                row {Math.floor((shown.element - firstElement) / width)}, column{" "}
                {(shown.element - firstElement) % width}
              </span>
            </>
          ) : done < 1 ? (
            <span class="dim">{Math.round(100 * done)} %</span>
          ) : (
            <span class="dim">
              {number(low)} <i class={`ramp ${scale.replace("-", "")}`} /> {number(high)}
            </span>
          )}
        </span>
        {picture && Number.isFinite(low) && high > low && (
          <Histogram
            picture={picture}
            low={low}
            high={high}
            choose={(l, h) => choose({ low: l, high: h })}
          />
        )}
        <span class="keys">
          {marks && (
            <span class="touched">
              <i class="c-read" />
              read <i class="c-written" />
              written by thread
              {pane.firstThread === pane.lastThread
                ? ` ${pane.firstThread ?? 0}`
                : `s ${pane.firstThread ?? 0} to ${pane.lastThread ?? 0}`}
              :{" "}
              {counted(
                marks.reduce((n, m) => n + Number(m > 0), 0),
                "element",
              )}{" "}
              <button
                type="button"
                class="link"
                onClick={() =>
                  choose({ ofLaunch: undefined, firstThread: undefined, lastThread: undefined })
                }
              >
                all
              </button>
            </span>
          )}
          <SpecialKeys picture={picture} />
          {findings.some((f) => f.allocation === pane.buffer) && (
            <>
              <i class="c-finding" />
              finding
            </>
          )}
        </span>
      </footer>
    </PaneFrame>
  );
}
