// What --tool=profile measured: what to change, then a kernel with its lines, their measures as heat, and pictures.
import { useMemo, useState } from "preact/hooks";
import { ask } from "./api";
import { bytesText, counted, fileName, many } from "./format";
import { useAnswer } from "./hooks";
import { List } from "./list";
import { Button, Empty, Failure, PaneFrame } from "./parts";
import {
  Access,
  Advice,
  Call,
  Kernel,
  OccupancyPlots,
  Peaks,
  RangeBar,
  RooflinePlot,
  Timeline,
  WarpPicture,
  unitsOf,
} from "./profileplots";
import { Pane, replace } from "./trail";
import "./profile.css";

interface Profile {
  advice?: Advice[];
  kernels?: Kernel[];
  peaks?: Peaks;
  timeline?: Call[];
  range_bars?: RangeBar[];
  calls?: number;
  counts?: {
    kernel: string;
    file?: string;
    line: number;
    executed: number;
    warp_executed?: number;
  }[];
  sources: { path: string; text?: string; missing?: string }[];
  kernel_ids: { id: number; kernel: string }[];
}
interface Ptx {
  pieces: { line: number; text: string }[];
  lines: [line: number, site: number, file: number, source: number][];
}

// The measures of a line: how much of the kernel's it has.
const measures = [
  { key: "requests", name: "requests", help: "memory requests of warps" },
  { key: "sectors", name: "sectors", help: "sectors of 32 bytes of global memory" },
  {
    key: "excess",
    name: "excess",
    help: "sectors, wavefronts and words that an ideal access would not need",
  },
  { key: "wavefronts", name: "wavefronts", help: "wavefronts of shared memory" },
  { key: "parted", name: "parted", help: "warps that a branch parts" },
  {
    key: "samples",
    name: "samples",
    help: "samples of warps at this line, while they ran or waited",
  },
] as const;
type Line = Record<(typeof measures)[number]["key"], number> & { accesses: Access[] };

function linesOf(k: Kernel, path: string): Map<number, Line> {
  const out = new Map<number, Line>(),
    line = (n: number) => {
      let l = out.get(n);
      if (!l)
        out.set(
          n,
          (l = {
            requests: 0,
            sectors: 0,
            excess: 0,
            wavefronts: 0,
            parted: 0,
            samples: 0,
            accesses: [],
          }),
        );
      return l;
    };
  for (const a of k.accesses)
    if (a.file === path && a.line) {
      const l = line(a.line);
      l.requests += a.requests;
      l.sectors += a.sectors ?? 0;
      l.wavefronts += a.wavefronts ?? 0;
      l.excess += Math.max(0, unitsOf(a) - a.ideal);
      l.accesses.push(a);
    }
  for (const b of k.branches) if (b.file === path && b.line) line(b.line).parted += b.parted;
  for (const s of k.stall_lines ?? [])
    if (s.file === path && s.line) line(s.line).samples += s.samples;
  return out;
}
// Requests that are no estimate: a GPU looks at some only.
const lookedAt = (a: Access) => a.looked_at ?? a.requests;
// Accesses of a line that differ in nothing but their place in memory are one.
function alike(list: Access[]): Access[] {
  const out = new Map<string, Access>();
  for (const a of list) {
    const key = [a.what, a.space, a.bytes, a.pattern].join(),
      known = out.get(key);
    if (!known) out.set(key, { ...a });
    else {
      known.looked_at = lookedAt(known) + lookedAt(a);
      known.requests += a.requests;
      known.threads += a.threads;
      known.ideal += a.ideal;
      if (a.sectors) known.sectors! += a.sectors;
      if (a.wavefronts) known.wavefronts! += a.wavefronts;
      if (a.words) known.words! += a.words;
    }
  }
  return [...out.values()];
}
const short = (n: number) =>
  n < 10000
    ? String(Math.round(n))
    : n < 1e6
      ? `${(n / 1e3).toFixed(0)}k`
      : n < 1e9
        ? `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)}M`
        : `${(n / 1e9).toFixed(1)}G`;

function Heat({ value, most, title }: { value: number; most: number; title: string }) {
  return (
    <span
      class="heat num"
      title={title}
      style={
        value && most
          ? {
              background: `color-mix(in srgb, var(--store) ${Math.round(8 + (62 * value) / most)}%, transparent)`,
            }
          : undefined
      }
    >
      {value ? short(value) : ""}
    </span>
  );
}

