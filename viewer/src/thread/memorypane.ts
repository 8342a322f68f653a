// The panes that an operation of a thread, or its value, leads to.
import { bufferType } from "../run/types";
import { Op, launches } from "../run/api";
import { bufferAt, bytesOf } from "../run/format";
import { Pane } from "../parts/trail";

// The memory that an operation of a thread touched, as a pane of its own; undefined: none that is
// known.
export function memoryPane(o: Op): Pane | undefined {
  if (o.buffer)
    return {
      kind: "element",
      buffer: o.buffer,
      offset: o.offset,
      bytes: o.bytes,
      at: { record: o.record, lane: o.lane },
    };
  const l = launches.get(o.launch),
    per = l ? l.block[0] * l.block[1] * l.block[2] : 0;
  return o.space && o.address !== null && per
    ? {
        kind: "memory",
        launch: o.launch,
        space: o.space,
        block: Math.floor(o.thread / per),
        thread: o.space === 2 ? o.thread % per : 0,
        address: Number(o.address),
        bytes: o.bytes,
        at: { record: o.record, lane: o.lane },
      }
    : undefined;
}

// The element that a pointer points to.
export function pointsTo(hex: string): Pane | undefined {
  const at = bytesOf(hex).getBigUint64(0, true);
  const b = bufferAt(at);
  return (
    b && {
      kind: "element",
      buffer: b.id,
      offset: Number(at - BigInt(b.base)),
      bytes: bufferType(b.id).bytes,
    }
  );
}
