// A canvas in the pixels of the screen, with the colours of the page's theme.
import { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

export interface Size {
  w: number;
  h: number;
}
const colourNames = [
  "ink",
  "dim",
  "rule",
  "accent",
  "error",
  "warning",
  "load",
  "written",
  "race",
  "paper",
  "soft",
  "surface",
] as const;
export interface Paper {
  g: CanvasRenderingContext2D;
  colour: Record<(typeof colourNames)[number], string>;
  sans: string;
  mono: string;
}

// The colours of a theme, read once: reading them makes the browser compute all styles at once.
type Ink = Omit<Paper, "g">;
const inks = new Map<boolean, Ink>();
function inkOf(canvas: HTMLCanvasElement): Ink {
  const known = inks.get(isDark());
  if (known) return known;
  const style = getComputedStyle(canvas);
  const variable = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const ink = {
    colour: Object.fromEntries(colourNames.map((n) => [n, variable(n)])) as Ink["colour"],
    sans: variable("sans"),
    mono: variable("mono"),
  };
  inks.set(isDark(), ink);
  return ink;
}

// Clears the canvas and gives it this size; a new size means new memory, so only where it changes.
export function paperOf(canvas: HTMLCanvasElement, size: Size): Paper {
  const ratio = devicePixelRatio || 1;
  const w = Math.floor(size.w * ratio);
  const h = Math.floor(size.h * ratio);
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const g = canvas.getContext("2d")!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, size.w, size.h);
  g.textBaseline = "middle";
  g.lineWidth = 1;
  return { g, ...inkOf(canvas) };
}

// Draws when one of these has changed: each canvas in a task of its own, after the page. By then
// the page may have left the canvas out.
export function usePaint(
  canvas: RefObject<HTMLCanvasElement | null>,
  paint: (canvas: HTMLCanvasElement) => void,
  on: unknown[],
) {
  useEffect(() => {
    const timer = setTimeout(() => canvas.current && paint(canvas.current), 0);
    return () => clearTimeout(timer);
  }, on);
}

// The size of a box, and a number that changes with the theme: both mean drawing again.
export function useBoxSize(box: RefObject<HTMLElement | null>, first: Size) {
  const [size, setSize] = useState(first);
  const [theme, setTheme] = useState(0);
  useLayoutEffect(() => {
    const resized = new ResizeObserver(() => {
      const e = box.current;
      if (e) setSize({ w: e.clientWidth, h: e.clientHeight });
    });
    resized.observe(box.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => setTheme((n) => n + 1);
    dark.addEventListener("change", changed);
    const attributes = new MutationObserver(changed);
    attributes.observe(document.documentElement, { attributes: true });
    return () => {
      resized.disconnect();
      attributes.disconnect();
      dark.removeEventListener("change", changed);
    };
  }, []);
  return { size, theme };
}

export function isDark(): boolean {
  const theme = document.documentElement.dataset.theme;
  return (
    (matchMedia("(prefers-color-scheme: dark)").matches && theme !== "light") || theme === "dark"
  );
}

export function line(
  g: CanvasRenderingContext2D,
  [fromX, fromY]: [number, number],
  [toX, toY]: [number, number],
) {
  g.beginPath();
  g.moveTo(fromX, fromY);
  g.lineTo(toX, toY);
  g.stroke();
}

// A launch with findings has a dot, one with races a triangle: told apart without colours, too.
export function troubleMark(
  g: CanvasRenderingContext2D,
  [x, y]: [number, number],
  radius: number,
  isRace: boolean,
) {
  g.beginPath();
  if (isRace) {
    g.moveTo(x, y - radius - 1);
    g.lineTo(x + radius + 1, y + radius);
    g.lineTo(x - radius - 1, y + radius);
    g.closePath();
  } else g.arc(x, y, radius, 0, 7);
  g.fill();
}

// How a step uses a buffer: filled, it writes; a green ring, it reads; a small grey ring, it only
// got the buffer as an argument. Bright colours are left to findings and races.
export function useMark(
  { g, colour }: Paper,
  [x, y]: [number, number],
  radius: number,
  how: number,
) {
  g.beginPath();
  g.arc(x, y, how ? radius : radius * 0.6, 0, 7);
  g.fillStyle = how & 2 ? colour.written : colour.paper;
  g.fill();
  if (how === 2) return;
  g.strokeStyle = how ? colour.load : colour.dim;
  g.lineWidth = how ? 1.5 : 1;
  g.stroke();
}

// Cuts a text to so many pixels; `tail` after it stays.
export function fitText(
  g: CanvasRenderingContext2D,
  whole: string,
  { tail, shortest, room }: { tail: string; shortest: number; room: number },
) {
  let text = whole;
  while (text.length > shortest && g.measureText(text + tail).width > room)
    text = text.slice(0, -2) + "…";
  return text + tail;
}