// What the instructions are, and how much memory the kernel touches.
function Figures({ k }: { k: Kernel }) {
  const mix = Object.entries(k.mix ?? {})
      .sort((a, b) => b[1] - a[1])
      .slice(0, 5)
      .map(([name, n]) => `${name} ${((100 * n) / k.instructions).toFixed(0)} %`),
    w = k.working_set;
  return (
    <p class="dim">
      {mix.length > 0 &&
        `Instructions: ${mix.join(", ")}${k.uniform ? `; ${((100 * k.uniform) / k.warp_instructions).toFixed(0)} % compute the same in all lanes` : ""}. `}
      {w &&
        `Working set, at most: ${bytesText(w.launch_bytes)} a launch, ${bytesText(w.multiprocessor_bytes)} for the blocks on a multiprocessor.`}
    </p>
  );
}

function PtxBeside({ kernel, line }: { kernel: number; line: number }) {
  const ptx = useAnswer<Ptx>(() => ask("ptx", { kernel }), [kernel]);
  const rows = useMemo(() => {
    let now = 0;
    return (ptx.value?.pieces ?? [])
      .flatMap((p) =>
        p.text.split("\n").map((text, i) => {
          const m = /^\s*\.loc\s+\d+\s+(\d+)/.exec(text);
          if (m) now = Number(m[1]);
          return { n: p.line + i, text, source: now, loc: !!m };
        }),
      )
      .filter((r) => !r.loc);
  }, [ptx.value]);
  if (ptx.error) return <Failure text={ptx.error} />;
  if (ptx.value && !rows.length)
    return <Empty>The PTX of this kernel is not in the run file.</Empty>;
  return (
    <List
      label="PTX"
      className="code ptx"
      count={rows.length}
      height={20}
      focus={rows.findIndex((r) => r.source === line)}
      row={(i) => (
        <div class={`row ${rows[i].source === line ? "here" : ""}`}>
          <span class="at num">{rows[i].n}</span>
          <code>{rows[i].text}</code>
        </div>
      )}
    />
  );
}

function Source({
  k,
  source,
  line,
  choose,
  kernel,
}: {
  k: Kernel;
  source: { path: string; text?: string; missing?: string };
  line: number;
  choose(n: number): void;
  kernel?: number;
}) {
  const lines = useMemo(() => linesOf(k, source.path), [k, source]),
    text = useMemo(() => (source.text ?? "").split("\n"), [source]),
    [ptx, setPtx] = useState(false);
  const most = (key: (typeof measures)[number]["key"]) =>
    Math.max(0, ...[...lines.values()].map((l) => l[key]));
  const shown = measures.filter((m) => most(m.key) > 0),
    here = lines.get(line);
  const first = line || Math.min(...lines.keys());
  const count = source.text ? text.length : Math.max(0, ...lines.keys());
  return (
    <div class="heatsource">
      <div class="heathead">
        <span class="at" />
        {shown.map((m) => (
          <span class="heat" title={m.help}>
            {m.name}
          </span>
        ))}
        <span class="name">{fileName(source.path)}</span>
        {kernel !== undefined && (
          <Button label="PTX beside the source" pressed={ptx} onClick={() => setPtx(!ptx)}>
            PTX
          </Button>
        )}
      </div>
      {source.missing && <p class="dim">{source.missing}</p>}
      <div class="beside">
        <List
          label="source"
          className="code heatlines"
          count={count}
          height={20}
          focus={Number.isFinite(first) ? first - 1 : 0}
          row={(i) => {
            const l = lines.get(i + 1);
            return (
              <div
                class={`row ${i + 1 === line ? "here" : ""} ${l ? "hot" : ""}`}
                onClick={() => choose(i + 1)}
              >
                <span class="at num">{i + 1}</span>
                {shown.map((m) => (
                  <Heat
                    value={l?.[m.key] ?? 0}
                    most={most(m.key)}
                    title={`${m.help}: ${many(l?.[m.key] ?? 0)}`}
                  />
                ))}
                <code>{text[i] ?? ""}</code>
              </div>
            );
          }}
        />
        {ptx && kernel !== undefined && <PtxBeside kernel={kernel} line={line} />}
      </div>
      {here &&
        alike(here.accesses).map((a) => (
          <div class="access">
            <p>
              <b>
                {a.what} of {a.bytes} bytes, {a.space} memory
              </b>
              : {a.pattern}, {counted(a.requests, "request")}
              {lookedAt(a) < a.requests && (
                <>, estimated from 1 in {Number((a.requests / lookedAt(a)).toPrecision(3))}</>
              )}
            </p>
            <WarpPicture a={a} />
          </div>
        ))}
    </div>
  );
}

