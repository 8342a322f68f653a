// The column at the left: findings, launches with races, buffers.
import { kernelName } from "../flow/flowstep";
import { Buffer, buffers, Finding, launches, sites } from "../run/api";
import { findingPane } from "../run/findingpane";
import { bufferName, bytesText, counted, elementName, launchName, many } from "../run/format";
import { List } from "../parts/list";
import { mainPlace } from "../parts/parts";
import { Pane, start } from "../parts/trail";
import { bufferType } from "../run/types";

// Launches with races that no tool reported: the recording shows them.
export function RacedLaunches({
  races,
  open,
}: {
  races: Map<number, number>;
  open(launch: number): void;
}) {
  const list = [...races].filter(([, n]) => n > 0);
  if (!list.length) return <></>;
  return (
    <>
      <h3 class="listhead">Races that the recording shows</h3>
      <List
        label="launches with races"
        className="findings"
        count={list.length}
        height={34}
        row={(i) => (
          <button type="button" class="raced" onClick={() => open(list[i][0])}>
            <span class="dot" />
            <b>{launchName(launches.get(list[i][0]), list[i][0])}</b>
            <span class="dim">{counted(list[i][1], "race")}</span>
          </button>
        )}
      />
    </>
  );
}

// The place of a finding: launch and thread, element, line, function.
function detailOf(f: Finding): string {
  const place = mainPlace(f.site);
  const b = f.allocation ? buffers.get(f.allocation) : undefined;
  const inside = sites.get(f.site)?.function;
  const thread = f.thread === undefined ? "" : ` thread ${f.thread}`;
  const element = !b
    ? ""
    : bufferType(b.id).known
      ? elementName(b.id, f.offset, f.size || undefined)
      : bufferName(b);
  return [
    f.launch ? `#${f.launch_number}${thread}` : "host",
    element,
    place && `line ${place[1]}`,
    inside && kernelName(inside),
  ]
    .filter(Boolean)
    .join(" · ");
}

const ONE_LINE = 33; // letters of a headline; longer ones have two

export function Findings({
  list,
  current,
  total,
}: {
  list: Finding[];
  current: Pane[];
  total: number;
}) {
  const here = current[0] && "finding" in current[0] ? current[0].finding : undefined;
  if (!list.length) return <p class="none">No findings in this run.</p>;
  return (
    <>
      <List
        label="findings"
        className="findings"
        count={list.length}
        height={list.some((f) => f.headline.length > ONE_LINE) ? 62 : 56}
        row={(i) => {
          const f = list[i];
          return (
            <button
              type="button"
              class={`finding ${f.severity} ${f.id === here ? "here" : ""}`}
              aria-current={f.id === here}
              onClick={() => start(findingPane(f))}
            >
              <span class="dot" />
              <span class="headline" title={f.headline}>
                {f.headline}
              </span>
              <span class="detail" title={detailOf(f)}>
                {detailOf(f)}
              </span>
              {f.count > 1 && (
                <span class="count" title="how often it was found">
                  ×{many(f.count)}
                </span>
              )}
            </button>
          );
        }}
      />
      {list.length < total && (
        <p class="rest">
          the first {many(list.length)} of {many(total)}
        </p>
      )}
    </>
  );
}

export function Buffers({
  list,
  current,
  open,
}: {
  list: Buffer[];
  current: number;
  open(id: number): void;
}) {
  return (
    <List
      label="buffers"
      className="buffers"
      count={list.length}
      height={30}
      row={(i) => {
        const b = list[i];
        return (
          <button
            type="button"
            class={`bufferrow ${b.id === current ? "here" : ""}`}
            onClick={() => open(b.id)}
            title={`${b.kind ?? "device"} memory at ${b.base}${b.freed ? ", freed" : ""}`}
          >
            <b>
              {bufferName(b)}
              {!b.name && b.given && (
                <span
                  class="dim given"
                  title={
                    "the parameter of the first kernel that was given it; " +
                    "what the program itself calls it is not known"
                  }
                >
                  {" "}
                  ({b.given})
                </span>
              )}
            </b>
            <span
              class="dim"
              title={
                b.why
                  ? `from ${b.why}`
                  : "not known: pointers to bytes (char, void) do not say it, others do with -g"
              }
            >
              {bufferType(b.id).known ? bufferType(b.id).name : "?"}
            </span>
            <span class="dim num">{bytesText(b.size)}</span>
          </button>
        );
      }}
    />
  );
}
