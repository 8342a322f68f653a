// Places in shared and local memory: the variable there, its element, its bank, and its owner.
import { launches } from "../run/api";
import { coordinates, triple } from "../run/format";
import { Variable, variableElement, variablesOfKernel } from "../run/types";

export function variableAt(launch: number, space: number, address: number): Variable | undefined {
  const all = variablesOfKernel(launches.get(launch)?.kernel ?? 0);
  const name = space === 1 ? "shared" : "local";
  return all.find(
    (v) =>
      v.space === name &&
      v.address !== undefined &&
      address >= v.address &&
      (address < v.address + v.bytes || !v.bytes),
  );
}
export const memoryName = (p: {
  space: number;
  address: number;
  launch: number;
  bytes: number;
}) => {
  const v = variableAt(p.launch, p.space, p.address);
  return v
    ? variableElement(v, p.address - v.address!, p.bytes)
    : `byte ${p.address} of ${p.space === 1 ? "shared" : "local"} memory`;
};
export const bank = (address: number) => Math.floor(address / 4) % 32;

// The block or the thread that owns the memory.
export function owner(p: { launch: number; space: number; block: number; thread: number }) {
  const l = launches.get(p.launch);
  const per = l ? l.block[0] * l.block[1] * l.block[2] : 1;
  const at = l && coordinates(l, p.block * per + p.thread);
  return at
    ? `block ${triple(at.block)}${p.space === 2 ? ` thread ${triple(at.thread)}` : ""}`
    : "";
}
