// The pane that shows a buffer best: a picture, or, of a buffer of one element, all that happened
// to that element.
import { buffers } from "./api";
import { bufferType } from "./types";
import { Pane } from "../parts/trail";

export function bufferPane(buffer: number): Pane {
  const t = bufferType(buffer);
  const size = buffers.get(buffer)?.size ?? 0;
  return t.known && size === t.bytes
    ? { kind: "element", buffer, offset: 0, bytes: t.bytes }
    : { kind: "buffer", buffer, step: 0, width: 0 };
}
