// Two threads side by side: peers, the same thread of another launch, or of another run. Operations are matched by the instruction that made them.
import { useMemo } from "preact/hooks";
import { Kind, Op, Site, ask, isStatic, launches, op, sites } from "./api";
import { kindName, launchName, opElement, opValue } from "./format";
import { useAnswer } from "./hooks";
import { List } from "./list";
import { Empty, Failure, PaneFrame, mainPlace } from "./parts";
import { allSteps } from "./time";
import { Pane, follow, replace } from "./trail";

const MOST = 2000;
interface Side {
  ops: Op[];
  more: boolean;
  key(o: Op): string;
}
// An instruction is known by its line of PTX, which is the same in another run of the program.
const keyOf = (known: { get(id: number): Site | undefined }) => (o: Op) => {
  const s = known.get(o.site);
  return `${o.kind} ${s?.function ?? ""} ${s?.ptx_line ?? o.site}`;
};
async function load(run: number, launch: number, thread: number): Promise<Side> {
  const j = await ask<any>(run ? "other/thread" : "thread", {
    launch,
    thread,
    skip: 0,
    most: MOST,
  });
  return {
    ops: j.ops.map(op),
    more: j.more,
    key: keyOf(
      run ? new Map(Object.entries(j.sites ?? {}).map(([k, v]) => [Number(k), v as Site])) : sites,
    ),
  };
}
// Pairs of indexes, -1 where one side has nothing: the shortest way from one list of keys to the other (Myers), given up after so many differences.
export function align(a: string[], b: string[], most = 400): [number, number][] {
  const n = a.length,
    m = b.length,
    ways: Int32Array[] = [],
    size = 2 * most + 3,
    mid = most + 1;
  let v = new Int32Array(size).fill(-1);
  v[mid + 1] = 0;
  for (let d = 0; d <= most; d++) {
    ways.push(v.slice());
    for (let k = -d; k <= d; k += 2) {
      let x =
        k === -d || (k !== d && v[mid + k - 1] < v[mid + k + 1])
          ? v[mid + k + 1]
          : v[mid + k - 1] + 1;
      while (x < n && x - k < m && x - k >= 0 && a[x] === b[x - k]) x++;
      v[mid + k] = x;
      if (x >= n && x - k >= m) {
        const out: [number, number][] = [];
        let px = n,
          py = m;
        for (let e = d; px > 0 || py > 0; e--) {
          const w = ways[e],
            q = px - py,
            down = q === -e || (q !== e && w[mid + q - 1] < w[mid + q + 1]),
            from = e ? (down ? q + 1 : q - 1) : 0,
            fx = e ? w[mid + from] : 0,
            fy = e ? fx - from : 0;
          while (px > fx + (e && !down ? 1 : 0) && py > fy + (e && down ? 1 : 0))
            out.push([--px, --py]);
          if (e) {
            if (down) out.push([-1, --py]);
            else out.push([--px, -1]);
          }
        }
        return out.reverse();
      }
    }
  }
  return Array.from({ length: Math.max(n, m) }, (_, i) => [i < n ? i : -1, i < m ? i : -1]);
}

