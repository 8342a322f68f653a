// The occupancy of a kernel: warps by threads of a block, registers and shared memory.
import { bytesText } from "../run/format";
import { Kernel } from "./profiledata";

function Curve({
  points,
  at,
  most,
  label,
  unit,
}: {
  points: [number, number][];
  at: number;
  most: number;
  label: string;
  unit: (n: number) => string;
}) {
  const w = 210;
  const h = 120;
  const last = points[points.length - 1]?.[0] ?? 1;
  const X = (v: number) => 26 + ((w - 34) * v) / last;
  const Y = (v: number) => h - 22 - ((h - 32) * v) / most;
  const path = points.map(([x, y], i) => `${i ? `H${X(x)}` : `M${X(x)} ${Y(y)}`}V${Y(y)}`).join("");
  return (
    <svg viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`warps by ${label}`}>
      {[0, most / 2, most].map((v) => (
        <g>
          <line class="grid" x1={26} x2={w - 8} y1={Y(v)} y2={Y(v)} />
          <text x={22} y={Y(v) + 4} text-anchor="end">
            {v}
          </text>
        </g>
      ))}
      <path class="curve" d={path} />
      <line class="now" x1={X(at)} x2={X(at)} y1={8} y2={h - 22} />
      <text x={Math.max(40, Math.min(w - 30, X(at)))} y={h - 9} text-anchor="middle" class="now">
        {unit(at)}
      </text>
      <text x={w - 8} y={h - 9} text-anchor="end">
        {unit(last)}
      </text>
      <title>{`warps that a multiprocessor holds, by ${label}`}</title>
    </svg>
  );
}
export function OccupancyPlots({ k }: { k: Kernel }) {
  const o = k.occupancy,
    c = k.curves;
  if (!o || !c)
    return (
      <p class="dim">Registers are not known: ptxas was not installed where the program ran.</p>
    );
  return (
    <figure class="plot curves">
      <div>
        <Curve
          points={c.threads}
          at={o.threads}
          most={o.most_warps}
          label="threads of a block"
          unit={(n) => `${n} threads`}
        />
        <Curve
          points={c.registers}
          at={o.registers}
          most={o.most_warps}
          label="registers of a thread"
          unit={(n) => `${n} registers`}
        />
        <Curve
          points={c.shared}
          at={o.shared}
          most={o.most_warps}
          label="shared memory of a block"
          unit={(n) => bytesText(n)}
        />
      </div>
      <figcaption>
        {o.warps} of {o.most_warps} warps fit on a multiprocessor of sm_{o.arch}, limited by{" "}
        {o.limit}
        {k.waves ? `; the largest launch fills the device ${k.waves.waves.toFixed(2)} times` : ""}
      </figcaption>
    </figure>
  );
}
