// A cell of a row: the origin of an operation's value, and the operations that race for its
// element.
import { useState } from "preact/hooks";
import { Kind, buffers, launches, Op, Writers } from "../run/api";
import { bufferName, hostCanWrite, interruptPart, launchOf, opValue } from "../run/format";
import { Badge, ThreadText } from "../parts/parts";
import { Missed } from "./threadfindings";
import { Pane } from "../parts/trail";

// Another launch of the same kernel is known by its number alone.
function shortLaunch(here: Op, there: Op) {
  if (here.launch === there.launch) return "";
  const a = launches.get(here.launch),
    b = launches.get(there.launch);
  return a && b && a.kernel === b.kernel ? `#${b.number}` : launchOf(there);
}

// The values that the read may have seen, if the recording does not show which.
function candidates(op: Op, w: Writers): string {
  const values = [
    ...new Set(
      w.ops.map((o) =>
        o.value === null || o.bytes !== op.bytes || o.address !== op.address ? "" : opValue(o),
      ),
    ),
  ];
  return op.value === null && values.length > 1 && values.length < 4 && values.every(Boolean)
    ? values.join(" or ")
    : w.ops.length === 1
      ? "1 candidate"
      : `${w.ops.length} candidates`;
}

// An access that memcheck found to be bad.
function Refused({ op, outside }: { op: Op; outside?: Missed }) {
  return (
    <Badge
      kind="error"
      title={
        `memcheck found this ${op.kind === Kind.Atomic ? "atomic operation" : "store"} ` +
        "to be bad, and did not let it happen" +
        `${outside ? `: ${outside.headline}` : ""}; address ${op.address}`
      }
    >
      {outside
        ? `outside of ${bufferName(buffers.get(outside.allocation), outside.allocation)}, `
        : ""}
      not made
    </Badge>
  );
}
function Outside({ op, outside }: { op: Op; outside: Missed }) {
  return (
    <Badge kind="error" title={`${outside.headline}: address ${op.address}`}>
      outside of {bufferName(buffers.get(outside.allocation), outside.allocation)}
    </Badge>
  );
}

// Leads to an operation of another thread, or to a copy or set by the host.
function GoTo({
  op,
  other,
  note,
  kind,
  go,
}: {
  op: Op;
  other: Op;
  note: string;
  kind: "from" | "race";
  go(p: Pane): void;
}) {
  const { launch, thread, record, lane, step } = other;
  return launch ? (
    <button
      type="button"
      class={`go ${kind}`}
      title={`${note}: thread ${thread} of ${launchOf(other)}`}
      onClick={(e) => {
        e.stopPropagation();
        go({ kind: "thread", launch, thread, at: { record, lane } });
      }}
    >
      {kind === "race" ? "⚡" : "←"} <ThreadText launch={shortLaunch(op, other)} thread={thread} />
    </button>
  ) : (
    <button
      type="button"
      class={`go ${kind}`}
      title={`${note} the host`}
      onClick={(e) => {
        e.stopPropagation();
        go({ kind: "step", step, buffer: op.buffer, offset: op.offset, bytes: op.bytes });
      }}
    >
      ← {launchOf(other)}
    </button>
  );
}

// The writer of the value that was read.
function WrittenBy({ op, writers, go }: { op: Op; writers: Writers; go(p: Pane): void }) {
  // nothing says that it is the only one, but it is worth following
  const near = writers.some && writers.ops.length === 1;
  const byHost =
    hostCanWrite(buffers.get(op.buffer)) &&
    (writers.never_written || writers.why === "nothing that is recorded wrote what was read");
  if (byHost)
    return (
      <span
        class="dim"
        title={
          "nothing that was recorded wrote this value, and the host can write this memory itself"
        }
      >
        the host, directly
      </span>
    );
  return (
    <>
      {writers.never_written && !interruptPart(op) && <Badge kind="error">never written</Badge>}
      {writers.ambiguous && !near && (
        <Badge
          kind="warning"
          title={
            writers.why ??
            "nothing orders these writes, and the value does not decide: " +
              "follow the operation to see them"
          }
        >
          {candidates(op, writers)}
        </Badge>
      )}
      {!writers.never_written &&
        (!writers.ambiguous || near) &&
        writers.ops
          .slice(0, 1)
          .map((w) => <GoTo op={op} other={w} note="written by" kind="from" go={go} />)}
    </>
  );
}

function LookAtAll({ lookAtAll }: { lookAtAll(): Promise<void> }) {
  const [looking, setLooking] = useState(false);
  return (
    <button
      type="button"
      class="go whole"
      disabled={looking}
      title="look at every operation that touched it: this may take long"
      onClick={(e) => {
        e.stopPropagation();
        setLooking(true);
        lookAtAll().finally(() => setLooking(false));
      }}
    >
      {looking ? "looking…" : "all?"}
    </button>
  );
}

const raceNote = (other: Op) =>
  other.kind === Kind.Load
    ? "read, in the same launch, by"
    : "also written, in the same launch, by";

export function Origin({
  op,
  writers,
  lookAtAll,
  conflicts,
  outside,
  go,
}: {
  op: Op;
  writers?: Writers;
  lookAtAll(): Promise<void>;
  conflicts?: Op[];
  outside?: Missed;
  go(p: Pane): void;
}) {
  if (op.refused) return <Refused op={op} outside={outside} />;
  if (outside) return <Outside op={op} outside={outside} />;
  const others = new Map((conflicts ?? []).map((c) => [c.thread, c]));
  return (
    <>
      {writers && <WrittenBy op={op} writers={writers} go={go} />}
      {writers?.some && <LookAtAll lookAtAll={lookAtAll} />}
      {[...others.values()].slice(0, 2).map((c) => (
        <GoTo op={op} other={c} note={raceNote(c)} kind="race" go={go} />
      ))}
      {others.size > 2 && <span class="dim">+{others.size - 2}</span>}
    </>
  );
}
