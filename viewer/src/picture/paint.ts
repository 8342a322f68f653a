// A picture of values: read from the server band by band, and painted.
import { useEffect, useState } from "preact/hooks";
import { errorText, shortFloat } from "../run/format";

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
export const NUMBER = 1;
export const NAN = 2;
export const PLUS = 4;
export const MINUS = 8;
export const UNWRITTEN = 16;
export const UNRECORDED = 32;
export const NOTHING = 64;

export function decode(b: ArrayBuffer): Picture {
  const d = new DataView(b);
  const columns = d.getUint32(0, true);
  const rows = d.getUint32(4, true);
  const n = columns * rows;
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
export const special: Record<string, [number, number, number]> = {
  nan: [255, 0, 170],
  plus: [255, 140, 0],
  minus: [0, 150, 255],
  unwritten: [214, 48, 49],
  unrecorded: [128, 128, 136],
};
export function colour(t: number, stops: number[][]): number[] {
  const x = Math.max(0, Math.min(1, t || 0)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(x));
  const f = x - i;
  return stops[i].map((c, k) => c + (stops[i + 1][k] - c) * f);
}

// The default width: plain arrays become about a square.
export function goodWidth(count: number) {
  const w = 2 ** Math.round(Math.log2(Math.max(1, Math.sqrt(count))));
  return Math.max(1, Math.min(count, Math.max(16, w)));
}

// A large picture is requested in bands, a few at a time, and shown as they arrive. BAND: bytes of
// a buffer that the server can read in a moment; a quarter of it for last writes, which may be many
// launches ago.
export const BAND = 1 << 20;
// of: identifies the elements. A picture of other elements is not shown while the new one is read.
export function usePicture(
  key: unknown[],
  whole: { columns: number; rows: number } | undefined,
  rowsOfBand: number,
  load: (first: number, rows: number) => Promise<ArrayBuffer>,
  of: string,
): { picture?: Picture; done: number; error?: string } {
  const [state, set] = useState<{ of: string; picture?: Picture; done: number; error?: string }>({
    of,
    done: 0,
  });
  useEffect(() => {
    if (!whole) return;
    let gone = false;
    let next = 0;
    let done = 0;
    const { columns, rows } = whole;
    const n = columns * rows;
    const bands = Math.max(1, Math.ceil(rows / rowsOfBand));
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
            set({ of, done: 1, error: errorText(e) });
          }
          return;
        }
        if (!gone) set({ of, picture: { ...all }, done: ++done / bands });
      }
    };
    for (let i = 0; i < 3; i++) void worker();
    return () => {
      gone = true;
    };
  }, key);
  return state.of === of ? state : { done: 0 };
}

// Of several elements in one pixel the one that is farthest from the mean of all is shown.
export function middleOf(picture: Picture) {
  let sum = 0;
  let n = 0;
  for (let i = 0; i < picture.mean.length; i++)
    if (picture.flags[i] & NUMBER) {
      sum += picture.mean[i];
      n++;
    }
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
  c.width = picture.columns * dot;
  c.height = picture.rows * dot;
  const g = c.getContext("2d")!;
  const image = g.createImageData(c.width, c.height);
  const gap = dot > 4 ? 1 : 0;
  const round = dot >= 8;
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
    const x0 = (i % picture.columns) * dot;
    const y0 = Math.floor(i / picture.columns) * dot;
    const r = (dot - gap) / 2;
    for (let y = 0; y < dot - gap; y++)
      for (let x = 0; x < dot - gap; x++) {
        if (round && (x + 0.5 - r) ** 2 + (y + 0.5 - r) ** 2 > r * r) continue;
        const k = ((y0 + y) * c.width + x0 + x) * 4;
        image.data[k] = rgb[0];
        image.data[k + 1] = rgb[1];
        image.data[k + 2] = rgb[2];
        image.data[k + 3] = 255;
      }
  }
  g.putImageData(image, 0, 0);
  return g;
}

// Values in dots that are large enough for them, each only if all of it has room: a shortened
// number would be a wrong one.
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
    const text = shortFloat(v, true);
    const rgb = colour(place(v), stops);
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
  const gap = dot > 4 ? 1 : 0;
  const x = (at % columns) * dot;
  const y = Math.floor(at / columns) * dot;
  const m = Math.max(dot - gap, 3) + 5;
  for (const [width, colour] of [
    [4, "rgba(255, 255, 255, .85)"],
    [1.75, style],
  ] as [number, string][]) {
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.strokeRect(x + (dot - gap - m) / 2, y + (dot - gap - m) / 2, m, m);
  }
}

// The scale for all but the farthest hundredth at either end.
export function usualRange(picture: Picture | undefined): [number, number] {
  if (!picture) return [0, 1];
  const all: number[] = [];
  const every = Math.max(1, Math.floor(picture.mean.length / 20000));
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
