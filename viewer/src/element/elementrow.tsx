// A row of an element: one operation on it.
import { doneHelp, doneText } from "../run/atomic";
import { Buffer, key, Kind, Op, readersOf, writes } from "../run/api";
import { ElementPlace, instanceOf, rivals, undecided } from "./elementops";
import { classes, hostCanWrite, launchOf, opValue, threadsOf, valueHex } from "../run/format";
import { Ops, useAnswer } from "../parts/hooks";
import { Badge, KindTag, mainPlace, ThreadText } from "../parts/parts";
import { Pane } from "../parts/trail";
import { bufferType, leafAt } from "../run/types";

// The readers of the value that this operation wrote.
function ReadBy({ op, go }: { op: Op; go(p: Pane): void }) {
  const found = useAnswer(() => readersOf(op), [op.record, op.lane]);
  const list = found.value?.ops ?? [];
  const first = list[0];
  if (!found.value) return <></>;
  if (!first) return <span class="dim">read by nobody</span>;
  return (
    <button
      type="button"
      class="go readers"
      title="read by: who saw this value"
      onClick={(e) => {
        e.stopPropagation();
        if (first.launch)
          go({
            kind: "thread",
            launch: first.launch,
            thread: first.thread,
            at: { record: first.record, lane: first.lane },
          });
      }}
    >
      →{" "}
      {first.launch ? (
        <ThreadText
          launch={first.launch !== op.launch ? launchOf(first) : undefined}
          thread={first.thread}
        />
      ) : (
        "host"
      )}
      {list.length > 1 || found.value.more
        ? ` +${found.value.more ? "many" : list.length - 1}`
        : ""}
    </button>
  );
}

// Data that all rows of an element share.
export interface ElementRows {
  pane: ElementPlace;
  buffer: Buffer | undefined;
  ops: Ops;
  lines: string[];
  widths: Record<string, string>; // of its columns
  selected: number;
  select(i: number): void;
  go(p: Pane): void;
}

// The field of a struct that an operation touched, if the pane shows the whole struct.
export function fieldName(op: Op, pane: ElementPlace): string {
  const t = bufferType(pane.buffer);
  if (!t.known || !op.buffer || op.bytes >= pane.bytes) return "";
  const path = leafAt(t, op.offset % t.bytes)?.path;
  return path ? `${path} ` : "";
}

function Value({ i, op, rows }: { i: number; op: Op; rows: ElementRows }) {
  const { ops, buffer } = rows;
  const write = writes(op);
  const field = fieldName(op, rows.pane);
  const orphan = !write && instanceOf(ops, i) === null;
  return (
    <span class="value num" title={doneHelp(op) || valueHex(op.value)}>
      {field && <span class="dim">{field}</span>}
      {orphan && op.kind === Kind.Load && !hostCanWrite(buffer) ? (
        <Badge kind="error">never written</Badge>
      ) : op.value === null && !write && undecided(ops, i) ? (
        <span
          class="dim"
          title={
            "the read was not recorded with its value, and nothing orders the writes before it"
          }
        >
          one of these
        </span>
      ) : op.kind === Kind.Atomic ? (
        <>{doneText(op)}</>
      ) : (
        opValue(op)
      )}
    </span>
  );
}

function Who({ i, op, rows: { ops, selected, go } }: { i: number; op: Op; rows: ElementRows }) {
  return (
    <span class="who">
      {op.launch ? <ThreadText thread={op.thread} /> : <span class="dim">the host</span>}
      {op.race && (
        <Badge
          kind="warning"
          title={
            `threads ${threadsOf([op, ...rivals(ops, i)])} touch this in ${launchOf(op)}, ` +
            "one of them writes, and nothing orders them"
          }
        >
          race
        </Badge>
      )}
      {writes(op) && op.launch > 0 && i === selected && <ReadBy op={op} go={go} />}
    </span>
  );
}

// Opens the thread that made the operation, or the copy or set of the host.
function openOp({ pane: { buffer, offset, bytes }, go }: ElementRows, op: Op) {
  const { launch, thread, record, lane, step } = op;
  if (launch) go({ kind: "thread", launch, thread, at: { record, lane } });
  else if (step) go({ kind: "step", step, buffer, offset, bytes });
}

export function ElementRow({ i, op, rows }: { i: number; op: Op; rows: ElementRows }) {
  const { ops, selected, lines } = rows;
  const before = i ? ops.get(i - 1) : undefined;
  const place = mainPlace(op.site);
  return (
    <div
      class={classes(
        "op elementrow",
        writes(op) ? "write" : "read",
        i === selected && "selected",
        op.race && "race",
        before?.step !== op.step && "begins",
      )}
      data-op={key(op)}
      data-index={i}
      role="button"
      tabIndex={i === selected ? 0 : -1}
      onClick={() => {
        rows.select(i);
        openOp(rows, op);
      }}
    >
      <span class={before && before.step === op.step ? "when again" : "when"}>{launchOf(op)}</span>
      <KindTag op={op} />
      <Value i={i} op={op} rows={rows} />
      <Who i={i} op={op} rows={rows} />
      <code class="snippet">
        {place && (
          <>
            <span>{place[1]}</span>
            <span class="text">{lines[place[1] - 1]?.trim()}</span>
          </>
        )}
      </code>
    </div>
  );
}
