// An element of a buffer: every value it had, who wrote it and who read it; its neighbours beside it.
import { useEffect, useState } from "preact/hooks";
import {
  At,
  Buffer,
  Finding,
  Kind,
  Op,
  PAGE,
  askBytes,
  buffers,
  isStatic,
  key,
  launches,
  ofElement,
  readersOf,
  writes,
} from "./api";
import {
  addressOf,
  bufferName,
  bufferType,
  bytesText,
  counted,
  elementName,
  hexAt,
  hostCanWrite,
  kindName,
  knownOf,
  launchOf,
  many,
  opValue,
  partsText,
  scalarText,
  valueHex,
} from "./format";
import { FindOperation } from "./find";
import { Ops, useAnswer, useListen, useOps } from "./hooks";
import { onTime, stepBefore as before, timeStep } from "./time";
import { Type, leaves, onTypes, scalarType, typeHelp } from "./types";
import { List } from "./list";
import {
  Badge,
  Button,
  Empty,
  Failure,
  KindTag,
  PaneFrame,
  TypeChooser,
  linesOf,
  mainPlace,
  useSource,
} from "./parts";
import { ROW } from "./thread";
import { Pane, follow, replace } from "./trail";

// Which scalar of a struct the element is; undefined: all of it, or something else.
const partOf = (pane: { offset: number; bytes: number }, t: Type, size: number) =>
  pane.bytes < size
    ? leaves(t, 400).find((l) => l.offset === pane.offset % size && l.bytes === pane.bytes)
    : undefined;

function Neighbours({
  buffer,
  pane,
  step,
  findings,
  go,
}: {
  buffer: Buffer;
  pane: Extract<Pane, { kind: "element" }>;
  step: number;
  findings: Finding[];
  go(p: Pane): void;
}) {
  const t = bufferType(pane.buffer),
    size = t.known ? t.bytes : pane.bytes;
  // Of an element that is a part of a struct, the same part of its neighbours.
  const within = pane.offset % size,
    part = partOf(pane, t, size),
    width = part ? part.bytes : size,
    skip = part ? within : 0;
  const at = Math.floor(pane.offset / size),
    first = Math.max(0, at - 2),
    last = Math.min(Math.floor(buffer.size / size), at + 3);
  const contents = useAnswer(
    () =>
      last > first
        ? askBytes("contents", {
            allocation: pane.buffer,
            step,
            offset: first * size,
            bytes: (last - first) * size,
          })
        : undefined,
    [pane.buffer, step, first, last, size],
  );
  const cells = [];
  for (let i = first; i < last; i++) {
    let text = "…",
      state = "";
    if (contents.value) {
      const n = (last - first) * size,
        d = new DataView(contents.value, 0, n),
        begin = (i - first) * size + skip,
        known = new Uint8Array(contents.value, n, n).subarray(begin, begin + width);
      state = knownOf(known, t, skip);
      const one = new DataView(contents.value, begin, width);
      text =
        state === "unwritten"
          ? "never written"
          : state
            ? "not recorded"
            : (part
                ? scalarText(one, 0, part.scalar)
                : partsText(one, t, 0).replace(/^\((.*)\)$/, "$1")) || hexAt(d, begin, width);
    }
    const bad = findings.find(
      (f) => f.allocation === pane.buffer && Math.floor(f.offset / size) === i,
    );
    cells.push(
      <button
        type="button"
        class={`cell ${state} ${i === at ? "here" : ""} ${bad?.severity ?? ""}`}
        title={bad ? bad.headline : elementName(pane.buffer, i * size + skip, width)}
        onClick={() => {
          if (i !== at)
            go({
              kind: "element",
              buffer: pane.buffer,
              offset: i * size + (pane.offset % size),
              bytes: pane.bytes,
            });
        }}
      >
        <span class="index">{elementName(pane.buffer, i * size + skip, width)}</span>
        <span class="num">{text}</span>
      </button>,
    );
  }
  return (
    <nav class="neighbours" aria-label="neighbouring elements">
      {cells}
    </nav>
  );
}

const END = 0xffffffff; // a step after all others

// Reads after a write belong to it until the next write.
function instanceOf(ops: Ops, i: number) {
  for (let k = i; k >= 0; k--) {
    const o = ops.get(k);
    if (!o) return undefined;
    if (writes(o)) return o;
  }
  return null;
}
// The server says which operations nothing orders; here are others of its launch that one of them may race with.
function rivals(ops: Ops, i: number): Op[] {
  const o = ops.get(i)!,
    out: Op[] = [];
  for (const d of [-1, 1])
    for (let k = i + d; o.race && k >= 0 && k < ops.count && Math.abs(k - i) < 256; k += d) {
      const x = ops.get(k);
      if (!x || x.launch !== o.launch) break;
      if (x.race && (writes(x) || writes(o)) && x.thread !== o.thread) out.push(x);
    }
  return out;
}

