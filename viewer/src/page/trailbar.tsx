// The path walked as a line of links, and the names of the panes in it.
import { Flow, kernelName } from "../flow/flowstep";
import { buffers, launches } from "../run/api";
import { bufferName, elementName, launchName, stepName } from "../run/format";
import { memoryName } from "../memory/memoryplace";
import { Copy } from "../parts/parts";
import { TimeBar } from "./timebar";
import { cut, Pane } from "../parts/trail";
import { variablesOfKernel } from "../run/types";

const variableOfPhase = (p: { launch: number; variable: number }) =>
  variablesOfKernel(launches.get(p.launch)?.kernel ?? 0)[p.variable];
export function trailLabel(p: Pane): string {
  switch (p.kind) {
    case "thread":
      return `${launchName(launches.get(p.launch), p.launch)} thread ${p.thread}`;
    case "element":
      return elementName(p.buffer, p.offset, p.bytes);
    case "buffer":
      return `${bufferName(buffers.get(p.buffer), p.buffer)} as picture`;
    case "source":
      return `line ${p.line}`;
    case "launch":
      return launchName(launches.get(p.launch), p.launch);
    case "finding":
      return `finding`;
    case "step":
      return stepName(p.step);
    case "watch":
      return "watch";
    case "calculator":
      return "calculator";
    case "memory":
      return memoryName(p);
    case "phase":
      return `${variableOfPhase(p)?.name ?? "memory"} as picture`;
    case "flow":
      return "flow";
    case "runs":
      return "two runs";
    case "slice":
      return "came from";
    case "twin":
      return `${bufferName(buffers.get(p.buffer), p.buffer)} compared`;
    case "versus":
      return `threads ${p.thread} and ${p.otherThread}`;
    case "profile":
      return "profile";
  }
}

// The path walked, from pane to pane, and the time cursor.
interface TrailProps {
  panes: Pane[];
  active: number;
  flow: Flow;
  choosePane(i: number): void;
}
export const TrailBar = ({ panes, active, flow, choosePane }: TrailProps) => (
  <nav class="trail" aria-label="the path walked">
    {panes.map((p, i) => (
      <>
        {i > 0 && (
          <span class="step" aria-hidden="true">
            ›
          </span>
        )}
        <button
          type="button"
          class={i === active ? "here" : ""}
          onClick={() => choosePane(i)}
          onDblClick={() => cut(i)}
          title="double click: back to here"
        >
          {trailLabel(p)}
        </button>
      </>
    ))}
    <TimeBar steps={flow.steps} kernel={(x) => kernelName(flow.kernels[x.kernel])} />
    {panes.length > 0 && <Copy label="Copy the address of this path" text={() => location.href} />}
  </nav>
);
