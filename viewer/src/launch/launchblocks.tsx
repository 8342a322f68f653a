// The grid of a launch as a map of blocks, coloured by what they did; a block and a thread in it
// can be opened by their places.
import { useEffect, useRef, useState } from "preact/hooks";
import { buffers, Finding, FlowStep, Launch, sites } from "../run/api";
import {
  blockGrid,
  BlockMap,
  blockText,
  blockThreads,
  blockValueText,
  firstLeaf,
  LaunchCounts,
  paintBlocks,
  useBlockMap,
} from "./blockmap";
import { bufferName, counted, many } from "../run/format";
import { Failure, mainPlace } from "../parts/parts";
import { allSteps } from "../run/time";

type Uses = FlowStep["uses"];

function ColourChooser({ map, uses }: { map: BlockMap; uses: Uses }) {
  // A buffer: the mean of what each block stored there.
  const written = uses.filter((u) => u[1] & 2 && firstLeaf(u[0]));
  return (
    <label class="plain">
      coloured by{" "}
      <select
        value={map.by}
        aria-label="what the colours of blocks mean"
        onChange={(e) => map.setBy(e.currentTarget.value)}
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
  );
}

function Scale({ map: { by, values, least, most, buffer } }: { map: BlockMap }) {
  if (!(values.length > 0 && most >= least)) return <></>;
  return (
    <span class="plain dim">
      {most > least ? (
        <>
          {blockValueText(by, least)} <i class={`blockramp ${buffer ? "viridis" : by}`} />{" "}
          {blockValueText(by, most)}
        </>
      ) : (
        `each ${blockValueText(by, most)}`
      )}
    </span>
  );
}

function BlockPicture({
  launch: l,
  map,
  open,
}: {
  launch: Launch;
  map: BlockMap;
  open(block: number, thread: number): void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hover, setHover] = useState(-1);
  const grid = blockGrid(l);
  const { width, dot } = grid;
  useEffect(() => {
    if (canvas.current && map.blocks.length) paintBlocks(canvas.current, map, grid);
  }, [map.blocks, map.values, width, dot, map.found]);
  const blockAt = (e: MouseEvent) => {
    const r = canvas.current!.getBoundingClientRect();
    const row = Math.floor((e.clientY - r.top) / dot);
    const i = row * width + Math.floor((e.clientX - r.left) / dot);
    return i >= 0 && i < map.n ? i : -1;
  };
  return (
    <div class="blocks">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`map of ${map.n} blocks`}
        onMouseMove={(e) => setHover(blockAt(e))}
        onMouseLeave={() => setHover(-1)}
        onClick={(e) => {
          const b = blockAt(e);
          if (b >= 0) open(b, 0);
        }}
      />
      <p class="dim">
        {hover >= 0 ? blockText(l, map, hover) : "a click opens the first thread of a block"}
      </p>
    </div>
  );
}

// A block and a thread in it by their places: x, y and z of the block, then of the thread.
interface Place {
  at: number[];
  setAt(at: number[]): void;
}
const blockOf = (l: Launch, at: number[]) => at[0] + l.grid[0] * (at[1] + l.grid[1] * at[2]);
const threadOf = (l: Launch, at: number[]) => at[3] + l.block[0] * (at[4] + l.block[1] * at[5]);

function PlaceNumber({
  i,
  most,
  label,
  place: { at, setAt },
}: {
  i: number;
  most: number;
  label: string;
  place: Place;
}) {
  const clamp = (n: number) => Math.max(0, Math.min(most - 1, Math.floor(n)));
  return (
    <input
      type="number"
      min={0}
      max={most - 1}
      value={at[i]}
      aria-label={label}
      onChange={(e) => {
        const n = clamp(Number(e.currentTarget.value));
        setAt(at.map((x, k) => (k === i ? n : x)));
      }}
    />
  );
}

function PlaceForm({
  launch: l,
  place,
  open,
}: {
  launch: Launch;
  place: Place;
  open(block: number, thread: number): void;
}) {
  const number = (i: number, most: number, label: string) => (
    <PlaceNumber i={i} most={most} label={label} place={place} />
  );
  return (
    <form
      class="inline places"
      onSubmit={(e) => {
        e.preventDefault();
        open(blockOf(l, place.at), threadOf(l, place.at));
      }}
    >
      block {number(0, l.grid[0], "block x")}
      {number(1, l.grid[1], "block y")}
      {number(2, l.grid[2], "block z")} thread {number(3, l.block[0], "thread x")}
      {number(4, l.block[1], "thread y")}
      {number(5, l.block[2], "thread z")}
      <button class="button">open</button>
    </form>
  );
}

// The elements of a buffer that the chosen block, warp or thread touched.
function Touches({
  launch: l,
  at,
  uses,
  touch,
}: {
  launch: Launch;
  at: number[];
  uses: Uses;
  touch(buffer: number, first: number, last: number): void;
}) {
  const [who, setWho] = useState<"block" | "warp" | "thread">("block");
  const per = blockThreads(l);
  const threads = (): [first: number, last: number] => {
    const block = blockOf(l, at) * per;
    const inside = threadOf(l, at);
    if (who === "block") return [block, block + per - 1];
    if (who === "thread") return [block + inside, block + inside];
    const first = block + (inside & ~31);
    return [first, Math.min(block + per - 1, first + 31)];
  };
  return (
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
        <button type="button" class="link" onClick={() => touch(u[0], ...threads())}>
          {bufferName(buffers.get(u[0]), u[0])}
        </button>
      ))}
    </p>
  );
}

function BankConflicts({ counts }: { counts: LaunchCounts["counts"] }) {
  const conflicts = counts.filter((c) => c[4] > 0);
  if (!conflicts.length) return <></>;
  return (
    <section>
      <h3>Bank conflicts in shared memory</h3>
      <table class="banks">
        <tbody>
          {conflicts
            .sort((a, b) => b[4] - a[4])
            .slice(0, 20)
            .map(([site, , records, , passes]) => (
              <tr>
                <td>line {mainPlace(site)?.[1] ?? "?"}</td>
                <td>
                  <code>{sites.get(site)?.object?.replace(/^.*E\d+/, "") ?? ""}</code>
                </td>
                <td>
                  {counted(passes, "extra pass", "extra passes")} for {many(records)} accesses of
                  warps: {Number((1 + passes / records).toPrecision(3))} each
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}

export function Blocks({
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
  const map = useBlockMap(l, findings);
  const [at, setAt] = useState<number[]>([0, 0, 0, 0, 0, 0]);
  const uses = allSteps.find((s) => s.kind === "launch" && s.launch === l.id)?.uses ?? [];
  const { counts, means } = map;
  return (
    <>
      <section>
        <h3>
          Blocks <ColourChooser map={map} uses={uses} />
          <Scale map={map} />
        </h3>
        {means.error && <Failure text={means.error} />}
        {counts.error ? (
          <p class="dim">not recorded</p>
        ) : (
          <BlockPicture launch={l} map={map} open={open} />
        )}
        <PlaceForm launch={l} place={{ at, setAt }} open={open} />
        {uses.length > 0 && <Touches launch={l} at={at} uses={uses} touch={touch} />}
      </section>
      <BankConflicts counts={counts.value?.counts ?? []} />
    </>
  );
}
