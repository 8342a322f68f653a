// A launch: its parameters, its caller, its findings. Also a finding that is not about a thread.
import { ask, buffers, Finding, isStatic, LaunchInfo } from "../run/api";
import { blockThreads } from "./blockmap";
import { bufferName, launchName } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { Blocks } from "./launchblocks";
import { LaunchFacts, ParameterTable } from "./launchfacts";
import { LaunchFindings, LaunchRaces, useLaunchRaces } from "./launchfaults";
import { Button, Empty, Failure, FindingCard, HostStack, PaneFrame } from "../parts/parts";
import { RaceSearch } from "../run/races";
import { follow, Pane } from "../parts/trail";

function LaunchBlocks({
  info,
  findings,
  openThread,
  go,
}: {
  info: LaunchInfo;
  findings: Finding[];
  openThread(thread: number): void;
  go(p: Pane): void;
}) {
  const l = info.launch;
  return (
    <Blocks
      launch={l}
      findings={findings}
      touch={(buffer, first, last) =>
        go({
          kind: "buffer",
          buffer,
          step: 0,
          width: 0,
          ofLaunch: l.id,
          firstThread: first,
          lastThread: last,
        })
      }
      open={(block, thread) => openThread(block * blockThreads(l) + thread)}
    />
  );
}

export function LaunchPane({
  pane: { launch },
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
  const answer = useAnswer<LaunchInfo>(() => ask("launch", { id: launch }), [launch]);
  const races = useLaunchRaces(launch, known);
  const mine = findings.filter((f) => f.launch === launch);
  const info = answer.value;
  const l = info?.launch;
  const go = (p: Pane) => follow(index, p);
  const openThread = (thread: number) => go({ kind: "thread", launch, thread });
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
      {answer.error ? (
        <Failure text={answer.error} />
      ) : !info || !l ? (
        <Empty>reading…</Empty>
      ) : (
        <div class="scroll">
          <LaunchFacts info={info} open={openThread} />
          {!isStatic() && (
            <LaunchBlocks info={info} findings={mine} openThread={openThread} go={go} />
          )}
          <ParameterTable
            info={info}
            open={(buffer) => go({ kind: "buffer", buffer, step: l.step, width: 0 })}
          />
          <section>
            <h3>Launched</h3>
            <HostStack stack={info.stack} />
          </section>
          <LaunchFindings findings={mine} go={go} />
          <LaunchRaces launch={launch} races={races} search={raceSearch} go={go} />
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
