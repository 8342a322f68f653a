// The roofline plot of a profile's kernels.
import { many } from "../run/format";
import { Kernel, Peaks } from "./profiledata";

const W = 520;
const H = 250;
const LEFT = 56;
const LOW = 30;
const FROM_X = 1 / 128;
const UPTO_X = 256;
const log = (v: number, from: number, upto: number) =>
  (Math.log10(v) - Math.log10(from)) / (Math.log10(upto) - Math.log10(from));

// Both axes are logarithmic: FP instructions for each byte, and FP instructions in a nanosecond.
function axesOf(peaks: Peaks) {
  const topY = peaks.float * 2;
  const fromY = topY / 1e5;
  const clamp = (v: number, from: number, upto: number) => Math.min(upto, Math.max(from, v));
  return {
    X: (v: number) => LEFT + (W - LEFT - 12) * log(clamp(v, FROM_X, UPTO_X), FROM_X, UPTO_X),
    Y: (v: number) => H - LOW - (H - LOW - 10) * log(clamp(v, fromY, topY), fromY, topY),
    roof: (v: number) => Math.min(peaks.float, v * peaks.memory),
  };
}
type Axes = ReturnType<typeof axesOf>;

function Grid({ peaks, axes: { X, Y } }: { peaks: Peaks; axes: Axes }) {
  const across = [1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64];
  const up = [1e-3, 1e-2, 1e-1, 1].map((s) => peaks.float * s);
  return (
    <>
      {across.map((m) => (
        <g>
          <line class="grid" x1={X(m)} x2={X(m)} y1={10} y2={H - LOW} />
          <text x={X(m)} y={H - 16} text-anchor="middle">
            {m < 1 ? `1/${1 / m}` : m}
          </text>
        </g>
      ))}
      {up.map((v) => (
        <g>
          <line class="grid" x1={LEFT} x2={W - 12} y1={Y(v)} y2={Y(v)} />
          <text x={LEFT - 6} y={Y(v) + 4} text-anchor="end">
            {v >= 1000 ? `${(v / 1000).toFixed(0)} T` : `${v.toFixed(0)} G`}
          </text>
        </g>
      ))}
    </>
  );
}

function KernelDot({
  kernel: k,
  axes: { X, Y, roof },
  here,
  choose,
}: {
  kernel: Kernel;
  axes: Axes;
  here: boolean;
  choose(): void;
}) {
  const at = k.ns ? k.roofline.floats / k.ns : roof(k.roofline.intensity);
  return (
    <g class={`kernel ${here ? "here" : ""}`} onClick={choose}>
      <circle
        cx={X(k.roofline.intensity)}
        cy={Y(at)}
        r={here ? 6 : 4.5}
        class={k.ns ? "" : "untimed"}
      />
      <title>
        {`${k.kernel}: ${k.roofline.intensity.toPrecision(3)} FP instructions a byte` +
          (k.ns ? "" : "; no times: its place on the roof")}
      </title>
    </g>
  );
}

export function RooflinePlot({
  kernels,
  peaks,
  chosen,
  choose,
}: {
  kernels: Kernel[];
  peaks: Peaks;
  chosen: number;
  choose(i: number): void;
}) {
  const shown = kernels.map((k, i) => ({ k, i })).filter(({ k }) => k.roofline.intensity > 0);
  const axes = axesOf(peaks);
  const { X, Y, roof } = axes;
  const knee = peaks.float / peaks.memory;
  const path =
    `M${X(FROM_X)} ${Y(roof(FROM_X))}` +
    `L${X(knee)} ${Y(peaks.float)}L${X(UPTO_X)} ${Y(peaks.float)}`;
  return (
    <figure class="plot">
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label="roofline">
        <Grid peaks={peaks} axes={axes} />
        <path class="roof" d={path} />
        {shown.map(({ k, i }) => (
          <KernelDot kernel={k} axes={axes} here={i === chosen} choose={() => choose(i)} />
        ))}
        <text x={(W + LEFT) / 2} y={H - 2} text-anchor="middle">
          FP instructions for each byte of memory
        </text>
      </svg>
      <figcaption>
        FP instructions in a nanosecond, below the roof of {peaks.device}. An FMA counts once.
        {shown.some((s) => !s.k.ns)
          ? " Hollow: there are no times, so the place on the roof is shown."
          : ""}
        {shown.length < kernels.length
          ? " Kernels without arithmetic or global memory are not on it: " +
            `${many(kernels.length - shown.length)}.`
          : ""}
      </figcaption>
    </figure>
  );
}
