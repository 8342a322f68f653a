// The scale of a picture: its controls, its keys, its histogram.
import { useMemo } from "preact/hooks";
import { counted, many } from "../run/format";
import { MINUS, NAN, NUMBER, Picture, PLUS, scales, UNRECORDED, UNWRITTEN } from "./paint";
import { Look } from "../parts/trail";

export const scaleOf = (look: Look) =>
  look.colours && scales[look.colours] ? look.colours : "viridis";
export function ScaleControls({
  look,
  usual,
  number,
  choose,
}: {
  look: Look;
  usual?: [number, number];
  number(v: number): string;
  choose(more: Look): void;
}) {
  const limit = (name: "low" | "high", text: string, i: 0 | 1) => (
    <label>
      {text}{" "}
      <input
        type="number"
        step="any"
        aria-label={`scale ${text}`}
        value={look[name] ?? ""}
        placeholder={usual ? number(usual[i]) : ""}
        onChange={(e) =>
          choose({
            [name]: e.currentTarget.value === "" ? undefined : Number(e.currentTarget.value),
          })
        }
      />
    </label>
  );
  return (
    <>
      <label>
        colours{" "}
        <select value={scaleOf(look)} onChange={(e) => choose({ colours: e.currentTarget.value })}>
          {Object.keys(scales).map((s) => (
            <option>{s}</option>
          ))}
        </select>
      </label>
      {limit("low", "from", 0)}
      {limit("high", "to", 1)}
      <label>
        <input
          type="checkbox"
          checked={!!look.log}
          onChange={(e) => choose({ log: e.currentTarget.checked || undefined })}
        />{" "}
        log
      </label>
    </>
  );
}

interface FixedProps {
  title: string;
  look: Look;
  usual: [number, number];
  choose(more: Look): void;
}
export const FixedControl = ({ title, look, usual, choose }: FixedProps) => (
  <label title={title}>
    <input
      type="checkbox"
      checked={look.low !== undefined && look.high !== undefined}
      onChange={(e) =>
        choose(
          e.currentTarget.checked
            ? { low: usual[0], high: usual[1] }
            : { low: undefined, high: undefined },
        )
      }
    />{" "}
    fixed
  </label>
);

// The colours of values that are no finite numbers, as far as the picture has such.
export function SpecialKeys({ picture }: { picture?: Picture }) {
  const present = useMemo(() => {
    let f = 0;
    for (const x of picture?.flags ?? []) f |= x;
    return f;
  }, [picture]);
  return (
    <>
      {(
        [
          [UNWRITTEN, "unwritten", "never written"],
          [NAN, "nan", "NaN"],
          [PLUS, "plus", "+inf"],
          [MINUS, "minus", "−inf"],
          [UNRECORDED, "unrecorded", "not recorded"],
        ] as [number, string, string][]
      )
        .filter((k) => present & k[0])
        .map((k) => (
          <>
            <i class={`c-${k[1]}`} />
            {k[2]}{" "}
          </>
        ))}
    </>
  );
}

// How many pixels of each value there are; values outside of the scale count in the first or the
// last bar.
export function Histogram({
  picture,
  low,
  high,
  choose,
}: {
  picture: Picture;
  low: number;
  high: number;
  choose(low: number, high: number): void;
}) {
  const bars = useMemo(() => {
    const n = new Array<number>(42).fill(0);
    for (let i = 0; i < picture.flags.length; i++)
      if (picture.flags[i] & NUMBER) {
        const v = picture.mean[i];
        n[
          v < low
            ? 0
            : v > high
              ? 41
              : 1 + Math.min(39, Math.floor(((v - low) / Math.max(1e-300, high - low)) * 40))
        ]++;
      }
    return n;
  }, [picture, low, high]);
  const most = Math.max(1, ...bars);
  const out = bars[0] + bars[41];
  return (
    <div
      class="histogram"
      role="img"
      aria-label={`histogram: ${counted(out, "value")} outside of the scale`}
      title={
        `from ${low} to ${high}; ${many(out)} outside of the scale. ` +
        "Click: the scale of all values"
      }
      onClick={() => choose(picture.low, picture.high)}
    >
      {bars.map((n, i) => (
        <i
          class={i === 0 || i === 41 ? "outside" : ""}
          style={{ height: `${n ? Math.max(2, (26 * Math.log1p(n)) / Math.log1p(most)) : 0}px` }}
        />
      ))}
    </div>
  );
}
