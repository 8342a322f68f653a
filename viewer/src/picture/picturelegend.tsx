// The legend below the picture of a buffer: the chosen element, the scale, and the meaning of
// colours.
import { Finding } from "../run/api";
import { counted, elementName } from "../run/format";
import { Picture } from "./paint";
import { Choose } from "./picturecontrols";
import { BufferView } from "./picturedata";
import { fieldOf, ShownElement } from "./pictureelement";
import { BufferLook } from "./picturelayout";
import { Histogram, scaleOf, SpecialKeys } from "./scale";

export function shownName({ pane, part }: BufferView, { element }: ShownElement) {
  const field = fieldOf(part);
  return elementName(pane.buffer, element * part.type.bytes + field.offset, field.bytes);
}

interface LegendProps {
  view: BufferView;
  picture?: Picture;
  done: number;
  low: number;
  high: number;
  shown: ShownElement;
  marks?: Uint8Array;
  findings: Finding[];
  number(v: number): string;
  choose: Choose;
}
function UnderCursor({ view, done, low, high, shown, number }: LegendProps) {
  const { first, width } = view.layout;
  return (
    <span class="under">
      {shown.element >= 0 ? (
        <>
          <b>{shownName(view, shown)}</b> {shown.text}{" "}
          <span class="dim">
            row {Math.floor((shown.element - first) / width)}, column{" "}
            {(shown.element - first) % width}
          </span>
        </>
      ) : done < 1 ? (
        <span class="dim">{Math.round(100 * done)} %</span>
      ) : (
        <span class="dim">
          {number(low)} <i class={`ramp ${scaleOf(view.pane).replace("-", "")}`} /> {number(high)}
        </span>
      )}
    </span>
  );
}

interface TouchedProps {
  pane: BufferLook;
  marks: Uint8Array;
  choose: Choose;
}
const TouchedKey = ({ pane, marks, choose }: TouchedProps) => (
  <span class="touched">
    <i class="c-read" />
    read <i class="c-written" />
    written by thread
    {pane.firstThread === pane.lastThread
      ? ` ${pane.firstThread ?? 0}`
      : `s ${pane.firstThread ?? 0} to ${pane.lastThread ?? 0}`}
    :{" "}
    {counted(
      marks.reduce((n, m) => n + Number(m > 0), 0),
      "element",
    )}{" "}
    <button
      type="button"
      class="link"
      onClick={() => choose({ ofLaunch: undefined, firstThread: undefined, lastThread: undefined })}
    >
      all
    </button>
  </span>
);

export function PictureLegend(props: LegendProps) {
  const { view, picture, low, high, marks, choose } = props;
  return (
    <footer class="legend">
      <UnderCursor {...props} />
      {picture && Number.isFinite(low) && high > low && (
        <Histogram
          picture={picture}
          low={low}
          high={high}
          choose={(l, h) => choose({ low: l, high: h })}
        />
      )}
      <span class="keys">
        {marks && <TouchedKey pane={view.pane} marks={marks} choose={choose} />}
        <SpecialKeys picture={picture} />
        {props.findings.some((f) => f.allocation === view.pane.buffer) && (
          <>
            <i class="c-finding" />
            finding
          </>
        )}
      </span>
    </footer>
  );
}
