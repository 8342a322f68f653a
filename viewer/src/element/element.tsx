// An element of a buffer: every value it had, with its writers and readers; its neighbours beside
// it.
import { useEffect, useState } from "preact/hooks";
import { doneText } from "../run/atomic";
import { Buffer, buffers, Finding, isStatic, Kind, Op, PAGE } from "../run/api";
import { Neighbours, partOf } from "./elementneighbours";
import { elementPage, ElementPlace, findWrite, stepSeenBy, useElementOps } from "./elementops";
import { ElementRow, ElementRows, fieldName } from "./elementrow";
import { FindOperation } from "../parts/find";
import { ROW } from "../flow/flowpagelayout";
import {
  bufferName,
  bytesText,
  counted,
  elementName,
  kindName,
  launchOf,
  many,
  opValue,
} from "../run/format";
import { useColumns } from "../parts/columns";
import { Ops, useListen } from "../parts/hooks";
import { List } from "../parts/list";
import {
  Button,
  Empty,
  Failure,
  linesOf,
  mainPlace,
  PaneFrame,
  TypeChooser,
  useSource,
} from "../parts/parts";
import { onTime } from "../run/time";
import { follow, Pane, replace } from "../parts/trail";
import { bufferType, onTypes, scalarType, typeHelp } from "../run/types";

function ElementTitle({ pane }: { pane: ElementPlace }) {
  const t = bufferType(pane.buffer);
  const part = partOf(pane, t, t.known ? t.bytes : pane.bytes);
  return (
    <>
      <span class="what">
        {!t.known ? `${pane.bytes} bytes` : part ? scalarType(part.scalar).name : t.name}
      </span>{" "}
      {elementName(pane.buffer, pane.offset, pane.bytes)}
    </>
  );
}

// Goes to an operation on the element: its page may not have been read yet.
const goToOp = (index: number, pane: ElementPlace, { record, lane }: Op) =>
  replace(index, { ...pane, at: { record, lane }, step: undefined }, false);

function ElementTools({ rows, index }: { rows: ElementRows; index: number }) {
  const { pane, buffer: b, ops, selected } = rows;
  const t = bufferType(pane.buffer);
  const size = t.known ? t.bytes : pane.bytes;
  const toWrite = async (by: number) => {
    const found = b && (await findWrite({ ops, pane, buffer: b }, selected, by));
    if (found?.known) rows.select(found.index);
    else if (found) goToOp(index, pane, found.op);
  };
  const beside = (by: number) =>
    replace(index, {
      kind: "element",
      buffer: pane.buffer,
      offset: pane.offset + by * size,
      bytes: pane.bytes,
    });
  return (
    <>
      <TypeChooser buffer={pane.buffer} type={t} />
      {ops.count > 2 && (
        <>
          <Button icon="up" label="The write before ({)" onClick={() => void toWrite(-1)} />
          <Button icon="down" label="The next write (})" onClick={() => void toWrite(1)} />
        </>
      )}
      <Button
        icon="left"
        label="The element before ([)"
        disabled={pane.offset < size}
        onClick={() => beside(-1)}
      />
      <Button
        icon="right"
        label="The next element (])"
        disabled={!b || pane.offset + size + pane.bytes > b.size}
        onClick={() => beside(1)}
      />
      <Button
        icon="picture"
        label="The buffer as a picture (b)"
        onClick={() => rows.go({ kind: "buffer", buffer: pane.buffer, step: 0, width: 0 })}
      />
    </>
  );
}

function ElementSub({ buffer: b, ops }: { buffer: Buffer; ops: Ops }) {
  return (
    <>
      <span title={b.why ? `type from ${b.why}` : undefined}>
        {bufferName(b)}: {bytesText(b.size)} of {b.kind ?? "device"} memory at {b.base}
      </span>{" "}
      <span class="right">
        {ops.loaded && !ops.error
          ? ops.all
            ? counted(ops.count, "operation")
            : `more than ${many(ops.least)} operations`
          : ""}
      </span>
    </>
  );
}

