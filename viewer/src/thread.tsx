// A thread: its operations in order, where each value came from, and its peers.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  Finding,
  Kind,
  Op,
  PAGE,
  ThreadSearch,
  Writers,
  buffers,
  conflictsOf,
  isStatic,
  key,
  launches,
  occurrencesOf,
  ofThread,
  searchThread,
  sites,
  writersOf,
} from "./api";
import {
  bufferName,
  bufferType,
  bytesOf,
  coordinates,
  elementName,
  hostCanWrite,
  interruptPart,
  launchName,
  launchOf,
  many,
  opElement,
  opValue,
  threadCount,
  triple,
  valueHex,
} from "./format";
import { FindOperation } from "./find";
import { Ops, useAgain, useAnswer, useOps } from "./hooks";
import { List } from "./list";
import {
  Badge,
  Button,
  Empty,
  Failure,
  FindingCard,
  KindTag,
  LaunchLink,
  PaneFrame,
  linesOf,
  mainPlace,
  useSource,
} from "./parts";
import { Pane, follow, replace } from "./trail";
import { watchedExpression } from "./watch";

export const ROW = 26;

// Who wrote what these loads saw: asked for rows in sight, a few at a time.
function useOrigins(ops: Ops) {
  const again = useAgain();
  const state = useRef({
    known: new Map<string, Writers>(),
    queue: [] as Op[],
    running: 0,
  }).current;
  function pump() {
    while (state.running < 3 && state.queue.length) {
      const o = state.queue.pop()!;
      if (state.known.has(key(o))) continue;
      state.running++;
      writersOf(o)
        .then(
          (w) => {
            state.known.set(key(o), w);
            again();
          },
          () => {},
        )
        .finally(() => {
          state.running--;
          pump();
        });
    }
  }
  return {
    of: (o: Op) => state.known.get(key(o)),
    lookAtAll: (o: Op) =>
      writersOf(o, true).then(
        (w) => {
          state.known.set(key(o), w);
          again();
        },
        () => {},
      ),
    want(first: number, last: number) {
      state.queue = [];
      for (let i = Math.min(last, ops.count) - 1; i >= first; i--) {
        const o = ops.get(i);
        if (o && (o.kind === Kind.Load || o.kind === Kind.Atomic) && !state.known.has(key(o)))
          state.queue.push(o);
      }
      pump();
    },
  };
}

function useConflicts(launch: number, thread: number, ops: Ops) {
  const again = useAgain();
  const known = useMemo(() => new Map<number, Op[]>(), [launch, thread]),
    asked = useMemo(() => new Set<number>(), [launch, thread]);
  useEffect(() => {
    for (const p of ops.pages.keys()) {
      if (asked.has(p)) continue;
      asked.add(p);
      conflictsOf(launch, thread, p * PAGE).then(
        (m) => {
          m.forEach((v, k) => known.set(k, v));
          if (m.size) again();
        },
        () => {},
      );
    }
  });
  return known;
}

// Another launch of the same kernel is known by its number alone.
function shortLaunch(here: Op, there: Op) {
  if (here.launch === there.launch) return "";
  const a = launches.get(here.launch),
    b = launches.get(there.launch);
  return a && b && a.kernel === b.kernel ? `#${b.number} ` : `${launchOf(there)} `;
}

// What the read may have seen, where that was not recorded and nothing decides.
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

// An access outside of every buffer, in any of the threads that a finding of the same instruction was counted in: the finding knows which buffer it missed.
function sameCode(op: Op, f: Finding): boolean {
  const s = sites.get(op.site),
    other = sites.get(f.site);
  return (
    !!s?.ptx_line &&
    s.ptx_line === other?.ptx_line &&
    s.function === other?.function &&
    launches.get(f.launch)?.kernel === launches.get(op.launch)?.kernel
  );
}
interface Missed {
  headline: string;
  allocation: number;
  offset: number;
}
function missed(op: Op, findings: Finding[]): Missed | undefined {
  if (op.buffer || op.space || op.address === null) return undefined;
  const at = BigInt(op.address);
  for (const f of findings) {
    if (!f.allocation || !f.address) continue;
    const there = BigInt(f.address);
    if ((f.launch === op.launch && there >= at && there < at + BigInt(op.bytes)) || sameCode(op, f))
      return {
        headline: f.headline,
        allocation: f.allocation,
        offset: f.offset + Number(at - there),
      };
  }
  return undefined;
}

