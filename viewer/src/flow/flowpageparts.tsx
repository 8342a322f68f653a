// The parts around the chart of the page of flow: its controls, and the line below that describes
// the step and buffer under the mouse.
import { ComponentChildren } from "preact";
import { Buffer, FlowStep } from "../run/api";
import { FlowFilter, FlowView } from "./flowpagelayout";
import { Flow, accessText, stepText } from "./flowstep";
import { bufferName, bytesText, counted } from "../run/format";
import { FlowMarks } from "../parts/parts";

function Check({
  checked,
  choose,
  name,
  children,
}: {
  checked: boolean;
  choose(on: boolean): void;
  name?: string;
  children: ComponentChildren;
}) {
  return (
    <>
      <input
        type="checkbox"
        name={name}
        checked={checked}
        onChange={(e) => choose(e.currentTarget.checked)}
      />{" "}
      {children}
    </>
  );
}

export function FlowControls({ filter, view }: { filter: FlowFilter; view: FlowView }) {
  const chooseClock = (on: boolean) => {
    view.setByTime(on);
    view.showAll();
  };
  return (
    <div class="controls">
      <label>
        find{" "}
        <input
          type="search"
          aria-label="kernels and buffers"
          placeholder="a kernel or a buffer"
          value={filter.text}
          onInput={(e) => {
            filter.setText(e.currentTarget.value);
            view.setTop(0);
          }}
        />
      </label>
      <label
        title={
          "how long each step took, as far as that is known; " +
          "otherwise each step has the same width"
        }
      >
        <Check checked={view.byTime} choose={chooseClock}>
          by the clock
        </Check>
      </label>
      <label>
        <Check name="only-bad" checked={filter.bad} choose={filter.setBad}>
          only with findings or races
        </Check>
      </label>
      <label>
        <Check checked={!filter.onlyUsed} choose={(on) => filter.setOnlyUsed(!on)}>
          buffers that nothing uses
        </Check>
      </label>
    </div>
  );
}

// What the mouse or the cursor of the keyboard points to. how: how the step uses the buffer.
export interface Pointed {
  step: FlowStep | undefined;
  buffer: Buffer | undefined;
  how: number | undefined;
}

export function FlowFoot({
  pointed: { step, buffer, how },
  flow,
  races,
}: {
  pointed: Pointed;
  flow: Flow;
  races: Map<number, number>;
}) {
  return (
    <div class="flowfoot">
      {step ? (
        <>
          {stepText(flow, step, races)}
          {buffer && how !== undefined && <> — {accessText(step, how, bufferName(buffer))}</>}
        </>
      ) : buffer ? (
        `${bufferName(buffer)}: ${bytesText(buffer.size)}, ` +
        `used by ${counted(flow.index.uses.get(buffer.id)?.length ?? 0, "step")}`
      ) : (
        <FlowMarks unrecorded given={flow.index.given} />
      )}
    </div>
  );
}
