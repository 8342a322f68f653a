// A launch: what it was given, who launched it, what was found in it. And a finding that is not about a thread.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  Finding,
  Kind,
  Launch,
  LaunchInfo,
  Op,
  ask,
  buffers,
  isStatic,
  racesOf,
  sites,
} from "./api";
import {
  bufferName,
  counted,
  duration,
  launchName,
  many,
  opElement,
  streamNames,
  streamOf,
  threadCount,
  triple,
} from "./format";
import { useAnswer } from "./hooks";
import { Button, Empty, Failure, FindingCard, HostStack, PaneFrame, mainPlace } from "./parts";
import { RaceProgress, RaceSearch } from "./races";
import { colour, scales } from "./picture";
import { parameterType, parameterValue } from "./parameters";
import { memoryPane } from "./thread";
import { allSteps } from "./time";
import { Pane, follow } from "./trail";
import { bufferType, leaves } from "./types";

// The first number of a buffer's elements, where their type is known.
function firstLeaf(buffer: number) {
  const t = bufferType(buffer),
    l = t.known ? leaves(t, 1)[0] : undefined;
  return l && l.scalar !== "ptr" && !l.bits
    ? { scalar: l.scalar === "bool" ? "u8" : l.scalar, stride: t.bytes, offset: l.offset }
    : undefined;
}
// The grid as a map of blocks, coloured by what they did; a block and a thread in it can be opened by their places.
function Blocks({
  launch: l,
  findings,
  open,
  touch,
}: {
  launch: Launch;
  findings: Finding[];
  open(block: number, thread: number): void;
  touch(buffer: number, first: number, last: number): void;
}) {
  const [by, setBy] = useState("operations"),
    [at, setAt] = useState<number[]>([0, 0, 0, 0, 0, 0]),
    [hover, setHover] = useState(-1),
    canvas = useRef<HTMLCanvasElement>(null);
  const [who, setWho] = useState<"block" | "warp" | "thread">("block"),
    uses = allSteps.find((s) => s.kind === "launch" && s.launch === l.id)?.uses ?? [];
  const j = useAnswer<{
      blocks: number[];
      began: number[];
      took: number[];
      counts: [
        site: number,
        operations: number,
        records: number,
        divergent: number,
        passes: number,
      ][];
    }>(() => ask("counts", { launch: l.id }), [l.id]),
    blocks = j.value?.blocks ?? [],
    per = l.block[0] * l.block[1] * l.block[2],
    n = l.grid[0] * l.grid[1] * l.grid[2];
  const width =
      l.grid[1] * l.grid[2] > 1 ? l.grid[0] : Math.min(n, Math.max(1, Math.ceil(Math.sqrt(n * 3)))),
    rows = Math.ceil(n / width),
    dot = Math.max(1, Math.min(36, Math.floor(420 / width), Math.floor(300 / rows) || 1));
  const found = useMemo(() => {
    const m = new Map<number, number>();
    for (const f of findings)
      if (f.thread !== undefined) {
        const b = Math.floor(f.thread / per);
        m.set(b, (m.get(b) ?? 0) + f.count);
      }
    return m;
  }, [findings, per]);
  // A buffer: the mean of what each block stored there.
  const written = uses.filter((u) => u[1] & 2 && firstLeaf(u[0])),
    buffer = by.startsWith("buffer ") ? Number(by.slice(7)) : 0,
    leaf = buffer ? firstLeaf(buffer) : undefined;
  const means = useAnswer<{ means: (number | null)[]; odd: number[] }>(
    () =>
      leaf
        ? ask("block_values", {
            launch: l.id,
            allocation: buffer,
            type: leaf.scalar,
            stride: leaf.stride,
            offset: leaf.offset,
          })
        : undefined,
    [l.id, buffer],
  );
  const values = useMemo<(number | null)[]>(
    () =>
      by === "findings"
        ? Array.from({ length: n }, (_, i) => found.get(i) ?? null)
        : by === "began" || by === "took"
          ? (j.value?.[by] ?? []).map((x) => (x < 0 ? null : x))
          : buffer
            ? (means.value?.means ?? [])
            : blocks.map((x) => x || null),
    [by, j.value, means.value, found],
  );
  const [least, most] = useMemo(() => {
    let a = Infinity,
      z = -Infinity;
    for (const v of values)
      if (v !== null) {
        if (v < a) a = v;
        if (v > z) z = v;
      }
    return [by === "findings" ? 0 : a, z];
  }, [values]);
  const said = (v: number) =>
    by === "operations"
      ? counted(v, "operation")
      : by === "findings"
        ? counted(v, "finding")
        : by === "began"
          ? `began ${duration(v)} after the first`
          : by === "took"
            ? `took ${duration(v)}`
            : `stored ${Number(v.toPrecision(6))} in the mean`;
  useEffect(() => {
    const c = canvas.current;
    if (!c || !blocks.length) return;
    c.width = width * dot;
    c.height = rows * dot;
    const g = c.getContext("2d")!,
      odd = new Set(buffer ? means.value?.odd : []),
      inside = Math.max(1, dot - (dot > 3 ? 1 : 0));
    for (let i = 0; i < n; i++) {
      const v = values[i] ?? null,
        t = v === null ? 0 : most > least ? (v - least) / (most - least) : 0.5,
        x = (i % width) * dot,
        y = Math.floor(i / width) * dot;
      g.fillStyle =
        v === null
          ? "rgba(128, 128, 128, .25)"
          : buffer
            ? `rgb(${colour(t, scales.viridis).map(Math.round).join()})`
            : `hsl(${by === "findings" ? 0 : by === "operations" ? 215 : 30} 65% ${88 - 50 * t}%)`;
      g.fillRect(x, y, inside, inside);
      if (odd.has(i)) {
        g.fillStyle = "rgb(255, 0, 170)";
        g.fillRect(x, y, Math.max(2, dot / 2), Math.max(2, dot / 2));
      }
      if (by !== "findings" && found.has(i)) {
        g.fillStyle = "#d70015";
        g.fillRect(x, y, Math.max(2, dot / 3), Math.max(2, dot / 3));
      }
    }
  }, [blocks, values, width, dot, found]);
  const blockAt = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect(),
      i = Math.floor((e.clientY - r.top) / dot) * width + Math.floor((e.clientX - r.left) / dot);
    return i >= 0 && i < n ? i : -1;
  };
  const place = (b: number) => [
    b % l.grid[0],
    Math.floor(b / l.grid[0]) % l.grid[1],
    Math.floor(b / l.grid[0] / l.grid[1]),
  ];
  const number = (i: number, most: number, label: string) => (
    <input
      type="number"
      min={0}
      max={most - 1}
      value={at[i]}
      aria-label={label}
      onChange={(e) =>
        setAt(
          at.map((x, k) =>
            k === i
              ? Math.max(0, Math.min(most - 1, Math.floor(Number(e.currentTarget.value))))
              : x,
          ),
        )
      }
    />
  );
  return (
    <>
      <section>
        <h3>
          Blocks{" "}
          <label class="plain">
            coloured by{" "}
            <select
              value={by}
              aria-label="what the colours of blocks mean"
              onChange={(e) => setBy(e.currentTarget.value)}
            >
              <option>operations</option>
              <option>findings</option>
              <option value="began">when it began</option>
              <option value="took">how long it took</option>
              {written.length > 0 && (
                <optgroup label="what it stored in">
                  {written.slice(0, 40).map((u) => (
                    <option value={`buffer ${u[0]}`}>{bufferName(buffers.get(u[0]), u[0])}</option>
                  ))}
                </optgroup>
              )}
            </select>
          </label>
          {values.length > 0 && most >= least && (
            <span class="plain dim">
              {most > least ? (
                <>
                  {said(least)} <i class={`blockramp ${buffer ? "viridis" : by}`} /> {said(most)}
                </>
              ) : (
                `each ${said(most)}`
              )}
            </span>
          )}
        </h3>
        {means.error && <Failure text={means.error} />}
        {j.error ? (
          <p class="dim">not recorded</p>
        ) : (
          <div class="blocks">
            <canvas
              ref={canvas}
              role="img"
              aria-label={`map of ${n} blocks`}
              onMouseMove={(e) => setHover(blockAt(e))}
              onMouseLeave={() => setHover(-1)}
              onClick={(e) => {
                const b = blockAt(e);
                if (b >= 0) open(b, 0);
              }}
            />
            <p class="dim">
              {hover >= 0
                ? `block ${triple(place(hover))}: ${counted(blocks[hover] ?? 0, "operation")}${by !== "operations" && by !== "findings" && values[hover] !== null && values[hover] !== undefined ? `, ${said(values[hover]!)}` : ""}${buffer && means.value?.odd.includes(hover) ? ", NaN or infinite among them" : ""}${found.has(hover) ? `, ${counted(found.get(hover)!, "finding")}` : ""}`
                : "a click opens the first thread of a block"}
            </p>
          </div>
        )}
        <form
          class="inline places"
          onSubmit={(e) => {
            e.preventDefault();
            open(
              at[0] + l.grid[0] * (at[1] + l.grid[1] * at[2]),
              at[3] + l.block[0] * (at[4] + l.block[1] * at[5]),
            );
          }}
        >
          block {number(0, l.grid[0], "block x")}
          {number(1, l.grid[1], "block y")}
          {number(2, l.grid[2], "block z")} thread {number(3, l.block[0], "thread x")}
          {number(4, l.block[1], "thread y")}
          {number(5, l.block[2], "thread z")}
          <button class="button">open</button>
        </form>
        {uses.length > 0 && (
          <p class="inline places touches">
            what this{" "}
            <select
              aria-label="whose accesses"
              value={who}
              onChange={(e) => setWho(e.currentTarget.value as any)}
            >
              <option>block</option>
              <option>warp</option>
              <option>thread</option>
            </select>{" "}
            touched in{" "}
            {uses.slice(0, 12).map((u) => (
              <button
                type="button"
                class="link"
                onClick={() => {
                  const block = (at[0] + l.grid[0] * (at[1] + l.grid[1] * at[2])) * per,
                    inside = at[3] + l.block[0] * (at[4] + l.block[1] * at[5]),
                    first =
                      who === "block"
                        ? block
                        : who === "warp"
                          ? block + (inside & ~31)
                          : block + inside,
                    last =
                      who === "block"
                        ? block + per - 1
                        : who === "warp"
                          ? Math.min(block + per - 1, first + 31)
                          : first;
                  touch(u[0], first, last);
                }}
              >
                {bufferName(buffers.get(u[0]), u[0])}
              </button>
            ))}
          </p>
        )}
      </section>
      {(j.value?.counts ?? []).some((c) => c[4] > 0) && (
        <section>
          <h3>Bank conflicts in shared memory</h3>
          <table class="banks">
            <tbody>
              {j
                .value!.counts.filter((c) => c[4] > 0)
                .sort((a, b) => b[4] - a[4])
                .slice(0, 20)
                .map((c) => (
                  <tr>
                    <td>line {mainPlace(c[0])?.[1] ?? "?"}</td>
                    <td>
                      <code>{sites.get(c[0])?.object?.replace(/^.*E\d+/, "") ?? ""}</code>
                    </td>
                    <td>
                      {counted(c[4], "extra pass", "extra passes")} for {many(c[2])} accesses of
                      warps: {Number((1 + c[4] / c[2]).toPrecision(3))} each
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

// A run with --record=inputs: warpgrind expand runs the launch again, recorded; the result is a page of its own.
function RecordInFull({ number }: { number: number }) {
  const [state, set] = useState<"" | "running" | "done">(""),
    [error, setError] = useState("");
  const go = async () => {
    set("running");
    setError("");
    try {
      const r = await fetch(`api/expand?launch=${number}`),
        j = await r.json();
      if (!r.ok) throw new Error(j.error);
      set("done");
    } catch (e) {
      set("");
      setError(e instanceof Error ? e.message : String(e));
    }
  };
  return (
    <span class="inline">
      {state === "done" ? (
        <a class="button" href="other/" target="_blank" rel="noopener">
          open the recorded launch
        </a>
      ) : (
        <Button
          label="Run this launch again and record all of its operations"
          disabled={state === "running"}
          onClick={() => void go()}
        >
          {state === "running" ? "recording…" : "record this launch in full"}
        </Button>
      )}
      {error && <span class="mistake">{error}</span>}
    </span>
  );
}

function goThread(index: number, f: { launch: number; thread: number }) {
  follow(index, { kind: "thread", launch: f.launch, thread: f.thread });
}

export function LaunchPane({
  pane,
  index,
  active,
  findings,
  races: known,
  raceSearch,
}: {
  pane: Extract<Pane, { kind: "launch" }>;
  index: number;
  active: boolean;
  findings: Finding[];
  races: Map<number, number>;
  raceSearch: RaceSearch;
}) {
  const info = useAnswer<LaunchInfo>(() => ask("launch", { id: pane.launch }), [pane.launch]);
  // Known from the search in the background; asked for only when that has found some here, or when there is none.
  const wanted = isStatic() || !!known.get(pane.launch);
  const races = useAnswer(() => (wanted ? racesOf(pane.launch) : undefined), [wanted, pane.launch]);
  // One side of a race: a thread, of this launch or of another one that nothing orders, or a copy or set.
  const racer = (o: Op) =>
    o.launch === 0 ? (
      <>a {o.kind === Kind.Set ? "set" : "copy"}</>
    ) : (
      <button
        type="button"
        class="link"
        onClick={() => follow(index, { kind: "thread", launch: o.launch, thread: o.thread, at: o })}
      >
        {o.launch === pane.launch ? "" : `launch ${o.launch}, `}thread {o.thread}
      </button>
    );
  const mine = findings.filter((f) => f.launch === pane.launch),
    l = info.value?.launch,
    total = l ? threadCount(l) : 0;
  return (
    <PaneFrame
      index={index}
      kind="launch"
      active={active}
      title={
        <>
          <span class="what">launch</span> {l ? launchName(l) : "…"}
        </>
      }
      sub={l?.readable}
    >
      {info.error ? (
        <Failure text={info.error} />
      ) : !info.value || !l ? (
        <Empty>reading…</Empty>
      ) : (
        <div class="scroll">
          <dl>
            <dt>grid</dt>
            <dd>
              {triple(l.grid)} blocks of {triple(l.block)}: {counted(total, "thread")}
            </dd>
            <dt>where</dt>
            <dd title={info.value.stream}>
              {streamNames.get(streamOf.get(pane.launch) ?? 0) ?? info.value.stream}, device{" "}
              {l.device}
              {[...buffers.values()].some((b) => b.process !== l.process)
                ? `, process ${l.process}`
                : ""}
              {info.value.shared ? `, ${info.value.shared} bytes of dynamic shared memory` : ""}
            </dd>
            {info.value.begin_ns !== undefined && info.value.end_ns !== undefined && (
              <>
                <dt>ran</dt>
                <dd>
                  {duration(info.value.end_ns - info.value.begin_ns)}, from{" "}
                  {duration(Math.max(0, info.value.begin_ns - info.value.time_ns))} after it was
                  asked for
                </dd>
              </>
            )}
            {allSteps.some((s) => s.kind === "inputs") && !isStatic() && (
              <>
                <dt>record</dt>
                <dd>
                  <RecordInFull number={l.number} />
                </dd>
              </>
            )}
            <dt>thread</dt>
            <dd>
              <form
                class="inline"
                onSubmit={(e) => {
                  e.preventDefault();
                  const n = Number(new FormData(e.currentTarget).get("n"));
                  if (n >= 0 && n < total) goThread(index, { launch: pane.launch, thread: n });
                }}
              >
                <input
                  name="n"
                  type="number"
                  min={0}
                  max={total - 1}
                  defaultValue="0"
                  aria-label="number of a thread"
                />
                <button class="button">open</button>
              </form>
            </dd>
          </dl>
          {!isStatic() && (
            <Blocks
              launch={l}
              findings={mine}
              touch={(buffer, first, last) =>
                follow(index, {
                  kind: "buffer",
                  buffer,
                  step: 0,
                  width: 0,
                  ofLaunch: l.id,
                  firstThread: first,
                  lastThread: last,
                })
              }
              open={(block, thread) =>
                goThread(index, {
                  launch: pane.launch,
                  thread: block * l.block[0] * l.block[1] * l.block[2] + thread,
                })
              }
            />
          )}
          <section>
            <h3>Parameters</h3>
            {info.value.parameters.length === 0 ? (
              <p class="dim">not recorded</p>
            ) : (
              <table>
                <tbody>
                  {info.value.parameters.map((p) => (
                    <tr>
                      <td class="dim num">{p.number}</td>
                      <td>{p.name ?? ""}</td>
                      <td>
                        {p.allocation ? (
                          <button
                            type="button"
                            class="link"
                            onClick={() =>
                              follow(index, {
                                kind: "buffer",
                                buffer: p.allocation,
                                step: l.step,
                                width: 0,
                              })
                            }
                          >
                            {bufferName(buffers.get(p.allocation), p.allocation)}
                          </button>
                        ) : (
                          parameterValue(p.value, p.bytes, parameterType(p))
                        )}
                      </td>
                      <td class="dim">
                        {p.type ?? (p.points_to ? `${p.points_to}*` : "")}
                        {p.type && !p.type_id && p.bytes > 8 ? (
                          <span title="compile the host code with -g"> (fields need -g)</span>
                        ) : (
                          ""
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </section>
          <section>
            <h3>Launched</h3>
            <HostStack stack={info.value.stack} />
          </section>
          <section>
            <h3>Findings</h3>
            {mine.length === 0 ? (
              <p class="dim">none in this launch</p>
            ) : (
              <div class="cards">
                {mine.map((f) => (
                  <div class="withgo">
                    <FindingCard finding={f} />
                    {f.thread !== undefined && (
                      <button
                        type="button"
                        class="link"
                        onClick={() =>
                          follow(index, {
                            kind: "thread",
                            launch: f.launch,
                            thread: f.thread!,
                            at: f.address
                              ? { address: f.address, write: /write|race/.test(f.kind) }
                              : undefined,
                            finding: f.id,
                          })
                        }
                      >
                        thread {f.thread}
                      </button>
                    )}
                  </div>
                ))}
              </div>
            )}
          </section>
          <section>
            <h3>Races, from the recording</h3>
            {!wanted ? (
              <p class="dim">
                {raceSearch.state && (!raceSearch.state.finished || raceSearch.state.stopped) ? (
                  <RaceProgress search={raceSearch} />
                ) : (
                  "none"
                )}
              </p>
            ) : races.error ? (
              <Failure text={races.error} />
            ) : !races.value ? (
              <p class="dim">looking…</p>
            ) : races.value.list.length === 0 ? (
              <p class="dim">none</p>
            ) : (
              <table>
                <tbody>
                  {races.value.list.map((r) => (
                    <tr>
                      <td>
                        {r.first.space ? (
                          <button
                            type="button"
                            class="link"
                            onClick={() => {
                              const p = memoryPane(r.first);
                              if (p) follow(index, p);
                            }}
                          >
                            {opElement(r.first)}
                          </button>
                        ) : (
                          opElement(r.first)
                        )}
                      </td>
                      <td>
                        {racer(r.first)} and {racer(r.second)}
                      </td>
                      <td class="dim">{r.kind}</td>
                      <td class="dim">{r.count > 1 ? `${r.count} times` : ""}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            {wanted && races.value?.note && <p class="dim">{races.value.note}</p>}
          </section>
        </div>
      )}
    </PaneFrame>
  );
}

export function FindingPane({
  pane,
  index,
  active,
  findings,
}: {
  pane: Extract<Pane, { kind: "finding" }>;
  index: number;
  active: boolean;
  findings: Finding[];
}) {
  const f = findings.find((x) => x.id === pane.finding);
  return (
    <PaneFrame
      index={index}
      kind="finding"
      active={active}
      title={
        <>
          <span class="what">finding</span> {f?.kind ?? pane.finding}
        </>
      }
    >
      {f ? (
        <div class="scroll">
          <div class="cards">
            <FindingCard finding={f} open go={(to) => follow(index, to)} />
          </div>
          {f.allocation > 0 && (
            <p>
              <Button
                icon="picture"
                label="The buffer as a picture"
                onClick={() =>
                  follow(index, { kind: "buffer", buffer: f.allocation, step: 0, width: 0 })
                }
              >
                {bufferName(buffers.get(f.allocation), f.allocation)} as a picture
              </Button>
            </p>
          )}
        </div>
      ) : (
        <Failure text="there is no such finding in this run" />
      )}
    </PaneFrame>
  );
}