function ElementSearch({ rows, index }: { rows: ElementRows; index: number }) {
  const { pane, buffer: b, ops, selected } = rows;
  if (ops.count <= 6 || isStatic() || !b) return <></>;
  return (
    <div class="filterbar">
      <FindOperation
        from={selected}
        load={(skip) => elementPage(b, pane, Math.floor(skip / PAGE) * PAGE)}
        found={(_, o) => goToOp(index, pane, o)}
      />
    </div>
  );
}

// An operation that is not on the pages that were read.
function followedText(o: Op) {
  const who = o.launch ? `thread ${o.thread}` : "the host";
  const what = `${launchOf(o)}, ${who}: ${kindName[o.kind]} ${opValue(o)}`;
  return `The one you followed (${what}) comes after very many others; these are the first.`;
}

function ElementTable({ rows, index }: { rows: ElementRows; index: number }) {
  const { ops } = rows;
  const { followed } = ops;
  if (ops.error) return <Failure text={ops.error} />;
  if (!ops.loaded) return <Empty>reading…</Empty>;
  if (ops.count === 0)
    return <Empty>Nobody touched this element: it was never written and never read.</Empty>;
  return (
    <div class="table" style={rows.widths as any}>
      <ElementSearch rows={rows} index={index} />
      <div class="columns elementrow" aria-hidden="true">
        <span>when</span>
        <span>does</span>
        <span class="num">value</span>
        <span>
          <span class="wide">who</span>
          <span class="tight">thread</span>
        </span>
        <span>source</span>
      </div>
      {followed && (
        <div class="pinned" role="note">
          {followedText(followed)}
        </div>
      )}
      <List
        label="operations on this element"
        count={ops.count}
        height={ROW}
        focus={rows.selected}
        seen={ops.seen}
        row={(i) => {
          const op = ops.get(i);
          if (!op) return <span class="dim loading">…</span>;
          return <ElementRow i={i} op={op} rows={rows} />;
        }}
      />
    </div>
  );
}

export function ElementPane({
  pane,
  index,
  active,
  findings,
}: {
  pane: ElementPlace;
  index: number;
  active: boolean;
  findings: Finding[];
}) {
  const b = buffers.get(pane.buffer);
  useListen(onTypes, onTime);
  const ops = useElementOps(pane, b);
  const [selected, select] = useState(-1);
  useEffect(() => select(ops.focus), [ops.focus, pane.buffer, pane.offset]);
  const chosen = ops.get(selected) ?? ops.get(ops.count - 1);
  const help = typeHelp(b);
  const sample =
    ops.get(0) && ops.pages.size ? [...ops.pages.values()][0].find((o) => o.site) : undefined;
  const source = useSource(sample && mainPlace(sample.site)?.[0]);
  const go = (p: Pane) => follow(index, p);
  const lines = linesOf(source.value);
  const value = (o: Op) => fieldName(o, pane) + (o.kind === Kind.Atomic ? doneText(o) : opValue(o));
  const widths = useColumns(ops, { when: launchOf, value }, [pane.offset, pane.buffer]);
  const rows: ElementRows = { pane, buffer: b, ops, lines, widths, selected, select, go };
  return (
    <PaneFrame
      index={index}
      kind="element"
      active={active}
      title={<ElementTitle pane={pane} />}
      tools={<ElementTools rows={rows} index={index} />}
      sub={b && <ElementSub buffer={b} ops={ops} />}
    >
      {help && (
        <div class="help" role="note">
          {help}
        </div>
      )}
      {b && ops.loaded && (
        <Neighbours buffer={b} pane={pane} step={stepSeenBy(chosen)} findings={findings} go={go} />
      )}
      <ElementTable rows={rows} index={index} />
    </PaneFrame>
  );
}
