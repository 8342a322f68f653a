// The controls above the picture of a buffer: its width, scale, slices, difference and time.
import { askBytes, FlowStep, isStatic } from "../run/api";
import { FindStep } from "../parts/find";
import { BufferView, questionOf } from "./picturedata";
import { BufferLook, ShownPart } from "./picturelayout";
import { FixedControl, ScaleControls } from "./scale";
import { hostTail, setTime, stepById } from "../run/time";

export type Choose = (more: Partial<BufferLook>) => void;

interface WidthProps {
  view: BufferView;
  widths: [name: string, width: number][];
  choose: Choose;
}
function WidthControl({ view, widths, choose }: WidthProps) {
  const { count, width } = view.layout;
  return (
    <label>
      width{" "}
      <input
        type="number"
        min={1}
        max={Math.max(1, count)}
        value={width}
        onChange={(e) => {
          const n = Math.floor(Number(e.currentTarget.value));
          if (n >= 1 && n <= count) choose({ width: n, x: 0, y: 0 });
        }}
      />
      {widths.length > 0 && (
        <span class="widths">
          {widths.map(([name, n]) => (
            <button
              type="button"
              class="link"
              title={
                `rows of ${n} elements: ` +
                `${name} is a parameter of a kernel that uses this buffer`
              }
              onClick={() => choose({ width: n, x: 0, y: 0 })}
            >
              {name} {n}
            </button>
          ))}
        </span>
      )}
    </label>
  );
}

// Chooses the member of a struct to show.
export const PartControl = ({
  shown,
  choose,
}: {
  shown: ShownPart;
  choose(more: { part: number }): void;
}) => (
  <label>
    part{" "}
    <select value={shown.part} onChange={(e) => choose({ part: Number(e.currentTarget.value) })}>
      {shown.all.map((l, i) => (
        <option value={i}>{l.path.replace(/^\./, "")}</option>
      ))}
    </select>
  </label>
);

const MeaningControl = ({ pane, choose }: { pane: BufferLook; choose: Choose }) => (
  <label title="which value an element has, or which step wrote it last">
    by{" "}
    <select
      aria-label="what colours mean"
      value={pane.by ?? ""}
      onChange={(e) =>
        choose({
          by: e.currentTarget.value === "writes" ? "writes" : undefined,
          low: undefined,
          high: undefined,
          minus: undefined,
        })
      }
    >
      <option value="">value</option>
      <option value="writes">last write</option>
    </select>
  </label>
);

function SliceControls({ view, choose }: { view: BufferView; choose: Choose }) {
  const { depth, slice, slices } = view.layout;
  return (
    <>
      <label title="three dimensions: rows of a slice">
        slices of{" "}
        <input
          type="number"
          class="short"
          min={0}
          value={depth || ""}
          placeholder="–"
          aria-label="rows of a slice"
          onChange={(e) =>
            choose({
              rows: Math.max(0, Math.floor(Number(e.currentTarget.value))) || undefined,
              slice: 0,
              x: 0,
              y: 0,
            })
          }
        />{" "}
        rows
      </label>
      {depth > 0 && (
        <label>
          slice{" "}
          <input
            type="range"
            min={0}
            max={slices - 1}
            value={slice}
            onInput={(e) => choose({ slice: Number(e.currentTarget.value) })}
          />{" "}
          {slice}
        </label>
      )}
    </>
  );
}

interface DifferenceProps {
  pane: BufferLook;
  before: number; // the step to compare with
  choose: Choose;
}
function DifferenceControl({ pane, before, choose }: DifferenceProps) {
  const minus = pane.minus === undefined ? undefined : stepById(pane.minus);
  return (
    <label title="what has changed since another step">
      <input
        type="checkbox"
        checked={pane.minus !== undefined}
        onChange={(e) =>
          choose({
            minus: e.currentTarget.checked ? before : undefined,
            colours: e.currentTarget.checked ? "blue-red" : undefined,
            low: undefined,
            high: undefined,
          })
        }
      />{" "}
      difference
      {pane.minus !== undefined && minus?.kind === "launch" && ` to launch #${minus.number}`}
      {pane.minus !== undefined && minus?.kind !== "launch" && " to the step before"}
    </label>
  );
}

interface PictureProps extends WidthProps {
  usual: [number, number];
  isRead: boolean; // some of the picture is there
  before: number;
  number(v: number): string;
}
export function PictureControls(props: PictureProps) {
  const { view, usual, choose } = props;
  const { pane, part } = view;
  return (
    <div class="controls">
      <WidthControl {...props} />
      {part.all.length > 1 && <PartControl shown={part} choose={choose} />}
      <ScaleControls
        look={pane}
        usual={props.isRead ? usual : undefined}
        number={(v) => (pane.by ? String(v) : props.number(v))}
        choose={choose}
      />
      {!isStatic() && <MeaningControl pane={pane} choose={choose} />}
      <FixedControl
        title="the scale stays as it is now when the step changes"
        look={pane}
        usual={usual}
        choose={choose}
      />
      <SliceControls view={view} choose={choose} />
      <DifferenceControl pane={pane} before={props.before} choose={choose} />
    </div>
  );
}

// The first step after which an element has a value that is looked for.
export function FindControls({
  view,
  used,
  found,
}: {
  view: BufferView;
  used: FlowStep[];
  found(element: number): void;
}) {
  const { pane, part, layout } = view;
  const { bytes } = part.type;
  return (
    <div class="controls">
      <FindStep
        steps={used}
        count={layout.count}
        width={layout.width}
        scalar={part.leaf.scalar}
        exact={{
          scalar: part.leaf.scalar,
          stride: bytes,
          offset: part.leaf.offset,
          bytes: (at, first, n) =>
            askBytes("contents", {
              allocation: pane.buffer,
              step: at,
              offset: first * bytes,
              bytes: n * bytes,
            }),
        }}
        load={(at, n, k) =>
          askBytes("picture", {
            ...questionOf(view),
            step: at,
            first: 0,
            rows: n,
            pool_x: k,
            pool_y: k,
          })
        }
        found={(at, element) => {
          setTime(at);
          found(element);
        }}
      />
    </div>
  );
}

function afterText(step: number): string {
  if (step === 0) return "at the end";
  const s = stepById(step);
  return s
    ? s.kind === "launch"
      ? `after launch #${s.number}`
      : `after ${s.call || s.kind}${hostTail(s.id)}`
    : `after step ${step}`;
}
// The step's place among those that may have changed the buffer.
export function placeAmong(used: FlowStep[], step: number): number {
  const at = used.findIndex((s) => s.id >= step);
  if (step === 0 || at < 0) return used.length;
  return used[at].id === step ? at : Math.max(0, at - 1);
}
export const TimeControls = ({ used, step }: { used: FlowStep[]; step: number }) => (
  <div class="controls time">
    <input
      type="range"
      aria-label="after which step"
      min={0}
      max={used.length}
      value={placeAmong(used, step)}
      onInput={(e) => {
        const i = Number(e.currentTarget.value);
        setTime(i >= used.length ? 0 : used[i].id);
      }}
    />
    <span>{afterText(step)}</span>
  </div>
);
