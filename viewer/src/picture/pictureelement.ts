// The element under the mouse or the keyboard's cursor: its index and its value.
import { useEffect, useState } from "preact/hooks";
import { ask, askBytes } from "../run/api";
import { flowNames, hexAt, knownOf, partsText } from "../run/format";
import { middleOf, NUMBER, Picture } from "./paint";
import { BufferView, questionOf } from "./picturedata";
import { Cell, firstElementOf, ShownPart } from "./picturelayout";
import { allSteps, hostTail } from "../run/time";

// A step by its place in the run, from 1.
export function writerName(n: number): string {
  const s = allSteps[Math.round(n) - 1];
  return !s
    ? `step ${Math.round(n)}`
    : s.kind === "launch"
      ? (flowNames.get(s.launch) ?? `launch #${s.number}`)
      : `${s.call || s.kind}${hostTail(s.id)}`;
}

// The bytes of an element in the picture: only a field of a struct, if one is shown.
export const fieldOf = ({ all, leaf, type }: ShownPart) =>
  all.length > 1 && leaf
    ? { offset: leaf.offset, bytes: leaf.bytes }
    : { offset: 0, bytes: type.bytes };

// The element that gave a pixel its colour: the same order as in paint().
export async function elementOf(
  view: BufferView,
  picture: Picture | undefined,
  p: Cell,
): Promise<number> {
  const l = view.layout;
  if (l.pool === 1 || !picture) return firstElementOf(l, p);
  const q = await ask<Record<string, number>>("pixel", {
    ...questionOf(view),
    step: view.step,
    x: p.x,
    y: p.y + l.first / l.width / l.pool,
  });
  const middle = middleOf(picture);
  const i = (p.y - l.from) * l.columns + p.x;
  const above = Math.abs(picture.max[i] - middle) >= Math.abs(picture.min[i] - middle);
  return (
    q.nan ??
    q.plus ??
    q.minus ??
    q.unwritten ??
    q.unrecorded ??
    (above ? q.high : q.low) ??
    firstElementOf(l, p)
  );
}

// For a picture of last writes: the step of the write.
function lastWriter({ pane, layout }: BufferView, p: Picture | undefined, at: Cell) {
  const i = (at.y - layout.from) * layout.columns + at.x;
  return pane.by && p && p.flags[i] & NUMBER ? `, last written by ${writerName(p.max[i])}` : "";
}

async function valueText(view: BufferView, element: number, writer: string): Promise<string> {
  const { type } = view.part;
  const { offset, bytes } = fieldOf(view.part);
  const a = await askBytes("contents", {
    allocation: view.pane.buffer,
    step: view.step,
    offset: element * type.bytes + offset,
    bytes,
  });
  const d = new DataView(a, 0, bytes);
  const known = knownOf(new Uint8Array(a, bytes, bytes), type, offset);
  if (known === "unwritten") return "never written";
  if (known) return "written by something that was not recorded";
  const parts = partsText(d, type, offset).replace(/^\((.*)\)$/, "$1");
  return (parts || hexAt(d, 0, bytes)) + writer;
}

export interface ShownElement {
  element: number; // -1: none
  text: string;
}
export function useShownElement(
  view: BufferView,
  picture: Picture | undefined,
  cell: Cell | undefined,
) {
  const [shown, setShown] = useState<ShownElement>({ element: -1, text: "" });
  useEffect(() => {
    if (!cell || !view.buffer) {
      setShown({ element: -1, text: "" });
      return;
    }
    let gone = false;
    const timer = setTimeout(async () => {
      try {
        const element = await elementOf(view, picture, cell);
        const text = await valueText(view, element, lastWriter(view, picture, cell));
        if (!gone) setShown({ element, text });
      } catch {
        /* the picture says what is wrong */
      }
    }, 30);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [cell?.x, cell?.y, view.step, picture, fieldOf(view.part).offset]);
  return [shown, setShown] as const;
}