function Origin({
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
  const [looking, setLooking] = useState(false);
  if (op.refused)
    return (
      <Badge
        kind="error"
        title={`memcheck found this ${op.kind === Kind.Atomic ? "atomic operation" : "store"} to be bad, and did not let it happen${outside ? `: ${outside.headline}` : ""}; address ${op.address}`}
      >
        {outside
          ? `outside of ${bufferName(buffers.get(outside.allocation), outside.allocation)}, `
          : ""}
        not made
      </Badge>
    );
  if (outside)
    return (
      <Badge kind="error" title={`${outside.headline}: address ${op.address}`}>
        outside of {bufferName(buffers.get(outside.allocation), outside.allocation)}
      </Badge>
    );
  const to = (w: Op, note: string, kind: string) =>
    w.launch ? (
      <button
        type="button"
        class={`go ${kind}`}
        title={`${note}: thread ${w.thread} of ${launchOf(w)}`}
        onClick={(e) => {
          e.stopPropagation();
          go({
            kind: "thread",
            launch: w.launch,
            thread: w.thread,
            at: { record: w.record, lane: w.lane },
          });
        }}
      >
        {kind === "race" ? "⚡" : "←"} {shortLaunch(op, w)}thread {w.thread}
      </button>
    ) : (
      <button
        type="button"
        class={`go ${kind}`}
        title={`${note} the host`}
        onClick={(e) => {
          e.stopPropagation();
          go({ kind: "step", step: w.step, buffer: op.buffer, offset: op.offset, bytes: op.bytes });
        }}
      >
        ← {launchOf(w)}
      </button>
    );
  const near = writers?.some && writers.ops.length === 1; // nothing says that it is the only one, but it is worth following
  const byHost =
    hostCanWrite(buffers.get(op.buffer)) &&
    (writers?.never_written || writers?.why === "nothing that is recorded wrote what was read");
  const others = new Map((conflicts ?? []).map((c) => [c.thread, c]));
  return (
    <>
      {writers && byHost ? (
        <span
          class="dim"
          title="nothing that was recorded wrote this value, and the host can write this memory itself"
        >
          the host, directly
        </span>
      ) : (
        writers?.never_written && !interruptPart(op) && <Badge kind="error">never written</Badge>
      )}
      {writers?.ambiguous && !near && !byHost && (
        <Badge
          kind="warning"
          title={
            writers.why ??
            "nothing orders these writes, and the value does not decide: follow the operation to see them"
          }
        >
          {candidates(op, writers)}
        </Badge>
      )}
      {writers &&
        !byHost &&
        !writers.never_written &&
        (!writers.ambiguous || near) &&
        writers.ops.slice(0, 1).map((w) => to(w, "written by", "from"))}
      {writers?.some && (
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
      )}
      {[...others.values()]
        .slice(0, 2)
        .map((c) =>
          to(
            c,
            c.kind === Kind.Load
              ? "read, in the same launch, by"
              : "also written, in the same launch, by",
            "race",
          ),
        )}
      {others.size > 2 && <span class="dim">+{others.size - 2}</span>}
    </>
  );
}

// The memory that an operation of a thread touched, as a pane of its own; undefined: none that is known.
export function memoryPane(o: Op): Pane | undefined {
  if (o.buffer)
    return {
      kind: "element",
      buffer: o.buffer,
      offset: o.offset,
      bytes: o.bytes,
      at: { record: o.record, lane: o.lane },
    };
  const l = launches.get(o.launch),
    per = l ? l.block[0] * l.block[1] * l.block[2] : 0;
  return o.space && o.address !== null && per
    ? {
        kind: "memory",
        launch: o.launch,
        space: o.space,
        block: Math.floor(o.thread / per),
        thread: o.space === 2 ? o.thread % per : 0,
        address: Number(o.address),
        bytes: o.bytes,
        at: { record: o.record, lane: o.lane },
      }
    : undefined;
}

// Where there is no room for all of a name its index stays: it is what tells one row from the next.
function ElementName({ text }: { text: string }) {
  const at = text.search(/\[|\+/);
  return at <= 0 ? (
    <>{text}</>
  ) : (
    <>
      <span class="base" style={{ maxWidth: `calc(100% - ${text.length - at}ch)` }}>
        {text.slice(0, at)}
      </span>
      {text.slice(at)}
    </>
  );
}
// A pointer leads to what it points to.
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
function pointsTo(hex: string): Pane | undefined {
  const at = bytesOf(hex).getBigUint64(0, true);
  for (const b of buffers.values()) {
    const base = BigInt(b.base);
    if (at >= base && at < base + BigInt(b.size))
      return {
        kind: "element",
        buffer: b.id,
        offset: Number(at - base),
        bytes: bufferType(b.id).bytes,
      };
  }
  return undefined;
}
const LONG = 60; // operations from which on a filter is worth its room
function Filter({
  search,
  choose,
  all,
  fit,
  jump,
  buffersUsed,
}: {
  search: ThreadSearch;
  choose(s: ThreadSearch): void;
  all?: number;
  fit?: number;
  jump(n: number): void;
  buffersUsed: number[];
}) {
  const active = search.kinds || search.line || search.allocation;
  return (
    <form
      class="filterbar"
      onSubmit={(e) => {
        e.preventDefault();
        const n = Number(new FormData(e.currentTarget).get("n"));
        if (Number.isFinite(n)) jump(n);
      }}
    >
      <label>
        show{" "}
        <select
          aria-label="kind of operation"
          value={search.kinds ?? 0}
          onChange={(e) => choose({ ...search, kinds: Number(e.currentTarget.value) || undefined })}
        >
          <option value={0}>all</option>
          <option value={1}>loads</option>
          <option value={2}>stores</option>
          <option value={4}>atomics</option>
          <option value={8}>barriers</option>
          <option value={16}>values</option>
        </select>
      </label>
      <label>
        line{" "}
        <input
          type="number"
          min={1}
          aria-label="only operations of this line"
          value={search.line ?? ""}
          onChange={(e) => choose({ ...search, line: Number(e.currentTarget.value) || undefined })}
        />
      </label>
      {buffersUsed.length > 1 && (
        <label>
          buffer{" "}
          <select
            aria-label="only operations on this buffer"
            value={search.allocation ?? 0}
            onChange={(e) =>
              choose({ ...search, allocation: Number(e.currentTarget.value) || undefined })
            }
          >
            <option value={0}>any</option>
            {buffersUsed.map((b) => (
              <option value={b}>{bufferName(buffers.get(b), b)}</option>
            ))}
          </select>
        </label>
      )}
      <label>
        go to #{" "}
        <input
          name="n"
          type="number"
          min={0}
          max={all ? all - 1 : undefined}
          aria-label="go to the operation of this number"
        />
      </label>
      <button class="button">go</button>
      <span class="dim">
        {active ? (fit === undefined ? "looking…" : `${many(fit)} of ${many(all ?? 0)}`) : ""}
      </span>
    </form>
  );
}

export function ThreadPane({
  pane,
  index,
  active,
  findings,
  flowUses,
}: {
  pane: Extract<Pane, { kind: "thread" }>;
  index: number;
  active: boolean;
  findings: Finding[];
  flowUses(launch: number): number[];
}) {
  const [search, setSearch] = useState<ThreadSearch>({}),
    [all, setAll] = useState<number>(),
    [fit, setFit] = useState<number>(),
    numbers = useRef(new Map<number, number>()).current;
  const filtered = !!(search.kinds || search.line || search.allocation);
  useEffect(() => {
    setSearch({});
    setAll(undefined);
    setFit(undefined);
  }, [pane.launch, pane.thread]);
  const ops = useOps(
    async (skip, first) => {
      if (!filtered)
        return ofThread(
          pane.launch,
          pane.thread,
          first && pane.skip ? Math.floor(pane.skip / PAGE) * PAGE : skip,
          first ? pane.at : undefined,
          findings.find((f) => f.id === pane.finding)?.site,
        );
      const found = await searchThread(
        pane.launch,
        pane.thread,
        { ...search, file: file ?? undefined },
        skip,
      );
      found.numbers.forEach((n, i) => numbers.set(skip + i, n));
      setFit(found.total);
      setAll(found.all);
      return found;
    },
    [pane.launch, pane.thread, JSON.stringify(pane.at), pane.skip, JSON.stringify(search)],
  );
  // Of a long thread the page does not say how many operations there are; counting takes a moment.
  useEffect(() => {
    if (filtered || ops.all || !ops.loaded || ops.error || isStatic()) return;
    if (all !== undefined) {
      ops.setTotal(all);
      return;
    }
    let gone = false;
    searchThread(pane.launch, pane.thread, {}, 0).then(
      (f) => {
        if (!gone) {
          setAll(f.all);
          ops.setTotal(f.all);
        }
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [ops.loaded, ops.all, pane.launch, pane.thread, filtered]);
  const l = launches.get(pane.launch);
  const origins = useOrigins(ops),
    conflicts = useConflicts(pane.launch, pane.thread, ops);
  const firstOp = ops.get(Math.max(0, ops.focus)) ?? ops.get(0);
  const file = firstOp && mainPlace(firstOp.site)?.[0];
  const source = useSource(file);
  const lines = linesOf(source.value);
  const [selected, select] = useState(-1);
  useEffect(
    () => select(pane.skip && !pane.at && ops.focus < 0 ? pane.skip : ops.focus),
    [ops.focus, pane.launch, pane.thread, pane.skip],
  );
  // All threads that findings of this kernel occurred in, not only the first of each.
  const repeated = findings
    .filter(
      (f) =>
        f.count > 1 &&
        f.thread !== undefined &&
        (f.launch === pane.launch || (l && launches.get(f.launch)?.kernel === l.kernel)),
    )
    .slice(0, 6);
  const elsewhere = useAnswer(
    () =>
      isStatic() || !repeated.length
        ? undefined
        : Promise.all(repeated.map((f) => occurrencesOf(f.id, 0))),
    [repeated.map((f) => f.id).join(), pane.launch],
  );
  const occurs = new Map<number, Set<number>>(
    (elsewhere.value ?? []).map((x, i) => [
      repeated[i].id,
      new Set(x.ops.filter((o) => o.launch === pane.launch).map((o) => o.thread)),
    ]),
  );
  const mine = findings.filter(
    (f) =>
      (f.launch === pane.launch && f.thread === pane.thread) || occurs.get(f.id)?.has(pane.thread),
  );
  // Which operations that are: those that the recording shows, or the one of the finding's own instruction; where there is none, all that touch its address.
  const shownIn = new Set((elsewhere.value ?? []).flatMap((x) => x.ops.map(key))),
    touches = (f: Finding, o: Op) =>
      !!f.address &&
      !!o.address &&
      BigInt(f.address) >= BigInt(o.address) &&
      BigInt(f.address) < BigInt(o.address) + BigInt(o.bytes);
  const exact = mine.filter((f) =>
    [...ops.pages.values()].some((page) =>
      page.some((o) => shownIn.has(key(o)) || (touches(f, o) && sameCode(o, f))),
    ),
  );
  const isMeant = (o: Op) =>
    shownIn.has(key(o)) ||
    mine.some((f) => touches(f, o) && (sameCode(o, f) || !exact.includes(f)));
  const total = l ? threadCount(l) : Infinity;
  const at = l && coordinates(l, pane.thread);
  const go = (p: Pane) => follow(index, p);
  const open = (o: Op) => {
    const p = memoryPane(o);
    if (p) go(p);
  };
  const beside = (thread: number) =>
    replace(index, { kind: "thread", launch: pane.launch, thread });

  const marked = new Map(
    findings
      .filter((f) => f.launch === pane.launch && f.thread !== undefined)
      .map((f) => [f.thread!, f.severity]),
  );
  for (const f of repeated)
    occurs.get(f.id)?.forEach((t) => {
      if (!marked.has(t)) marked.set(t, f.severity);
    });
  const longest = useMemo(() => {
    let n = 0;
    for (const page of ops.pages.values())
      for (const o of page) n = Math.max(n, opElement(o).length);
    return n;
  }, [ops.count, ops.pages.size, ops.loaded]);
  const peers: number[] = [];
  for (let t = pane.thread - 5; t <= pane.thread + 5; t++) if (t >= 0 && t < total) peers.push(t);

  return (
    <PaneFrame
      index={index}
      kind="thread"
      active={active}
      title={
        <>
          <span class="what">thread</span> {pane.thread}
        </>
      }
      tools={
        <>
          <Button
            icon="left"
            label="The thread before ([)"
            disabled={pane.thread === 0}
            onClick={() => beside(pane.thread - 1)}
          />
          <Button
            icon="right"
            label="The next thread (])"
            disabled={pane.thread + 1 >= total}
            onClick={() => beside(pane.thread + 1)}
          />
          {!isStatic() && (
            <Button
              icon="tree"
              label="Where this came from, as a tree (o)"
              disabled={!firstOp}
              onClick={() => {
                const o = ops.get(Math.max(0, selected)) ?? firstOp!;
                go({ kind: "slice", record: o.record, lane: o.lane });
              }}
            />
          )}
          {!isStatic() && (
            <Button
              icon="twins"
              label="Compare with another thread (v)"
              onClick={() =>
                go({
                  kind: "versus",
                  launch: pane.launch,
                  thread: pane.thread,
                  otherLaunch: pane.launch,
                  otherThread:
                    pane.thread + 1 < total ? pane.thread + 1 : Math.max(0, pane.thread - 1),
                  run: 0,
                })
              }
            />
          )}
          <Button
            icon="source"
            label="Source, with this thread's operations (s)"
            disabled={file === undefined || file < 0}
            onClick={() => {
              const p = mainPlace((ops.get(Math.max(0, selected)) ?? firstOp!).site);
              go({
                kind: "source",
                file: p![0],
                line: p![1],
                launch: pane.launch,
                thread: pane.thread,
              });
            }}
          />
        </>
      }
      sub={
        <>
          <LaunchLink
            id={pane.launch}
            onClick={() => go({ kind: "launch", launch: pane.launch })}
          />
          {at && (
            <span>
              {" "}
              · block {triple(at.block)} thread {triple(at.thread)} · lane {at.lane}
            </span>
          )}
          <span class="right">
            {ops.loaded && !ops.error
              ? `${many(filtered ? (all ?? 0) : ops.count)}${ops.all || filtered || all !== undefined ? "" : "+"} operation${ops.count === 1 ? "" : "s"}`
              : ""}
          </span>
        </>
      }
    >
      <nav class="peers" aria-label="peers of this thread">
        {peers.map((t) => (
          <button
            type="button"
            class={`peer ${t === pane.thread ? "here" : Math.abs(t - pane.thread) > 3 ? "far" : ""} ${marked.get(t) ?? ""}`}
            aria-current={t === pane.thread}
            title={marked.has(t) ? "has a finding" : `thread ${t} of ${launchName(l, pane.launch)}`}
            onClick={() => {
              if (t !== pane.thread) go({ kind: "thread", launch: pane.launch, thread: t });
            }}
          >
            {t}
          </button>
        ))}
      </nav>
      {mine.length > 0 && (
        <div class="cards">
          {mine.slice(0, 4).map((f) => (
            <FindingCard key={f.id} finding={f} go={go} here={pane} />
          ))}
        </div>
      )}
      {(filtered || (ops.loaded && ops.count > LONG)) && !isStatic() && (
        <Filter
          search={search}
          choose={setSearch}
          all={all ?? (ops.all ? ops.count : undefined)}
          fit={fit}
          buffersUsed={flowUses(pane.launch)}
          jump={(n) => {
            if (filtered) setSearch({});
            replace(
              index,
              { kind: "thread", launch: pane.launch, thread: pane.thread, skip: n },
              false,
            );
          }}
        />
      )}
      {!filtered && ops.loaded && ops.count > 12 && !isStatic() && (
        <div class="filterbar">
          <FindOperation
            from={selected}
            load={(skip) => ofThread(pane.launch, pane.thread, Math.floor(skip / PAGE) * PAGE)}
            found={(i) =>
              replace(
                index,
                { kind: "thread", launch: pane.launch, thread: pane.thread, skip: i },
                false,
              )
            }
          />
        </div>
      )}
      {ops.error ? (
        <Failure text={ops.error} />
      ) : !ops.loaded ? (
        <Empty>reading…</Empty>
      ) : ops.count === 0 ? (
        <Empty>
          {filtered
            ? "No operation of this thread fits."
            : "This thread did nothing that was recorded."}
        </Empty>
      ) : (
        <div
          class={ops.count > 999 ? "table long" : "table"}
          style={{ "--element": `${longest}ch` } as any}
        >
          <div class="columns threadrow" aria-hidden="true">
            <span>#</span>
            <span>line</span>
            <span>does</span>
            <span>element</span>
            <span class="num">value</span>
            <span>from · race</span>
            <span>source</span>
          </div>
          <List
            label="operations"
            count={ops.count}
            height={ROW}
            focus={selected}
            seen={(a, b) => {
              ops.seen(a, b);
              origins.want(a, b);
            }}
            row={(i) => {
              const o = ops.get(i);
              if (!o) return <span class="dim loading">…</span>;
              const p = mainPlace(o.site),
                outside = missed(o, findings),
                element = outside
                  ? elementName(outside.allocation, outside.offset, o.bytes)
                  : o.kind === Kind.Value
                    ? watchedExpression(p && p[0] === file ? (lines[p[1] - 1] ?? "") : "")
                    : opElement(o);
              const bad = o.refused || !!outside || isMeant(o);
              return (
                <div
                  class={`op threadrow ${i === selected ? "selected" : ""} ${bad ? "bad" : ""}`}
                  data-op={key(o)}
                  data-index={i}
                  role="button"
                  tabIndex={i === selected ? 0 : -1}
                  onClick={() => {
                    select(i);
                    open(o);
                  }}
                >
                  <span class="dim num">{filtered ? (numbers.get(i) ?? "") : i}</span>
                  <button
                    type="button"
                    class="lineno"
                    title="open the source"
                    onClick={(e) => {
                      e.stopPropagation();
                      if (p && p[0] >= 0)
                        go({
                          kind: "source",
                          file: p[0],
                          line: p[1],
                          launch: pane.launch,
                          thread: pane.thread,
                        });
                    }}
                  >
                    {p ? p[1] : "—"}
                  </button>
                  <KindTag op={o} />
                  <span
                    class="element"
                    title={o.address ? `${element}: ${o.bytes} bytes at ${o.address}` : ""}
                  >
                    <ElementName text={element} />
                  </span>
                  <span class="value num" title={valueHex(o.value)}>
                    {o.kind === Kind.Sync ? (
                      ""
                    ) : o.kind === Kind.Atomic && o.old !== null ? (
                      <>
                        {opValue(o, o.old)} <span class="dim">with</span> {opValue(o)}
                      </>
                    ) : (
                      <OpValue op={o} go={go} />
                    )}
                  </span>
                  <span class="origin">
                    <Origin
                      op={o}
                      writers={origins.of(o)}
                      lookAtAll={() => origins.lookAtAll(o)}
                      conflicts={filtered ? undefined : conflicts.get(i)}
                      outside={outside}
                      go={go}
                    />
                  </span>
                  <code class="snippet" title={p ? lines[p[1] - 1]?.trim() : ""}>
                    {p && p[0] === file ? lines[p[1] - 1]?.trim() : ""}
                  </code>
                </div>
              );
            }}
          />
        </div>
      )}
    </PaneFrame>
  );
}
