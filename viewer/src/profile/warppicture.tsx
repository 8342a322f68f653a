// One request of a full warp: the sectors (or banks) that its 32 lanes touch. Draws a regular
// pattern; without one, only the count.
import { Access, unitsOf } from "./profiledata";

const CELL = 14; // pixels of a lane or bank

// Bytes from one lane to the next; undefined: no regular pattern.
function strideOf(a: Access): number | undefined {
  if (/^one address/.test(a.pattern)) return 0;
  return /^unit stride/.test(a.pattern) ? a.bytes : a.stride;
}
// Where the 32 lanes begin, in bytes.
function lanesOf(a: Access, stride: number): number[] {
  const off = /misaligned by (\d+)/.exec(a.pattern);
  const start = off ? Number(off[1]) : /misaligned/.test(a.pattern) ? 4 : 0;
  return Array.from({ length: 32 }, (_, l) => start + l * stride);
}

// The words that each of the 32 banks is asked for.
function banksOf(lanes: number[], bytes: number): Set<number>[] {
  const banks = Array.from({ length: 32 }, () => new Set<number>());
  lanes.forEach((x) => {
    for (let b = x; b < x + Math.max(4, bytes); b += 4) banks[(b / 4) & 31].add(b >> 2);
  });
  return banks;
}
function Banks({ a, lanes, each, ideal }: PictureProps) {
  const banks = banksOf(lanes, a.bytes);
  const high = Math.min(32, Math.max(...banks.map((b) => b.size)));
  return (
    <figure class="plot warp">
      <svg viewBox={`0 0 ${32 * CELL + 2} ${high * 6 + 20}`} role="img" aria-label="banks">
        {banks.map((b, i) =>
          Array.from({ length: Math.min(32, b.size) }, (_, n) => (
            <rect
              class={n ? "bad" : "good"}
              x={i * CELL + 1}
              y={(high - 1 - n) * 6 + 1}
              width={CELL - 2}
              height={5}
            />
          )),
        )}
        {[0, 8, 16, 24, 31].map((i) => (
          <text x={i * CELL + CELL / 2} y={high * 6 + 15} text-anchor="middle">
            {i}
          </text>
        ))}
      </svg>
      <figcaption>
        {`words that a warp wants from each of the 32 banks: ${each.toFixed(1)} wavefronts ` +
          `a request, ${ideal.toFixed(1)} would do`}
      </figcaption>
    </figure>
  );
}

// The sectors that lanes touch, and how many of their 32 bytes are used.
function sectorsOf(lanes: number[], bytes: number, stride: number): Map<number, number> {
  const used = new Map(lanes.flatMap((x) => [x >> 5, (x + bytes - 1) >> 5]).map((s) => [s, 0]));
  lanes.forEach((x) => {
    for (let b = x; b < x + bytes; b++)
      used.set(b >> 5, Math.min(32, (used.get(b >> 5) ?? 0) + (stride === 0 ? 1 / 32 : 1)));
  });
  return used;
}
function Sectors({ a, lanes, stride, each, ideal }: PictureProps) {
  const used = sectorsOf(lanes, a.bytes, stride);
  const sectors = [...used.keys()];
  const w = (CELL * 32) / Math.max(sectors.length, 4);
  return (
    <figure class="plot warp">
      <svg viewBox={`0 0 ${32 * CELL + 2} 64`} role="img" aria-label="sectors">
        {lanes.map((x, l) => (
          <line
            class="lane"
            x1={l * CELL + CELL / 2}
            y1={12}
            x2={(sectors.indexOf(x >> 5) + 0.5) * w}
            y2={42}
          />
        ))}
        {lanes.map((_, l) => (
          <circle cx={l * CELL + CELL / 2} cy={9} r={3.2} class="lane" />
        ))}
        {sectors.map((s, i) => (
          <g>
            <rect class="sector" x={i * w + 1} y={42} width={w - 2} height={12} />
            <rect
              class="good"
              x={i * w + 1}
              y={42}
              width={((w - 2) * (used.get(s) ?? 0)) / 32}
              height={12}
            />
          </g>
        ))}
      </svg>
      <figcaption>
        32 lanes, and the sectors of 32 bytes they touch, filled as far as they are used:{" "}
        {each.toFixed(1)} a request, {ideal.toFixed(1)} would do
      </figcaption>
    </figure>
  );
}

// each, ideal: sectors or wavefronts of a request
interface PictureProps {
  a: Access;
  lanes: number[];
  stride: number;
  each: number;
  ideal: number;
}
export function WarpPicture({ a }: { a: Access }) {
  const stride = strideOf(a);
  const each = unitsOf(a) / Math.max(1, a.requests);
  const ideal = a.ideal / Math.max(1, a.requests);
  if (stride === undefined || stride > 1 << 16)
    return (
      <p class="dim">
        {a.pattern}: {each.toFixed(1)} a request, {ideal.toFixed(1)} would do
      </p>
    );
  const props = { a, lanes: lanesOf(a, stride), stride, each, ideal };
  return a.space === "shared" ? <Banks {...props} /> : <Sectors {...props} />;
}
