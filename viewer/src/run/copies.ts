// Rectangles that copies and sets touch.
import type { StepInfo } from "./api";

// Maps an address of one side of a copy to the other side; rows and planes may have other pitches
// there. undefined: the copy does not touch the address.
export function otherSide(s: StepInfo, address: bigint, written: boolean): bigint | undefined {
  const here = written
      ? ([s.to, s.to_pitch, s.to_rows] as const)
      : ([s.from, s.from_pitch, s.from_rows] as const),
    there = written
      ? ([s.from, s.from_pitch, s.from_rows] as const)
      : ([s.to, s.to_pitch, s.to_rows] as const);
  const at = Number(address - BigInt(here[0]));
  if (at < 0) return undefined;
  const pitch = here[1] || s.width,
    plane = pitch * (here[2] || s.height || 1),
    z = plane ? Math.floor(at / plane) : 0,
    y = pitch ? Math.floor((at - z * plane) / pitch) : 0,
    x = at - z * plane - y * pitch;
  if (x >= s.width || y >= Math.max(1, s.height) || z >= Math.max(1, s.depth)) return undefined;
  const pitchThere = there[1] || s.width,
    planeThere = pitchThere * (there[2] || s.height || 1);
  return BigInt(there[0]) + BigInt(z * planeThere + y * pitchThere + x);
}
