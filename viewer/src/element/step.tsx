// A copy or a set by the host: its source and destination, its caller, and the origin of an element
// that it copied.
import { ask, buffers, StepInfo } from "../run/api";
import { otherSide } from "../run/copies";
import { addressOf, bytesText, copyName, elementName, stepName } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { Interrupted } from "./interrupt";
import { Empty, Failure, HostStack, PaneFrame } from "../parts/parts";
import { hostTail } from "../run/time";
import { follow, Pane } from "../parts/trail";

type StepPlace = Extract<Pane, { kind: "step" }>;

const isInterrupt = (s?: StepInfo) => !!s?.call?.startsWith("interrupt ");
const isLibrary = (s?: StepInfo) => !!s?.call?.startsWith("library ");

function nameOf(s: StepInfo | undefined, id: number) {
  if (!s) return stepName(id);
  return `${isInterrupt(s) || isLibrary(s) ? s.call : copyName(s)}${hostTail(s.id)}`;
}
function kindOf(s: StepInfo | undefined) {
  if (isInterrupt(s)) return "a function of the host that device code called";
  return isLibrary(s) ? "a call of one of CUDA's libraries" : s?.call;
}
function sizeText(s: StepInfo) {
  const total = bytesText(s.width * Math.max(1, s.height) * Math.max(1, s.depth));
  if (s.height <= 1 && s.depth <= 1) return total;
  const planes = s.depth > 1 ? ` of ${s.depth} planes` : "";
  return `${s.width} in each of ${s.height} rows${planes}: ${total}`;
}

// One side of a copy: a place in a buffer, or memory of the host.
function Side({ id, address, open }: { id: number; address: string; open(buffer: number): void }) {
  if (!id) return <span class="dim">memory of the host at {address}</span>;
  return (
    <button type="button" class="link" onClick={() => open(id)}>
      {elementName(id, Number(BigInt(address) - BigInt(buffers.get(id)?.base ?? address)))}
    </button>
  );
}

// The element that was followed here, and the same bytes on the other side of the copy.
function CopiedElement({ s, pane, go }: { s: StepInfo; pane: StepPlace; go(p: Pane): void }) {
  const of = buffers.get(pane.buffer);
  const came = s.to_buffer === pane.buffer;
  const there =
    of && s.kind === "copy" ? otherSide(s, BigInt(addressOf(of, pane.offset)), came) : undefined;
  const other = there !== undefined ? buffers.get(came ? s.from_buffer : s.to_buffer) : undefined;
  const offset = other && there !== undefined ? Number(there - BigInt(other.base)) : 0;
  const { bytes } = pane;
  return (
    <>
      <dt>element</dt>
      <dd>
        {elementName(pane.buffer, pane.offset, bytes)}
        {s.kind === "copy" ? (came ? " came from " : " went to ") : ""}
        {other ? (
          <button
            type="button"
            class="link"
            onClick={() => go({ kind: "element", buffer: other.id, offset, bytes })}
          >
            {elementName(other.id, offset, bytes)}
          </button>
        ) : there !== undefined ? (
          <span class="dim">memory of the host at 0x{there.toString(16)}</span>
        ) : (
          ""
        )}
      </dd>
    </>
  );
}

function StepFacts({ s, pane, go }: { s: StepInfo; pane: StepPlace; go(p: Pane): void }) {
  const interrupt = isInterrupt(s);
  const library = isLibrary(s);
  const of = buffers.get(pane.buffer);
  const open = (buffer: number) => go({ kind: "buffer", buffer, step: pane.step, width: 0 });
  return (
    <dl>
      {!interrupt && (
        <>
          <dt>bytes</dt>
          <dd>{sizeText(s)}</dd>
        </>
      )}
      {s.kind === "copy" && !interrupt && !(library && !s.from_buffer) && (
        <>
          <dt>from</dt>
          <dd>
            <Side id={s.from_buffer} address={s.from} open={open} />
          </dd>
        </>
      )}
      {!interrupt && !(library && !s.to_buffer) && (
        <>
          <dt>to</dt>
          <dd>
            <Side id={s.to_buffer} address={s.to} open={open} />
          </dd>
        </>
      )}
      {s.kind === "set" && (
        <>
          <dt>value</dt>
          <dd class="num">
            0x{s.value.toString(16).padStart(2 * Math.max(1, s.value_bytes), "0")}
          </dd>
        </>
      )}
      {of && !of.own && !library && <CopiedElement s={s} pane={pane} go={go} />}
    </dl>
  );
}

export function StepPane({
  pane,
  index,
  active,
}: {
  pane: StepPlace;
  index: number;
  active: boolean;
}) {
  const info = useAnswer<StepInfo>(() => ask("step", { id: pane.step }), [pane.step]);
  const s = info.value;
  const go = (p: Pane) => follow(index, p);
  return (
    <PaneFrame
      index={index}
      kind="step"
      active={active}
      title={
        <>
          <span class="what">by the host</span> {nameOf(s, pane.step)}
        </>
      }
      sub={kindOf(s)}
    >
      {info.error ? (
        <Failure text={info.error} />
      ) : !s ? (
        <Empty>reading…</Empty>
      ) : (
        <div class="scroll">
          <StepFacts s={s} pane={pane} go={go} />
          {isInterrupt(s) ? (
            <Interrupted step={pane.step} of={s} go={go} />
          ) : (
            <>
              <h3>Asked for</h3>
              <HostStack stack={s.stack} />
            </>
          )}
        </div>
      )}
    </PaneFrame>
  );
}
