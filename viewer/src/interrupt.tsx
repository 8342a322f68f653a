// A round of an interrupt: its callers, what they passed and what the handler returned; to the thread before the call, and to the same thread as it goes on.
import { StepInfo, ask, launches } from "./api";
import { bytesOf, fileName, flowNames, launchName, many, scalarText, valueHex } from "./format";
import { useAnswer } from "./hooks";
import { Empty, Failure } from "./parts";
import { allSteps, stepIndex } from "./time";
import type { Pane } from "./trail";
import type { Scalar } from "./types";

interface Round { launch: number; total: number; result_bytes: number; callers: [thread: number, file: string, line: number, values: string[], result: string][] }
const MOST = 500;
// PTX does not say of which type a value is: a number of its size, and its bytes when pointed at.
const integers: Record<number, Scalar> = { 1: "i8", 2: "i16", 4: "i32", 8: "i64" };
function Value({ hex }: { hex: string }) {
  const d = bytesOf(hex), whole = integers[d.byteLength], float = d.byteLength === 4 ? d.getFloat32(0, true) : d.byteLength === 8 ? d.getFloat64(0, true) : NaN;
  return <span class="num" title={`${valueHex(hex)}${Number.isFinite(float) ? `; as a number with a point ${float}` : ""}`}>{!hex ? "" : whole ? scalarText(d, 0, whole) : valueHex(hex)}</span>;
}

export function Interrupted({ step, of, go }: { step: number; of: StepInfo; go(p: Pane): void }) {
  const found = useAnswer<Round>(() => ask("interrupt", { step, most: MOST }), [step]), r = found.value;
  if (found.error) return <Failure text={found.error} />;
  if (!r) return <Empty>reading…</Empty>;
  // The launch in which the threads go on is the next of the resumed kernel.
  const next = allSteps.slice(stepIndex(step) + 1).find(s => s.kind === "launch" && (flowNames.get(s.launch) ?? "").startsWith("resumed "));
  const thread = (launch: number, t: number) => <button type="button" class="link" onClick={() => go({ kind: "thread", launch, thread: t })}>thread {t}</button>;
  return <><h3>{r.total === 1 ? "1 caller" : `${many(r.total)} callers`}{r.callers.length < r.total ? `, the first ${many(r.callers.length)}` : ""}</h3>
    <p class="dim">called in {launchName(launches.get(r.launch), r.launch)}{next ? `, which goes on in ${flowNames.get(next.launch)}` : ""}</p>
    <table class="callers"><thead><tr><td>called by</td><td>at</td><td>passed</td>{r.result_bytes > 0 && <td>returned</td>}{next && <td>goes on</td>}</tr></thead><tbody>{r.callers.map(([t, file, line, values, result]) => <tr>
      <td>{thread(r.launch, t)}</td><td class="dim">{file ? `${fileName(file)}:${line}` : ""}</td><td>{values.map((v, i) => <>{i > 0 && ", "}<Value hex={v} /></>)}</td>{r.result_bytes > 0 && <td><Value hex={result} /></td>}{next && <td>{thread(next.launch, t)}</td>}</tr>)}</tbody></table>
    {!of.stack.length && <></>}</>;
}
