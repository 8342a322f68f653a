// The measurements of --tool=profile: advice first, then a kernel with its lines, their measures as
// heat, and pictures.
import { useState } from "preact/hooks";
import { ask } from "../run/api";
import { bytesText, fileName, many } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { OccupancyPlots } from "./occupancy";
import { Empty, Failure, PaneFrame } from "../parts/parts";
import { Advice, Kernel, Profile } from "./profiledata";
import { HeatSource } from "./profilesource";
import { RooflinePlot } from "./roofline";
import { Timeline } from "./timeline";
import { Pane, replace } from "../parts/trail";
import "../style/profile.css";

// The mix of instructions, and how much memory the kernel touches.
function Figures({ k }: { k: Kernel }) {
  const mix = Object.entries(k.mix ?? {})
    .sort((a, b) => b[1] - a[1])
    .slice(0, 5)
    .map(([name, n]) => `${name} ${((100 * n) / k.instructions).toFixed(0)} %`);
  const same = k.uniform ? ((100 * k.uniform) / k.warp_instructions).toFixed(0) : "";
  const uniform = same && `; ${same} % compute the same in all lanes`;
  const w = k.working_set;
  return (
    <p class="dim">
      {mix.length > 0 && `Instructions: ${mix.join(", ")}${uniform}. `}
      {w &&
        `Working set, at most: ${bytesText(w.launch_bytes)} a launch, ` +
          `${bytesText(w.multiprocessor_bytes)} for the blocks on a multiprocessor.`}
    </p>
  );
}

const worthText = (ms: number) => (ms < 0.01 ? ms.toExponential(1) : ms.toPrecision(3));

function AdviceList({ list, open }: { list: Advice[]; open(a: Advice): void }) {
  return (
    <>
      <h3>{list.length ? "What to change" : "No rule found anything to change"}</h3>
      <ol class="advice">
        {list.slice(0, 12).map((a) => (
          <li>
            <button type="button" class="link" onClick={() => open(a)}>
              {a.file ? `${fileName(a.file)}:${a.line}` : "the program"}
            </button>{" "}
            <b>{a.rule}</b>
            {a.worth_ms !== null && <span class="num worth">{worthText(a.worth_ms)} ms</span>}
            <p>{a.evidence}</p>
            <p class="dim">{a.instead}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

function KernelChooser({
  kernels,
  chosen,
  choose,
}: {
  kernels: Kernel[];
  chosen: number;
  choose(i: number): void;
}) {
  return (
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
  );
}

function kernelText(k: Kernel) {
  const active = k.warp_instructions
    ? ((100 * k.instructions) / k.warp_instructions / 32).toFixed(1)
    : "0";
  return [
    `${many(k.launches)} ${k.launches === 1 ? "launch" : "launches"}`,
    `${many(k.warp_instructions)} instructions of warps`,
    `${active} % of their lanes active`,
    k.nodes && `${many(k.nodes)} nodes of graphs`,
    k.ns && `${(k.ns / 1e6).toPrecision(3)} ms`,
    k.achieved_warps && `${k.achieved_warps.toFixed(1)} warps on a multiprocessor on average`,
  ]
    .filter(Boolean)
    .join(", ");
}

function Plots({
  profile: p,
  k,
  chosen,
  choose,
}: {
  profile: Profile;
  k: Kernel;
  chosen: number;
  choose(i: number): void;
}) {
  return (
    <div class="plots">
      <div>
        <h3>Occupancy</h3>
        <OccupancyPlots k={k} />
      </div>
      {p.peaks && (
        <div>
          <h3>Roofline</h3>
          <RooflinePlot kernels={p.kernels ?? []} peaks={p.peaks} chosen={chosen} choose={choose} />
        </div>
      )}
    </div>
  );
}

// The file that advice, accesses or branches of a kernel are in.
function sourceOf(p: Profile, k: Kernel) {
  const file =
    p.advice?.find((a) => a.kernel === k.kernel && a.file)?.file ??
    k.accesses.find((a) => a.file)?.file ??
    k.branches.find((b) => b.file)?.file;
  return p.sources.find((s) => s.path === file);
}

function ProfileBody({
  profile: p,
  chosen,
  choose,
}: {
  profile: Profile;
  chosen: number;
  choose(i: number): void;
}) {
  const [line, setLine] = useState(0);
  const kernels = p.kernels ?? [];
  const k = kernels[chosen];
  const open = (i: number, at = 0) => {
    setLine(at);
    choose(i);
  };
  const source = sourceOf(p, k);
  const id = p.kernel_ids.find((x) => x.kernel === k.kernel)?.id;
  return (
    <div class="body profilebody">
      <AdviceList
        list={p.advice ?? []}
        open={(a) => {
          const i = kernels.findIndex((x) => x.kernel === a.kernel);
          if (i >= 0) open(i, a.line);
        }}
      />
      <KernelChooser kernels={kernels} chosen={chosen} choose={(i) => open(i)} />
      <p>{kernelText(k)}</p>
      <Figures k={k} />
      {source && <HeatSource k={k} source={source} line={line} choose={setLine} kernel={id} />}
      <Plots profile={p} k={k} chosen={chosen} choose={(i) => open(i)} />
      <h3>Timeline</h3>
      <Timeline
        calls={p.timeline ?? []}
        total={p.calls ?? 0}
        kernel={k.kernel}
        ranges={p.range_bars ?? []}
      />
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
  const answer = useAnswer<Profile>(() => ask<Profile>("profile"), []);
  const p = answer.value;
  const kernels = p?.kernels ?? [];
  const chosen = Math.min(pane.kernel, Math.max(0, kernels.length - 1));
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
      {answer.error && <Failure text={answer.error} />}
      {p && !kernels.length && (
        <Empty>This run was not profiled: warpgrind profile -o run.wg ./app</Empty>
      )}
      {p && kernels[chosen] && (
        <ProfileBody
          profile={p}
          chosen={chosen}
          choose={(kernel) => replace(index, { kind: "profile", kernel })}
        />
      )}
    </PaneFrame>
  );
}
