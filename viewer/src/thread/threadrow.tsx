// A row of a thread: one operation.
import { doneHelp, doneText } from "../run/atomic";
import { watchedExpression } from "../watch/watchdata";
import { Kind, Finding, key, Op } from "../run/api";
import { elementName, opElement, opValue, valueHex } from "../run/format";
import { memoryPane, pointsTo } from "./memorypane";
import { ElementName, KindTag, mainPlace } from "../parts/parts";
import { missed } from "./threadfindings";
import { ThreadOps, ThreadPlace, useOrigins } from "./threadops";
import { Origin } from "./threadorigin";
import { Pane } from "../parts/trail";

// A pointer links to the element that it points to.
function OpValue({ op, go }: { op: Op; go(p: Pane): void }) {
  const text = opValue(op),
    to =
      text.startsWith("&") && op.value !== null && op.value.length === 16
        ? pointsTo(op.value)
        : undefined;
  return to ? (
    <button
      type="button"
      class="link"
      title="what it points to"
      onClick={(e) => {
        e.stopPropagation();
        go(to);
      }}
    >
      {text}
    </button>
  ) : (
    <>{text}</>
  );
}

// Data that all rows of a thread share.
export interface ThreadRows {
  pane: ThreadPlace;
  findings: Finding[];
  of: ThreadOps;
  origins: ReturnType<typeof useOrigins>;
  conflicts: Map<number, Op[]>;
  lines: string[];
  widths: Record<string, string>; // of its columns
  selected: number;
  select(i: number): void;
  isMeant(o: Op): boolean;
  go(p: Pane): void;
}

export const valueText = (op: Op) =>
  op.kind === Kind.Sync ? "" : op.kind === Kind.Atomic ? doneText(op) : opValue(op);
function Value({ op, go }: { op: Op; go(p: Pane): void }) {
  return (
    <span class="value num" title={doneHelp(op) || valueHex(op.value)}>
      {op.kind === Kind.Sync || op.kind === Kind.Atomic ? (
        valueText(op)
      ) : (
        <OpValue op={op} go={go} />
      )}
    </span>
  );
}

function LineNumber({ op, rows: { pane, go } }: { op: Op; rows: ThreadRows }) {
  const place = mainPlace(op.site);
  return (
    <button
      type="button"
      class="lineno"
      title="open the source"
      onClick={(e) => {
        e.stopPropagation();
        const { launch, thread } = pane;
        if (place && place[0] >= 0)
          go({ kind: "source", file: place[0], line: place[1], launch, thread });
      }}
    >
      {place ? place[1] : "—"}
    </button>
  );
}

export function ThreadRow({ i, op, rows }: { i: number; op: Op; rows: ThreadRows }) {
  const { of, lines, selected, go } = rows;
  const place = mainPlace(op.site);
  const text = place && place[0] === of.file ? lines[place[1] - 1] : undefined;
  const outside = missed(op, rows.findings);
  const element = outside
    ? elementName(outside.allocation, outside.offset, op.bytes)
    : op.kind === Kind.Value
      ? watchedExpression(text ?? "")
      : opElement(op);
  const bad = op.refused || !!outside || rows.isMeant(op);
  return (
    <div
      class={`op threadrow ${i === selected ? "selected" : ""} ${bad ? "bad" : ""}`}
      data-op={key(op)}
      data-index={i}
      role="button"
      tabIndex={i === selected ? 0 : -1}
      onClick={() => {
        rows.select(i);
        const to = memoryPane(op);
        if (to) go(to);
      }}
    >
      <span class="dim num">{of.filtered ? (of.numbers.get(i) ?? "") : i}</span>
      <LineNumber op={op} rows={rows} />
      <KindTag op={op} />
      <span
        class="element"
        title={op.address ? `${element}: ${op.bytes} bytes at ${op.address}` : ""}
      >
        <ElementName text={element} />
      </span>
      <Value op={op} go={go} />
      <span class="origin">
        <Origin
          op={op}
          writers={rows.origins.of(op)}
          lookAtAll={() => rows.origins.lookAtAll(op)}
          conflicts={of.filtered ? undefined : rows.conflicts.get(i)}
          outside={outside}
          go={go}
        />
      </span>
      <code class="snippet" title={place ? lines[place[1] - 1]?.trim() : ""}>
        {text?.trim() ?? ""}
      </code>
    </div>
  );
}
