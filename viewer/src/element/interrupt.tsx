// A round of an interrupt: its callers, their arguments and the handler's results. Links lead to a
// thread before its call, and to the same thread after it.
import { StepInfo, ask, launches } from "../run/api";
import {
  bytesOf,
  fileName,
  flowNames,
  launchName,
  many,
  scalarText,
  valueHex,
} from "../run/format";
import { useAnswer } from "../parts/hooks";
import { Empty, Failure } from "../parts/parts";
import { allSteps, stepIndex } from "../run/time";
import type { Pane } from "../parts/trail";
import type { Scalar } from "../run/types";

interface Round {
  launch: number;
  total: number;
  result_bytes: number;
  types?: string;
  callers: [thread: number, file: string, line: number, values: string[], result: string][];
}
const MOST = 500;
// "4s,4f=4s": the parameters and the result, by size and letter. Without a letter: a number of its
// size. The bytes are shown when a value is pointed at.
const scalars: Record<string, Scalar> = {
  "1s": "i8",
  "2s": "i16",
  "4s": "i32",
  "8s": "i64",
  "1u": "u8",
  "2u": "u16",
  "4u": "u32",
  "8u": "u64",
  "4f": "f32",
  "8f": "f64",
  1: "i8",
  2: "i16",
  4: "i32",
  8: "i64",
};
function Value({ hex, type }: { hex: string; type: string }) {
  const known = scalars[type];
  return (
    <span class="num" title={valueHex(hex)}>
      {!hex ? "" : known ? scalarText(bytesOf(hex), 0, known) : valueHex(hex)}
    </span>
  );
}

export function Interrupted({ step, of, go }: { step: number; of: StepInfo; go(p: Pane): void }) {
  const found = useAnswer<Round>(() => ask("interrupt", { step, most: MOST }), [step]),
    r = found.value;
  if (found.error) return <Failure text={found.error} />;
  if (!r) return <Empty>reading…</Empty>;
  const [passed = "", returned = String(r.result_bytes)] = (r.types ?? "").split("="),
    types = passed.split(",");
  // The launch in which the threads go on is the next of the resumed kernel.
  const next = allSteps
    .slice(stepIndex(step) + 1)
    .find((s) => s.kind === "launch" && (flowNames.get(s.launch) ?? "").startsWith("resumed "));
  const thread = (launch: number, t: number) => (
    <button type="button" class="link" onClick={() => go({ kind: "thread", launch, thread: t })}>
      thread {t}
    </button>
  );
  return (
    <>
      <h3>
        {r.total === 1 ? "1 caller" : `${many(r.total)} callers`}
        {r.callers.length < r.total ? `, the first ${many(r.callers.length)}` : ""}
      </h3>
      <p class="dim">
        called in {launchName(launches.get(r.launch), r.launch)}
        {next ? `, which goes on in ${flowNames.get(next.launch)}` : ""}
      </p>
      <table class="callers">
        <thead>
          <tr>
            <td>called by</td>
            <td>at</td>
            <td>passed</td>
            {r.result_bytes > 0 && <td>returned</td>}
            {next && <td>goes on</td>}
          </tr>
        </thead>
        <tbody>
          {r.callers.map(([t, file, line, values, result]) => (
            <tr>
              <td>{thread(r.launch, t)}</td>
              <td class="dim">{file ? `${fileName(file)}:${line}` : ""}</td>
              <td>
                {values.map((v, i) => (
                  <>
                    {i > 0 && ", "}
                    <Value hex={v} type={types[i] ?? ""} />
                  </>
                ))}
              </td>
              {r.result_bytes > 0 && (
                <td>
                  <Value hex={result} type={returned} />
                </td>
              )}
              {next && <td>{thread(next.launch, t)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {!of.stack.length && <></>}
    </>
  );
}
