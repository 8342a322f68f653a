// The one time cursor: the step that pictures, elements and sources show. 0: the end of the run. It
// is part of the page's address.
import { FlowStep } from "./api";

let step = 0;
const listeners = new Set<() => void>();
export const timeStep = () => step;
export function onTime(f: () => void) {
  listeners.add(f);
  return () => {
    listeners.delete(f);
  };
}
let keep = () => {};
export function keepTime(f: () => void) {
  keep = f;
}
export function setTime(to: number) {
  if (to !== step) {
    step = to;
    keep();
    listeners.forEach((f) => f());
  }
}
// From an address: without writing it there again.
export function timeFrom(to: number) {
  if (to !== step) {
    step = to;
    setTimeout(() => listeners.forEach((f) => f()), 0);
  }
}

// All steps of the run in order, as far as they have been read.
export let allSteps: FlowStep[] = [];
const places = new Map<number, number>(),
  hostNumbers = new Map<number, number>();
export function learnSteps(list: FlowStep[]) {
  allSteps = list;
  let host = hostNumbers.size;
  for (let i = places.size; i < list.length; i++)
    if (list[i].kind !== "launch" && !hostNumbers.has(list[i].id))
      hostNumbers.set(list[i].id, ++host);
  for (let i = places.size; i < list.length; i++) places.set(list[i].id, i);
  if (places.size !== list.length) {
    places.clear();
    list.forEach((s, i) => places.set(s.id, i));
  }
}
// Copies and sets are numbered by themselves, as launches are: " #3"; "": not known yet.
export const hostTail = (id: number) => (hostNumbers.has(id) ? ` #${hostNumbers.get(id)}` : "");
export const stepIndex = (id: number) => places.get(id) ?? -1;
export const stepById = (id: number): FlowStep | undefined => allSteps[stepIndex(id)];
export const stepBefore = (id: number): number => {
  const i = stepIndex(id);
  return i > 0 ? allSteps[i - 1].id : id;
};
