// What a launch was: its shape, its stream, when it ran, its parameters.
import { useState } from "preact/hooks";
import { buffers, isStatic, LaunchInfo } from "../run/api";
import {
  streamOf,
  bufferName,
  counted,
  duration,
  streamNames,
  threadCount,
  triple,
} from "../run/format";
import { parameterType, parameterValue } from "../parts/parameters";
import { Button } from "../parts/parts";
import { allSteps } from "../run/time";

// A run with --record=inputs: warpgrind expand runs the launch again, recorded; the result is a
// page of its own.
export function RecordInFull({ number }: { number: number }) {
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

const ThreadForm = ({ total, open }: { total: number; open(thread: number): void }) => (
  <form
    class="inline"
    onSubmit={(e) => {
      e.preventDefault();
      const n = Number(new FormData(e.currentTarget).get("n"));
      if (n >= 0 && n < total) open(n);
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
);

const Ran = ({ begin, end, asked }: { begin: number; end: number; asked: number }) => (
  <>
    <dt>ran</dt>
    <dd>
      {duration(end - begin)}, from {duration(Math.max(0, begin - asked))} after it was asked for
    </dd>
  </>
);

export function LaunchFacts({ info, open }: { info: LaunchInfo; open(thread: number): void }) {
  const { launch: l, begin_ns, end_ns } = info;
  const total = threadCount(l);
  const several = [...buffers.values()].some((b) => b.process !== l.process);
  return (
    <dl>
      <dt>grid</dt>
      <dd>
        {triple(l.grid)} blocks of {triple(l.block)}: {counted(total, "thread")}
      </dd>
      <dt>where</dt>
      <dd title={info.stream}>
        {streamNames.get(streamOf.get(l.id) ?? 0) ?? info.stream}, device {l.device}
        {several ? `, process ${l.process}` : ""}
        {info.shared ? `, ${info.shared} bytes of dynamic shared memory` : ""}
      </dd>
      {begin_ns !== undefined && end_ns !== undefined && (
        <Ran begin={begin_ns} end={end_ns} asked={info.time_ns} />
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
        <ThreadForm total={total} open={open} />
      </dd>
    </dl>
  );
}

type Parameter = LaunchInfo["parameters"][number];
function ParameterRow({ p, open }: { p: Parameter; open(buffer: number): void }) {
  return (
    <tr>
      <td class="dim num">{p.number}</td>
      <td>{p.name ?? ""}</td>
      <td>
        {p.allocation ? (
          <button type="button" class="link" onClick={() => open(p.allocation)}>
            {bufferName(buffers.get(p.allocation), p.allocation)}
          </button>
        ) : (
          parameterValue(p.value, p.bytes, parameterType(p), open)
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
  );
}
export function ParameterTable({ info, open }: { info: LaunchInfo; open(buffer: number): void }) {
  return (
    <section>
      <h3>Parameters</h3>
      {info.parameters.length === 0 ? (
        <p class="dim">not recorded</p>
      ) : (
        <table>
          <tbody>
            {info.parameters.map((p) => (
              <ParameterRow p={p} open={open} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
