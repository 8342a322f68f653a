// What is wrong in a launch: findings, and races that the recording shows.
import { Finding, isStatic, Kind, launches, Op, racesOf } from "../run/api";
import { kindName, launchName, opElement } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { memoryPane } from "../thread/memorypane";
import { Failure, FindingCard, mainPlace } from "../parts/parts";
import { RaceProgress, RaceSearch } from "../run/races";
import { Pane } from "../parts/trail";

export function LaunchFindings({ findings, go }: { findings: Finding[]; go(p: Pane): void }) {
  return (
    <section>
      <h3>Findings</h3>
      {findings.length === 0 ? (
        <p class="dim">none in this launch</p>
      ) : (
        <div class="cards">
          {findings.map((f) => (
            <div class="withgo">
              <FindingCard finding={f} />
              {f.thread !== undefined && (
                <button
                  type="button"
                  class="link"
                  onClick={() =>
                    go({
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
  );
}

// One side of a race: a thread, of this launch or of an unordered one, or a copy or set.
function Racer({ op, launch, go }: { op: Op; launch: number; go(p: Pane): void }) {
  if (op.launch === 0) return <>a {op.kind === Kind.Set ? "set" : "copy"}</>;
  const line = mainPlace(op.site)?.[1];
  const other = op.launch === launch ? "" : launchName(launches.get(op.launch), op.launch);
  return (
    <>
      <button
        type="button"
        class="link"
        onClick={() => go({ kind: "thread", launch: op.launch, thread: op.thread, at: op })}
      >
        {other} thread {op.thread}
      </button>{" "}
      <span class="dim">
        {kindName[op.kind]}
        {line ? `, line ${line}` : ""}
      </span>
    </>
  );
}

// The memory that two operations race for.
function RacedFor({ op, go }: { op: Op; go(p: Pane): void }) {
  const to = memoryPane(op);
  if (!to) return <>{opElement(op)}</>;
  return (
    <button type="button" class="link" onClick={() => go(to)}>
      {opElement(op)}
    </button>
  );
}

type Races = Awaited<ReturnType<typeof racesOf>>;
function RaceTable({
  list,
  launch,
  go,
}: {
  list: Races["list"];
  launch: number;
  go(p: Pane): void;
}) {
  return (
    <table>
      <tbody>
        {list.map((r) => (
          <tr>
            <td>
              <RacedFor op={r.first} go={go} />
            </td>
            <td>
              <Racer op={r.first} launch={launch} go={go} /> and{" "}
              <Racer op={r.second} launch={launch} go={go} />
            </td>
            <td class="dim">{r.kind}</td>
            <td class="dim">{r.count > 1 ? `${r.count} times` : ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Asks for the launch's races only if the search in the background has found some, or if there is
// no such search.
export function useLaunchRaces(launch: number, known: Map<number, number>) {
  const wanted = isStatic() || !!known.get(launch);
  const answer = useAnswer(() => (wanted ? racesOf(launch) : undefined), [wanted, launch]);
  return { wanted, answer };
}

export function LaunchRaces({
  launch,
  races: { wanted, answer },
  search,
  go,
}: {
  launch: number;
  races: ReturnType<typeof useLaunchRaces>;
  search: RaceSearch;
  go(p: Pane): void;
}) {
  const searching = search.state && (!search.state.finished || search.state.stopped);
  return (
    <section>
      <h3>Races, from the recording</h3>
      {!wanted ? (
        <p class="dim">{searching ? <RaceProgress search={search} /> : "none"}</p>
      ) : answer.error ? (
        <Failure text={answer.error} />
      ) : !answer.value ? (
        <p class="dim">looking…</p>
      ) : answer.value.list.length === 0 ? (
        <p class="dim">none</p>
      ) : (
        <RaceTable list={answer.value.list} launch={launch} go={go} />
      )}
      {wanted && answer.value?.note && <p class="dim">{answer.value.note}</p>}
    </section>
  );
}
