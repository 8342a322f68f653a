// The elements beside an element, with the values they held at a step.
import { askBytes, Buffer, Finding } from "../run/api";
import { ElementPlace } from "./elementops";
import { elementName, hexAt, knownOf, partsText, scalarText } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { ElementName } from "../parts/parts";
import { Pane } from "../parts/trail";
import { bufferType, leaves, Type } from "../run/types";

// Which scalar of a struct the element is; undefined: all of it, or something else.
export const partOf = (pane: { offset: number; bytes: number }, t: Type, size: number) =>
  pane.bytes < size
    ? leaves(t, 400).find((l) => l.offset === pane.offset % size && l.bytes === pane.bytes)
    : undefined;

// The neighbours: their numbers in the buffer, and which bytes of each are shown. For an element
// that is a part of a struct: the same part of its neighbours.
function neighboursOf(buffer: Buffer, pane: ElementPlace) {
  const type = bufferType(pane.buffer);
  const size = type.known ? type.bytes : pane.bytes;
  const part = partOf(pane, type, size);
  const at = Math.floor(pane.offset / size);
  return {
    type,
    size,
    part,
    width: part ? part.bytes : size,
    skip: part ? pane.offset % size : 0,
    at,
    first: Math.max(0, at - 2),
    last: Math.min(Math.floor(buffer.size / size), at + 3),
  };
}
type Shown = ReturnType<typeof neighboursOf>;

// contents: the bytes of all neighbours, then for each byte whether it is known
function cellOf(contents: ArrayBuffer | undefined, shown: Shown, i: number) {
  if (!contents) return { text: "…", state: "" };
  const { type, size, part, width, skip, first, last } = shown;
  const n = (last - first) * size;
  const begin = (i - first) * size + skip;
  const known = new Uint8Array(contents, n, n).subarray(begin, begin + width);
  const state = knownOf(known, type, skip);
  if (state) return { text: state === "unwritten" ? "never written" : "not recorded", state };
  const one = new DataView(contents, begin, width);
  const text = part
    ? scalarText(one, 0, part.scalar)
    : partsText(one, type, 0).replace(/^\((.*)\)$/, "$1");
  return { text: text || hexAt(new DataView(contents, 0, n), begin, width), state };
}

export function Neighbours({
  buffer,
  pane,
  step,
  findings,
  go,
}: {
  buffer: Buffer;
  pane: ElementPlace;
  step: number;
  findings: Finding[];
  go(p: Pane): void;
}) {
  const shown = neighboursOf(buffer, pane);
  const { size, width, skip, at, first, last } = shown;
  const contents = useAnswer(
    () =>
      last > first
        ? askBytes("contents", {
            allocation: pane.buffer,
            step,
            offset: first * size,
            bytes: (last - first) * size,
          })
        : undefined,
    [pane.buffer, step, first, last, size],
  );
  const cells = [];
  for (let i = first; i < last; i++) {
    const { text, state } = cellOf(contents.value, shown, i);
    const name = elementName(pane.buffer, i * size + skip, width);
    const bad = findings.find(
      (f) => f.allocation === pane.buffer && Math.floor(f.offset / size) === i,
    );
    const offset = i * size + (pane.offset % size);
    cells.push(
      <button
        type="button"
        class={`cell ${state} ${i === at ? "here" : ""} ${bad?.severity ?? ""}`}
        title={bad ? bad.headline : name}
        onClick={() => {
          if (i !== at) go({ kind: "element", buffer: pane.buffer, offset, bytes: pane.bytes });
        }}
      >
        <span class="index">
          <ElementName text={name} />
        </span>
        <span class="num">{text}</span>
      </button>,
    );
  }
  return (
    <nav class="neighbours" aria-label="neighbouring elements">
      {cells}
    </nav>
  );
}
