// The time cursor over the whole run: scrub, step, play. Every pane follows it.
import { useEffect, useState } from "preact/hooks";
import { FlowStep } from "../run/api";
import { many } from "../run/format";
import { useListen } from "../parts/hooks";
import { Button } from "../parts/parts";
import { hostTail, onTime, setTime, stepIndex, timeStep } from "../run/time";

export function stepLabel(s: FlowStep | undefined, kernel: (s: FlowStep) => string): string {
  return !s
    ? "the end of the run"
    : s.kind === "launch"
      ? `${kernel(s)} #${s.number}`
      : `${s.call || s.kind}${hostTail(s.id)}`;
}

interface TimeProps {
  steps: FlowStep[];
  kernel(s: FlowStep): string;
}
// at: how many steps are before the cursor; go stops playing.
interface PartProps extends TimeProps {
  at: number;
  go(to: number): void;
}
const StepButtons = ({
  steps,
  at,
  playing,
  go,
  turn,
}: PartProps & { playing: boolean; turn(): void }) => (
  <>
    <Button icon="first" label="Time: the first step" onClick={() => go(0)} />
    <Button
      icon="left"
      label="Time: the step before (,)"
      disabled={at <= 0}
      onClick={() => go(at - 1)}
    />
    <Button
      icon={playing ? "pause" : "play"}
      label={playing ? "Stop (space)" : "Play (space)"}
      onClick={turn}
    />
    <Button
      icon="right"
      label="Time: the next step (.)"
      disabled={at >= steps.length}
      onClick={() => go(at + 1)}
    />
    <Button icon="last" label="Time: the end of the run" onClick={() => go(steps.length)} />
  </>
);
const Cursor = ({ steps, kernel, at, go }: PartProps) => (
  <>
    <input
      type="range"
      aria-label="time"
      aria-valuetext={stepLabel(steps[at], kernel)}
      min={0}
      max={steps.length}
      value={at < 0 ? steps.length : at}
      onInput={(e) => go(Number(e.currentTarget.value))}
    />
    <span class="timelabel">
      {at >= steps.length || at < 0 ? (
        "end of the run"
      ) : (
        <>
          after <b>{stepLabel(steps[at], kernel)}</b>{" "}
          <span class="dim">
            {many(at + 1)} of {many(steps.length)}
          </span>
        </>
      )}
    </span>
  </>
);

export function TimeBar({ steps, kernel }: TimeProps) {
  useListen(onTime);
  const [playing, play] = useState(false);
  const n = steps.length;
  const at = timeStep() ? stepIndex(timeStep()) : n;
  const move = (i: number) => setTime(i >= n ? 0 : steps[Math.max(0, i)].id);
  useEffect(() => {
    if (!playing) return;
    if (at >= n) {
      play(false);
      return;
    }
    const pause = Math.max(60, Math.min(700, 20000 / Math.max(1, n)));
    const timer = setTimeout(() => move(at + 1), pause);
    return () => clearTimeout(timer);
  }, [playing, at, n]);
  if (!n) return <></>;
  const go = (to: number) => {
    play(false);
    move(to);
  };
  const turn = () => {
    if (!playing && at >= n) move(0);
    play(!playing);
  };
  return (
    <div class="timebar" role="group" aria-label="time: after which step the page shows memory">
      <StepButtons {...{ steps, kernel, at, go, playing, turn }} />
      <Cursor {...{ steps, kernel, at, go }} />
    </div>
  );
}
