// The time cursor over the whole run: scrub, step, play. What every pane shows follows it.
import { useEffect, useState } from "preact/hooks";
import { FlowStep } from "./api";
import { many } from "./format";
import { useListen } from "./hooks";
import { Button } from "./parts";
import { hostTail, onTime, setTime, stepIndex, timeStep } from "./time";

export function stepLabel(s: FlowStep | undefined, kernel: (s: FlowStep) => string): string {
  return !s
    ? "the end of the run"
    : s.kind === "launch"
      ? `${kernel(s)} #${s.number}`
      : `${s.call || s.kind}${hostTail(s.id)}`;
}

export function TimeBar({ steps, kernel }: { steps: FlowStep[]; kernel(s: FlowStep): string }) {
  useListen(onTime);
  const [playing, play] = useState(false),
    at = timeStep() ? stepIndex(timeStep()) : steps.length,
    n = steps.length;
  const go = (i: number) => setTime(i >= n ? 0 : steps[Math.max(0, i)].id);
  useEffect(() => {
    if (!playing) return;
    if (at >= n) {
      play(false);
      return;
    }
    const timer = setTimeout(() => go(at + 1), Math.max(60, Math.min(700, 20000 / Math.max(1, n))));
    return () => clearTimeout(timer);
  }, [playing, at, n]);
  if (!n) return <></>;
  return (
    <div class="timebar" role="group" aria-label="time: after which step the page shows memory">
      <Button
        icon="first"
        label="Time: the first step"
        onClick={() => {
          play(false);
          go(0);
        }}
      />
      <Button
        icon="left"
        label="Time: the step before (,)"
        disabled={at <= 0}
        onClick={() => {
          play(false);
          go(at - 1);
        }}
      />
      <Button
        icon={playing ? "pause" : "play"}
        label={playing ? "Stop (space)" : "Play (space)"}
        onClick={() => {
          if (!playing && at >= n) go(0);
          play(!playing);
        }}
      />
      <Button
        icon="right"
        label="Time: the next step (.)"
        disabled={at >= n}
        onClick={() => {
          play(false);
          go(at + 1);
        }}
      />
      <Button
        icon="last"
        label="Time: the end of the run"
        onClick={() => {
          play(false);
          go(n);
        }}
      />
      <input
        type="range"
        aria-label="time"
        aria-valuetext={stepLabel(steps[at], kernel)}
        min={0}
        max={n}
        value={at < 0 ? n : at}
        onInput={(e) => {
          play(false);
          go(Number(e.currentTarget.value));
        }}
      />
      <span class="timelabel">
        {at >= n || at < 0 ? (
          "end of the run"
        ) : (
          <>
            after <b>{stepLabel(steps[at], kernel)}</b>{" "}
            <span class="dim">
              {many(at + 1)} of {many(n)}
            </span>
          </>
        )}
      </span>
    </div>
  );
}
