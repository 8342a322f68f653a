// How large the dots of a picture are, and the room there is for them.
import { useLayoutEffect, useState } from "preact/hooks";

export const LARGEST_DOT = 44; // pixels; small buffers fill the room up to this size

export type Ref<T> = { current: T | null };
export interface Room {
  w: number;
  h: number;
}
// The size of an element of the page. before: what is returned until it is known.
export function useRoom(holder: Ref<HTMLElement>, before: Room, on: unknown[]): Room {
  const [room, setRoom] = useState(before);
  useLayoutEffect(() => {
    const o = new ResizeObserver(() => {
      const e = holder.current;
      if (e) setRoom({ w: e.clientWidth, h: e.clientHeight });
    });
    if (holder.current) o.observe(holder.current);
    return () => o.disconnect();
  }, on);
  return room;
}

// Pixels for an element. fit: how many let the whole picture fit.
export const dotSize = (fit: number, zoom: number) =>
  Math.max((fit >= 1 ? Math.floor(Math.min(fit, LARGEST_DOT)) : fit) * 2 ** zoom, 1 / 4096);

// pool: so many by so many elements share a pixel; dot: pixels for each of those.
export interface Dots {
  pool: number;
  dot: number;
}
export function dotsOf(size: number): Dots {
  const pool = Math.max(1, Math.ceil(1 / size));
  return { pool, dot: pool > 1 ? 1 : Math.max(1, Math.floor(size)) };
}
