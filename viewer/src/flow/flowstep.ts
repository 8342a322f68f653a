// Texts of both flow charts about a step: its name, and how it uses a buffer.
import { FlowStep } from "../run/api";
import type { FlowIndex } from "./flowindex";
import { bytesText, launchText } from "../run/format";

export interface Flow {
  steps: FlowStep[];
  kernels: Record<string, string>;
  total: number;
  index: FlowIndex;
}

export const kernelName = (readable: string | undefined) =>
  (readable ?? "?")
    .replace(/\(anonymous namespace\)::/g, "")
    .replace(/^void /, "")
    .replace(/[<(].*$/, "") || "?";

export const stepLabel = (flow: Flow, s: FlowStep) =>
  s.kind === "launch" ? kernelName(flow.kernels[s.kernel]) : s.call || s.kind;

// tail: the number of a copy or set
export const stepText = (flow: Flow, s: FlowStep, races: Map<number, number>, tail = "") =>
  s.kind === "launch"
    ? launchText(stepLabel(flow, s), s, races.get(s.launch))
    : `${stepLabel(flow, s)}${tail}: ${bytesText(s.bytes)}`;

export function accessText(s: FlowStep, how: number, buffer: string): string {
  if (how) return `${how === 3 ? "reads and writes" : how === 2 ? "writes" : "reads"} ${buffer}`;
  return s.recorded ? `is given ${buffer} and does not touch it` : `is given ${buffer}`;
}