// A read whose value follows from a write that has rivals.
function undecided(ops: Ops, i: number): boolean {
  for (let k = i; k >= 0; k--) {
    const o = ops.get(k);
    if (!o) return false;
    if (writes(o)) return o.race;
  }
  return false;
}

export function ElementPane({
  pane,
  index,
  active,
  findings,
}: {
  pane: Extract<Pane, { kind: "element" }>;
  index: number;
  active: boolean;
  findings: Finding[];
}) {
  const b = buffers.get(pane.buffer);
  useListen(onTypes, onTime);
  // Where no operation was followed, the cursor of time chooses: the last operation up to its step.
  const step0 = pane.at ? 0 : (pane.step ?? timeStep()),
    atEnd = !pane.at && !step0;
  const ops = useOps(
    async (skip, first) => {
      if (!b) throw new Error("there is no such buffer");
      const load = (focus?: At | { step: number; write?: boolean }) =>
        ofElement(pane.buffer, addressOf(b, pane.offset), pane.bytes, skip, focus);
      if (!first || !atEnd) return load(first ? (pane.at ?? { step: step0 }) : undefined);
      // At the end of the run the last value is what one came for: of long lists the server looks for its page.
      const beginning = await load(),
        page = beginning.more ? await load({ step: END, write: true }) : beginning,
        last = page.ops.map(writes).lastIndexOf(true);
      return { ...page, index: last >= 0 ? page.skip + last : page.index };
    },
    [pane.buffer, pane.offset, pane.bytes, b?.base, JSON.stringify(pane.at), step0],
    5,
  );
  const [selected, select] = useState(-1);
  useEffect(() => select(ops.focus), [ops.focus, pane.buffer, pane.offset]);
  const chosen = ops.get(selected) ?? ops.get(ops.count - 1);
  const go = (p: Pane) => follow(index, p);
  // Thousands of reads may lie between two writes.
  const toWrite = async (by: number) => {
    if (!b) return;
    for (
      let i = (selected < 0 ? (by > 0 ? -1 : ops.count) : selected) + by, looked = 0;
      i >= 0 && looked < 2000;
      looked++
    ) {
      const k = Math.floor(i / PAGE),
        known = ops.pages.get(k),
        page = known
          ? { ops: known, more: true }
          : await ofElement(pane.buffer, addressOf(b, pane.offset), pane.bytes, k * PAGE);
      for (let j = i - k * PAGE; j >= 0 && j < page.ops.length; j += by)
        if (writes(page.ops[j])) {
          const o = page.ops[j];
          if (known) select(k * PAGE + j);
          else
            replace(
              index,
              { ...pane, at: { record: o.record, lane: o.lane }, step: undefined },
              false,
            );
          return;
        }
      if (!page.ops.length || (by > 0 && (!page.more || page.ops.length < PAGE))) return;
      i = by > 0 ? (k + 1) * PAGE : k * PAGE - 1;
    }
  };
  const t = bufferType(pane.buffer),
    size = t.known ? t.bytes : pane.bytes,
    help = typeHelp(b);
  const beside = (by: number) =>
    replace(index, {
      kind: "element",
      buffer: pane.buffer,
      offset: pane.offset + by * size,
      bytes: pane.bytes,
    });
  const sample =
    ops.get(0) && ops.pages.size ? [...ops.pages.values()][0].find((o) => o.site) : undefined;
  const source = useSource(sample && mainPlace(sample.site)?.[0]);
  const lines = linesOf(source.value);
  // What happened before this step is what the neighbours held when the chosen operation happened.
  const step = !chosen ? 0 : chosen.kind === Kind.Load ? stepBefore(chosen) : chosen.step;

  return (
    <PaneFrame
      index={index}
      kind="element"
      active={active}
      title={
        <>
          <span class="what">
            {!t.known
              ? `${pane.bytes} bytes`
              : partOf(pane, t, size)
                ? scalarType(partOf(pane, t, size)!.scalar).name
                : t.name}
          </span>{" "}
          {elementName(pane.buffer, pane.offset, pane.bytes)}
        </>
      }
      tools={
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
            onClick={() => {
              go({ kind: "buffer", buffer: pane.buffer, step: 0, width: 0 });
            }}
          />
        </>
      }
      sub={
        b && (
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
        )
      }
    >
      {help && (
        <div class="help" role="note">
          {help}
        </div>
      )}
      {b && ops.loaded && (
        <Neighbours buffer={b} pane={pane} step={step} findings={findings} go={go} />
      )}
      {ops.error ? (
        <Failure text={ops.error} />
      ) : !ops.loaded ? (
        <Empty>reading…</Empty>
      ) : ops.count === 0 ? (
        <Empty>Nobody touched this element: it was never written and never read.</Empty>
      ) : (
        <>
          {ops.count > 6 && !isStatic() && b && (
            <div class="filterbar">
              <FindOperation
                from={selected}
                load={(skip) =>
                  ofElement(
                    pane.buffer,
                    addressOf(b, pane.offset),
                    pane.bytes,
                    Math.floor(skip / PAGE) * PAGE,
                  )
                }
                found={(_, o) =>
                  replace(
                    index,
                    { ...pane, at: { record: o.record, lane: o.lane }, step: undefined },
                    false,
                  )
                }
              />
            </div>
          )}
          <div class="columns elementrow" aria-hidden="true">
            <span>when</span>
            <span>does</span>
            <span class="num">value</span>
            <span>who</span>
            <span>source</span>
          </div>
          {ops.followed && (
            <div class="pinned" role="note">
              The one you followed ({launchOf(ops.followed)},{" "}
              {ops.followed.launch ? `thread ${ops.followed.thread}` : "the host"}:{" "}
              {kindName[ops.followed.kind]} {opValue(ops.followed)}) comes after very many others;
              these are the first.
            </div>
          )}
          <List
            label="operations on this element"
            count={ops.count}
            height={ROW}
            focus={selected}
            seen={ops.seen}
            row={(i) => {
              const o = ops.get(i);
              if (!o) return <span class="dim loading">…</span>;
              const before = i ? ops.get(i - 1) : undefined,
                p = mainPlace(o.site),
                w = writes(o),
                others = rivals(ops, i);
              const orphan = !w && instanceOf(ops, i) === null;
              return (
                <div
                  class={`op elementrow ${w ? "write" : "read"} ${i === selected ? "selected" : ""} ${o.race ? "race" : ""} ${!before || before.step !== o.step ? "begins" : ""}`}
                  data-op={key(o)}
                  data-index={i}
                  role="button"
                  tabIndex={i === selected ? 0 : -1}
                  onClick={() => {
                    select(i);
                    if (o.launch)
                      go({
                        kind: "thread",
                        launch: o.launch,
                        thread: o.thread,
                        at: { record: o.record, lane: o.lane },
                      });
                    else if (o.step)
                      go({
                        kind: "step",
                        step: o.step,
                        buffer: pane.buffer,
                        offset: pane.offset,
                        bytes: pane.bytes,
                      });
                  }}
                >
                  <span class={before && before.step === o.step ? "when again" : "when"}>
                    {launchOf(o)}
                  </span>
                  <KindTag op={o} />
                  <span class="value num" title={valueHex(o.value)}>
                    {orphan && o.kind === Kind.Load && !hostCanWrite(b) ? (
                      <Badge kind="error">never written</Badge>
                    ) : o.value === null && !w && undecided(ops, i) ? (
                      <span
                        class="dim"
                        title="the read was not recorded with its value, and nothing orders the writes before it"
                      >
                        one of these
                      </span>
                    ) : o.kind === Kind.Atomic && o.old !== null ? (
                      <>
                        {opValue(o, o.old)} <span class="dim">with</span> {opValue(o)}
                      </>
                    ) : (
                      opValue(o)
                    )}
                  </span>
                  <span class="who">
                    {o.launch ? <>thread {o.thread}</> : <span class="dim">the host</span>}
                    {o.race && (
                      <Badge
                        kind="warning"
                        title={`threads ${[...new Set([o, ...others].map((x) => x.thread))].slice(0, 20).join(", ")} touch this in ${launchOf(o)}, one of them writes, and nothing orders them`}
                      >
                        race
                      </Badge>
                    )}
                    {w && o.launch > 0 && i === selected && <ReadBy op={o} go={go} />}
                  </span>
                  <code class="snippet">
                    {p && (
                      <>
                        <span>{p[1]}</span>
                        <span class="text">{lines[p[1] - 1]?.trim()}</span>
                      </>
                    )}
                  </code>
                </div>
              );
            }}
          />
        </>
      )}
    </PaneFrame>
  );
}

// Who read what this operation wrote.
function ReadBy({ op, go }: { op: Op; go(p: Pane): void }) {
  const found = useAnswer(() => readersOf(op), [op.record, op.lane]),
    list = found.value?.ops ?? [],
    first = list[0];
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
      {first.launch
        ? `${first.launch !== op.launch ? `${launchOf(first)} ` : ""}thread ${first.thread}`
        : "host"}
      {list.length > 1 || found.value.more
        ? ` +${found.value.more ? "many" : list.length - 1}`
        : ""}
    </button>
  );
}

// The state that a launch finds is that after the step before.
function stepBefore(o: Op) {
  return before(launches.get(o.launch)?.step || o.step);
}
