// A copy or a set by the host: what went where, who asked for it, and where an element that it brought came from.
import { StepInfo, ask, buffers } from "./api";
import { Interrupted } from "./interrupt";
import { otherSide } from "./copies";
import { addressOf, bytesText, elementName, stepName } from "./format";
import { useAnswer } from "./hooks";
import { Empty, Failure, HostStack, PaneFrame } from "./parts";
import { hostTail } from "./time";
import { Pane, follow } from "./trail";

export function StepPane({
  pane,
  index,
  active,
}: {
  pane: Extract<Pane, { kind: "step" }>;
  index: number;
  active: boolean;
}) {
  const info = useAnswer<StepInfo>(() => ask("step", { id: pane.step }), [pane.step]),
    s = info.value;
  const total = s ? s.width * Math.max(1, s.height) * Math.max(1, s.depth) : 0,
    of = buffers.get(pane.buffer);
  const side = (id: number, address: string) =>
    id ? (
      <button
        type="button"
        class="link"
        onClick={() => follow(index, { kind: "buffer", buffer: id, step: pane.step, width: 0 })}
      >
        {elementName(id, Number(BigInt(address) - BigInt(buffers.get(id)?.base ?? address)))}
      </button>
    ) : (
      <span class="dim">memory of the host at {address}</span>
    );
  const interrupt = !!s?.call?.startsWith("interrupt "),
    library = !!s?.call?.startsWith("library "),
    name =
      s && (interrupt || library)
        ? `${s.call}${hostTail(s.id)}`
        : s
          ? `${s.kind === "copy" ? `copy ${(s.direction ?? "").replace("-", " ")}` : s.kind}${hostTail(s.id)}`
          : stepName(pane.step);
  // The same bytes on the other side, where that is a buffer too.
  const there =
      s && of && s.kind === "copy"
        ? otherSide(s, BigInt(addressOf(of, pane.offset)), s.to_buffer === pane.buffer)
        : undefined,
    otherId = s ? (s.to_buffer === pane.buffer ? s.from_buffer : s.to_buffer) : 0;
  const other = there !== undefined && otherId ? buffers.get(otherId) : undefined,
    otherOffset = other && there !== undefined ? Number(there - BigInt(other.base)) : 0;
  return (
    <PaneFrame
      index={index}
      kind="step"
      active={active}
      title={
        <>
          <span class="what">by the host</span> {name}
        </>
      }
      sub={
        interrupt
          ? "a function of the host that device code called"
          : library
            ? "a call of one of CUDA's libraries"
            : s?.call
      }
    >
      {info.error ? (
        <Failure text={info.error} />
      ) : !s ? (
        <Empty>reading…</Empty>
      ) : (
        <div class="scroll">
          <dl>
            {!interrupt && (
              <>
                <dt>bytes</dt>
                <dd>
                  {s.height > 1 || s.depth > 1
                    ? `${s.width} in each of ${s.height} rows${s.depth > 1 ? ` of ${s.depth} planes` : ""}: ${bytesText(total)}`
                    : bytesText(total)}
                </dd>
              </>
            )}
            {s.kind === "copy" && !interrupt && !(library && !s.from_buffer) && (
              <>
                <dt>from</dt>
                <dd>{side(s.from_buffer, s.from)}</dd>
              </>
            )}
            {interrupt || (library && !s.to_buffer) ? (
              <></>
            ) : (
              <>
                <dt>to</dt>
                <dd>{side(s.to_buffer, s.to)}</dd>
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
            {of && !of.own && !library && (
              <>
                <dt>element</dt>
                <dd>
                  {elementName(pane.buffer, pane.offset, pane.bytes)}
                  {s.kind === "copy"
                    ? s.to_buffer === pane.buffer
                      ? " came from "
                      : " went to "
                    : ""}
                  {other ? (
                    <button
                      type="button"
                      class="link"
                      onClick={() =>
                        follow(index, {
                          kind: "element",
                          buffer: other.id,
                          offset: otherOffset,
                          bytes: pane.bytes,
                        })
                      }
                    >
                      {elementName(other.id, otherOffset, pane.bytes)}
                    </button>
                  ) : there !== undefined ? (
                    <span class="dim">memory of the host at 0x{there.toString(16)}</span>
                  ) : (
                    ""
                  )}
                </dd>
              </>
            )}
          </dl>
          {interrupt ? (
            <Interrupted step={pane.step} of={s} go={(p) => follow(index, p)} />
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
