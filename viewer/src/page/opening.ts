// Opens the panes that the page has one of, and moves the cursor of time.
import { FlowStep } from "../run/api";
import { setTime, stepIndex, timeStep } from "../run/time";
import { cut, follow, Pane, start, trail } from "../parts/trail";

const placeOf = (kind: Pane["kind"]) => trail().findIndex((p) => p.kind === kind);

export function openFlow() {
  const i = placeOf("flow");
  if (i >= 0) {
    cut(i);
    document.querySelector<HTMLElement>(".flowbox.big")?.focus();
  } else start({ kind: "flow" });
}
export function openRuns() {
  const i = placeOf("runs");
  if (i >= 0) cut(i);
  else start({ kind: "runs" });
}
export function openProfile() {
  const i = placeOf("profile");
  if (i >= 0) cut(i);
  else start({ kind: "profile", kernel: 0 });
}
export function openCalculator(choosePane: (i: number) => void) {
  const i = placeOf("calculator");
  if (i >= 0) choosePane(i);
  else if (trail().length) follow(trail().length - 1, { kind: "calculator", expression: "" });
  else start({ kind: "calculator", expression: "" });
}

export function moveTime(steps: FlowStep[], by: number) {
  const n = steps.length;
  const i = (timeStep() ? stepIndex(timeStep()) : n) + by;
  if (n) setTime(i >= n ? 0 : steps[Math.max(0, i)].id);
}