export function VersusPane({
  pane,
  index,
  active,
  hasOther,
}: {
  pane: Extract<Pane, { kind: "versus" }>;
  index: number;
  active: boolean;
  hasOther: boolean;
}) {
  const both = useAnswer(
    () =>
      Promise.all([
        load(0, pane.launch, pane.thread),
        load(pane.run, pane.otherLaunch, pane.otherThread),
      ]),
    [pane.launch, pane.thread, pane.otherLaunch, pane.otherThread, pane.run],
  );
  const rows = useMemo(
    () =>
      both.value
        ? align(both.value[0].ops.map(both.value[0].key), both.value[1].ops.map(both.value[1].key))
        : [],
    [both.value],
  );
  const [a, b] = both.value ?? [],
    apart = (i: number) => {
      const [x, y] = rows[i];
      return x < 0 || y < 0
        ? "only"
        : a!.ops[x].value !== b!.ops[y].value && a!.ops[x].kind !== Kind.Sync
          ? "differs"
          : "";
    };
  const first = useMemo(() => rows.findIndex((_, i) => apart(i) !== ""), [rows]),
    differing = useMemo(() => rows.filter((_, i) => apart(i)).length, [rows]);
  const choose = (more: Partial<typeof pane>) => replace(index, { ...pane, ...more }, false),
    number = (value: number, label: string, set: (n: number) => void) => (
      <label>
        {label}{" "}
        <input
          type="number"
          class="short"
          min={0}
          value={value}
          aria-label={label}
          onChange={(e) => {
            const n = Math.floor(Number(e.currentTarget.value));
            if (n >= 0) set(n);
          }}
        />
      </label>
    );
  const launchNumbers = allSteps
    .filter((s) => s.kind === "launch" && s.kernel === (launches.get(pane.launch)?.kernel ?? -1))
    .slice(0, 500);
  const cell = (o: Op | undefined, run: number) =>
    o ? (
      <>
        <span class="element">{run ? `${kindName[o.kind]} ${o.bytes} bytes` : opElement(o)}</span>
        <span class="value num">
          {o.kind === Kind.Sync ? "" : run ? sameTyped(o, a!, rows) : opValue(o)}
        </span>
      </>
    ) : (
      <>
        <span class="dim">–</span>
        <span />
      </>
    );
  function sameTyped(o: Op, mine: Side, all: [number, number][]): string {
    const pair = all.find(([, y]) => y >= 0 && b!.ops[y] === o),
      twin = pair && pair[0] >= 0 ? mine.ops[pair[0]] : undefined;
    return o.value === null
      ? "?"
      : twin && twin.bytes === o.bytes
        ? opValue(twin, o.value)
        : `0x${o.value}`;
  }
  return (
    <PaneFrame
      index={index}
      kind="versus"
      active={active}
      title={
        <>
          <span class="what">compare</span> thread {pane.thread} and {pane.otherThread}
        </>
      }
      sub={
        <>
          {launchName(launches.get(pane.launch), pane.launch)}
          {pane.run
            ? " and the other run"
            : pane.otherLaunch !== pane.launch
              ? ` and ${launchName(launches.get(pane.otherLaunch), pane.otherLaunch)}`
              : ""}
          <span class="right">
            {both.value
              ? differing
                ? `${differing} of ${rows.length} differ`
                : "all values are the same"
              : ""}
          </span>
        </>
      }
    >
      <div class="controls">
        {number(pane.thread, "thread", (thread) => choose({ thread }))}
        {number(pane.otherThread, "other thread", (otherThread) => choose({ otherThread }))}
        {!pane.run && launchNumbers.length > 1 && (
          <label>
            of{" "}
            <select
              aria-label="launch of the other thread"
              value={pane.otherLaunch}
              onChange={(e) => choose({ otherLaunch: Number(e.currentTarget.value) })}
            >
              {launchNumbers.map((s) => (
                <option value={s.launch}>#{s.number}</option>
              ))}
            </select>
          </label>
        )}
        {hasOther && !isStatic() && (
          <label>
            <input
              type="checkbox"
              checked={!!pane.run}
              onChange={(e) => {
                if (!e.currentTarget.checked) choose({ run: 0, otherLaunch: pane.launch });
                else
                  void twinLaunch(pane.launch).then((otherLaunch) => {
                    if (otherLaunch) choose({ run: 1, otherLaunch });
                  });
              }}
            />{" "}
            of the other run
          </label>
        )}
      </div>
      {both.error ? (
        <Failure text={both.error} />
      ) : !both.value ? (
        <Empty>reading…</Empty>
      ) : (
        <>
          <div class="columns versusrow" aria-hidden="true">
            <span>line</span>
            <span>does</span>
            <span>thread {pane.thread}</span>
            <span class="num">value</span>
            <span>thread {pane.otherThread}</span>
            <span class="num">value</span>
          </div>
          <List
            label="operations of two threads"
            count={rows.length}
            height={26}
            focus={first}
            row={(i) => {
              const [x, y] = rows[i],
                o = x >= 0 ? a!.ops[x] : undefined,
                p = y >= 0 ? b!.ops[y] : undefined,
                place = o ? mainPlace(o.site) : p && !pane.run ? mainPlace(p.site) : undefined;
              return (
                <div
                  class={`op versusrow ${apart(i)}`}
                  role="button"
                  tabIndex={i === first ? 0 : -1}
                  onClick={() => {
                    const at = o ?? (pane.run ? undefined : p);
                    if (at)
                      follow(index, {
                        kind: "thread",
                        launch: at.launch,
                        thread: at.thread,
                        at: { record: at.record, lane: at.lane },
                      });
                  }}
                >
                  <span class="dim num">{place?.[1] ?? ""}</span>
                  <span class={`kind k${(o ?? p)!.kind}`}>{kindName[(o ?? p)!.kind]}</span>
                  {cell(o, 0)}
                  {cell(p, pane.run)}
                </div>
              );
            }}
          />
          {(a!.more || b!.more) && <p class="rest">the first {MOST} operations of each</p>}
        </>
      )}
    </PaneFrame>
  );
}
// The launch of the other run that has the same kernel and the same number among its launches.
async function twinLaunch(launch: number): Promise<number> {
  const mine = allSteps.filter((s) => s.kind === "launch"),
    here = mine.find((s) => s.launch === launch),
    flow = await ask<any>("other/flow", { skip: 0, most: 100000 }),
    own = await ask<any>("flow", { skip: 0, most: 2000 });
  if (!here) return 0;
  const name = own.kernels[here.kernel],
    k = mine.filter((s) => s.kernel === here.kernel).indexOf(here);
  return (
    flow.steps.filter((s: any[]) => s[2] === "launch" && flow.kernels[s[4]] === name)[k]?.[3] ?? 0
  );
}
