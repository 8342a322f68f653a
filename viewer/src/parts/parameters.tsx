// Parameters of a launch, and the indices of a thread in it: the inputs of a line of source.
import { Launch, LaunchInfo, ask } from "../run/api";
import {
  bufferAt,
  bytesOf,
  coordinates,
  partsText,
  scalarText,
  triple,
  valueHex,
} from "../run/format";
import { useAnswer } from "./hooks";
import { Leaf, Type, leaves, typeNamed, types } from "../run/types";

type Parameter = LaunchInfo["parameters"][number];
// A pointer leads to its buffer, where somebody can open one.
function FieldValue({ d, leaf, open }: { d: DataView; leaf: Leaf; open?(buffer: number): void }) {
  const text = scalarText(d, leaf.offset, leaf.scalar);
  const to = leaf.scalar === "ptr" && open && bufferAt(d.getBigUint64(leaf.offset, true));
  if (!to) return <>{text}</>;
  return (
    <button type="button" class="link" onClick={() => open(to.id)}>
      {text}
    </button>
  );
}
// The value of a parameter by its type; without a type, its bytes.
export function parameterValue(
  hex: string | undefined,
  bytes: number,
  t: Type | undefined,
  open?: (buffer: number) => void,
) {
  if (!hex) return "?";
  const d = bytesOf(hex.toLowerCase()),
    typed = t?.known && t.bytes === bytes && d.byteLength === bytes ? t : undefined;
  if (!typed)
    return (
      <span title="its type is not known">
        {bytes > 8
          ? `${bytes} bytes: ${hex.toLowerCase().slice(0, 24)}${hex.length > 24 ? "…" : ""}`
          : valueHex(hex.toLowerCase())}
      </span>
    );
  if (typed.parts.length === 1 && !typed.parts[0].path)
    return <span title={valueHex(hex.toLowerCase())}>{partsText(d, typed, 0)}</span>;
  return (
    <span class="fields">
      {leaves(typed, 32).map((l) => (
        <span>
          <span class="dim">{l.path}</span> <FieldValue d={d} leaf={l} open={open} />
        </span>
      ))}
    </span>
  );
}

export const parameterType = (p: Parameter): Type | undefined =>
  (p.type_id ? types.get(p.type_id) : undefined) ?? typeNamed(p.type);

// Above a source: the numbers that a thread began with.
export function Given({ launch: l, thread }: { launch: Launch; thread: number }) {
  const info = useAnswer<LaunchInfo>(() => ask("launch", { id: l.id }), [l.id]),
    at = coordinates(l, thread),
    numbers = (info.value?.parameters ?? []).filter(
      (p) => !p.allocation && p.name && p.value && parameterType(p)?.known && p.bytes <= 8,
    );
  return (
    <div class="given-to" aria-label="what the thread was given">
      <span>
        blockIdx <b>{triple(at.block)}</b>
      </span>
      <span>
        threadIdx <b>{triple(at.thread)}</b>
      </span>
      <span>
        blockDim <b>{triple(l.block)}</b>
      </span>
      {numbers.slice(0, 12).map((p) => (
        <span>
          {p.name} <b>{parameterValue(p.value, p.bytes, parameterType(p))}</b>
        </span>
      ))}
    </div>
  );
}