export function ProfilePane({
  pane,
  index,
  active,
}: {
  pane: Pane & { kind: "profile" };
  index: number;
  active: boolean;
}) {
  const j = useAnswer<Profile>(() => ask<Profile>("profile"), []),
    p = j.value,
    kernels = p?.kernels ?? [];
  const [line, setLine] = useState(0),
    chosen = Math.min(pane.kernel, Math.max(0, kernels.length - 1)),
    k = kernels[chosen];
  const choose = (i: number, at = 0) => {
    setLine(at);
    replace(index, { kind: "profile", kernel: i });
  };
  const id = p?.kernel_ids.find((x) => x.kernel === k?.kernel)?.id;
  const file =
      k &&
      (p?.advice?.find((a) => a.kernel === k.kernel && a.file)?.file ??
        k.accesses.find((a) => a.file)?.file ??
        k.branches.find((b) => b.file)?.file),
    source = p?.sources.find((s) => s.path === file);
  return (
    <PaneFrame
      index={index}
      kind="profile"
      active={active}
      title={
        <>
          <span class="what">profile</span>{" "}
          {kernels.length === 1 ? "1 kernel" : `${many(kernels.length)} kernels`}
        </>
      }
    >
      {j.error && <Failure text={j.error} />}
      {p && !kernels.length && (
        <Empty>This run was not profiled: warpgrind profile -o run.wg ./app</Empty>
      )}
      {k && (
        <div class="body profilebody">
          <h3>{p!.advice?.length ? "What to change" : "No rule found anything to change"}</h3>
          <ol class="advice">
            {p!.advice?.slice(0, 12).map((a) => (
              <li>
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    const i = kernels.findIndex((x) => x.kernel === a.kernel);
                    if (i >= 0) choose(i, a.line);
                  }}
                >
                  {a.file ? `${fileName(a.file)}:${a.line}` : "the program"}
                </button>{" "}
                <b>{a.rule}</b>
                {a.worth_ms !== null && (
                  <span class="num worth">
                    {a.worth_ms < 0.01 ? a.worth_ms.toExponential(1) : a.worth_ms.toPrecision(3)} ms
                  </span>
                )}
                <p>{a.evidence}</p>
                <p class="dim">{a.instead}</p>
              </li>
            ))}
          </ol>
          <div class="chooser">
            <h3>Kernel</h3>
            <select
              value={chosen}
              onChange={(e) => choose(Number(e.currentTarget.value))}
              aria-label="kernel"
            >
              {kernels.map((x, i) => (
                <option value={i}>{x.kernel}</option>
              ))}
            </select>
          </div>
          <p>
            {many(k.launches)} {k.launches === 1 ? "launch" : "launches"},{" "}
            {many(k.warp_instructions)} instructions of warps,{" "}
            {k.warp_instructions
              ? ((100 * k.instructions) / k.warp_instructions / 32).toFixed(1)
              : "0"}{" "}
            % of their lanes active{k.nodes ? `, ${many(k.nodes)} nodes of graphs` : ""}
            {k.ns ? `, ${(k.ns / 1e6).toPrecision(3)} ms` : ""}
            {k.achieved_warps
              ? `, ${k.achieved_warps.toFixed(1)} warps on a multiprocessor on average`
              : ""}
          </p>
          <Figures k={k} />
          {source && <Source k={k} source={source} line={line} choose={setLine} kernel={id} />}
          <div class="plots">
            <div>
              <h3>Occupancy</h3>
              <OccupancyPlots k={k} />
            </div>
            {p!.peaks && (
              <div>
                <h3>Roofline</h3>
                <RooflinePlot
                  kernels={kernels}
                  peaks={p!.peaks}
                  chosen={chosen}
                  choose={(i) => choose(i)}
                />
              </div>
            )}
          </div>
          <h3>Timeline</h3>
          <Timeline
            calls={p!.timeline ?? []}
            total={p!.calls ?? 0}
            kernel={k.kernel}
            ranges={p!.range_bars ?? []}
          />
        </div>
      )}
    </PaneFrame>
  );
}
