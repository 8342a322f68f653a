// The value that an operation read or wrote, in words. For an atomic operation: the old value and
// its change: "53 + 1", "-1 → 42", "42 unchanged".
import { Kind, leavesMemory, Op, sites } from "./api";
import { opValue } from "./format";

const signs: Record<string, string> = {
  add: "+",
  and: "&",
  or: "|",
  xor: "^",
  exch: "→",
  cas: "→",
};

const atomicName = (o: Op) =>
  /\.(add|min|max|and|or|xor|exch|cas|inc|dec)\b/.exec(sites.get(o.site)?.text ?? "")?.[1] ?? "";

export function doneText(o: Op): string {
  const operand = opValue(o);
  if (o.kind !== Kind.Atomic) return operand;
  const name = atomicName(o);
  const sign = signs[name];
  if (o.old === null) return [sign ?? name, operand].filter(Boolean).join(" ");
  const old = opValue(o, o.old);
  if (leavesMemory(o)) return `${old} unchanged`;
  if (sign) return `${old} ${sign} ${operand}`;
  return name ? `${name}(${old}, ${operand})` : `${old} with ${operand}`;
}

// The same as a sentence, for a tooltip.
export const doneHelp = (o: Op) =>
  leavesMemory(o)
    ? "compare-and-swap: memory still holds what it found, since that was not the expected value " +
      "(or since the same value was to be swapped in)"
    : o.kind === Kind.Atomic && o.old !== null
      ? `atomic: it found ${opValue(o, o.old)}; the operand is ${opValue(o)}`
      : "";

// Between an element and its value: what was read, written, or changed.
export const resultSign = (o: Op) =>
  o.kind === Kind.Load ? "→" : o.kind === Kind.Atomic ? ":" : "=";
