// "The first … at which x > 1 or NaN": in the operations of a thread or an element, and over the
// steps that changed a buffer.
import { useRef, useState } from "preact/hooks";
import { Kind, Op, Page } from "../run/api";
import { Condition, condition, Value, valuesOf } from "../run/condition";
import { errorText, many, opScalars } from "../run/format";
import { decode, MINUS, NAN, NUMBER, PLUS } from "../picture/paint";
import { Scalar, scalarBytes } from "../run/types";

function Ask({
  label,
  busy,
  said,
  go,
  stop,
}: {
  label: string;
  busy: boolean;
  said: string;
  go(text: string): void;
  stop(): void;
}) {
  const [text, set] = useState("");
  return (
    <form
      class="findvalue"
      onSubmit={(e) => {
        e.preventDefault();
        busy ? stop() : go(text);
      }}
    >
      <label>
        {label}{" "}
        <input
          value={text}
          spellcheck={false}
          placeholder="x > 1 or NaN"
          aria-label={`${label}: a condition over x, the value`}
          title={
            "x is the value; everything else as in the calculator: " +
            "isnan(x), x & 1, recorded values: x != b[3] * 2"
          }
          onInput={(e) => set(e.currentTarget.value)}
        />
      </label>
      <button class="button">{busy ? "stop" : "find"}</button>
      <span class="dim" role="status">
        {said}
      </span>
    </form>
  );
}
// The first operation of a page, from `from` on, of whose values one fits; -1: none
async function firstOf(page: Page, from: number, fits: Condition): Promise<number> {
  const all: Value[] = [],
    owner: number[] = [];
  page.ops.forEach((o, k) => {
    if (k < from || o.kind === Kind.Sync || o.value === null) return;
    for (const v of valuesOf(o.kind === Kind.Atomic ? (o.old ?? o.value) : o.value, opScalars(o))) {
      all.push(v);
      owner.push(k);
    }
  });
  const which = (await fits(all)).indexOf(true);
  return which < 0 ? -1 : owner[which];
}
// From operation `from` on; found: its number.
const MOST = 400_000;
export function FindOperation({
  load,
  from,
  found,
}: {
  load(skip: number): Promise<Page>;
  from: number;
  found(index: number, op: Op): void;
}) {
  const [busy, setBusy] = useState(false),
    [said, say] = useState(""),
    run = useRef(0);
  const go = async (text: string) => {
    const mine = ++run.current;
    setBusy(true);
    say("");
    try {
      const fits = await condition(text);
      let skip = Math.max(0, from + 1),
        looked = 0;
      for (
        let page: Page;
        run.current === mine && looked < MOST;
        skip = page.skip + page.ops.length
      ) {
        page = await load(skip);
        const i = await firstOf(page, from + 1 - page.skip, fits);
        if (i >= 0) {
          say(`#${many(page.skip + i)}`);
          found(page.skip + i, page.ops[i]);
          setBusy(false);
          return;
        }
        looked += page.ops.length;
        if (!page.more || !page.ops.length) {
          say("none from here on");
          setBusy(false);
          return;
        }
        say(`${many(looked)} looked at`);
      }
      if (run.current === mine) say(`not in ${many(looked)} operations`);
    } catch (e) {
      say(errorText(e));
    }
    if (run.current === mine) setBusy(false);
  };
  return (
    <Ask
      label="next where"
      busy={busy}
      said={said}
      go={(t) => void go(t)}
      stop={() => {
        run.current++;
        setBusy(false);
      }}
    />
  );
}
// The contents of elements after a step: bytes() returns their bytes from `first` on, then for each
// byte whether it is known.
export interface Exact {
  scalar: Scalar;
  stride: number;
  offset: number;
  bytes(step: number, first: number, count: number): Promise<ArrayBuffer>;
}
const PIECE = 1 << 16; // elements
async function firstExact(
  e: Exact,
  step: number,
  count: number,
  fits: Condition,
  goOn: () => boolean,
): Promise<number> {
  const width = scalarBytes[e.scalar];
  for (let first = 0; first < count && goOn(); first += PIECE) {
    const n = Math.min(PIECE, count - first),
      b = await e.bytes(step, first, n),
      d = new DataView(b),
      half = b.byteLength / 2,
      values: Value[] = [],
      owner: number[] = [];
    for (let i = 0; i < n; i++) {
      const at = i * e.stride + e.offset;
      if (d.getUint8(half + at) !== 1 || d.getUint8(half + at + width - 1) !== 1) continue;
      values.push({
        scalar: e.scalar,
        bits:
          width === 8
            ? d.getBigUint64(at, true)
            : BigInt(
                width === 4
                  ? d.getUint32(at, true)
                  : width === 2
                    ? d.getUint16(at, true)
                    : d.getUint8(at),
              ),
      });
      owner.push(first + i);
    }
    const which = (await fits(values)).indexOf(true);
    if (which >= 0) return owner[which];
  }
  return -1;
}
// Searches very many elements by pixels: the smallest and the largest of each, NaN and infinities.
async function firstPooled(
  b: ArrayBuffer,
  pool: number,
  width: number,
  scalar: Scalar,
  fits: Condition,
): Promise<number> {
  const p = decode(b),
    values: Value[] = [],
    owner: number[] = [],
    bits = new DataView(new ArrayBuffer(8));
  const add = (k: number, x: number) => {
    bits.setBigUint64(0, 0n);
    if (scalar[0] === "i" || scalar[0] === "u") {
      values.push({ scalar, bits: BigInt.asUintN(8 * scalarBytes[scalar], BigInt(Math.round(x))) });
      owner.push(k);
      return;
    }
    if (scalar === "f64") bits.setFloat64(0, x, true);
    else bits.setFloat32(0, x, true);
    values.push({ scalar: scalar === "f64" ? "f64" : "f32", bits: bits.getBigUint64(0, true) });
    owner.push(k);
  };
  for (let k = 0; k < p.flags.length; k++) {
    const f = p.flags[k];
    if (f & NUMBER) {
      add(k, p.min[k]);
      if (p.max[k] !== p.min[k]) add(k, p.max[k]);
    }
    if (f & NAN) add(k, NaN);
    if (f & PLUS) add(k, Infinity);
    if (f & MINUS) add(k, -Infinity);
  }
  const which = (await fits(values)).indexOf(true),
    k = owner[which];
  return which < 0 ? -1 : Math.floor(k / p.columns) * pool * width + (k % p.columns) * pool;
}
// Steps in order; the first after which an element fits.
export function FindStep({
  steps,
  load,
  exact,
  scalar,
  count,
  width,
  found,
  what = "step",
}: {
  steps: { id: number }[];
  load(step: number, rows: number, pool: number): Promise<ArrayBuffer>;
  exact?: Exact;
  scalar: Scalar;
  count: number;
  width: number;
  found(step: number, element: number): void;
  what?: string;
}) {
  const [busy, setBusy] = useState(false),
    [said, say] = useState(""),
    run = useRef(0);
  const go = async (text: string) => {
    const mine = ++run.current,
      goOn = () => run.current === mine,
      whole = count <= 1 << 20,
      rows = Math.ceil(count / width),
      pool = whole ? 1 : Math.ceil(Math.sqrt(count / (1 << 18)));
    setBusy(true);
    say("");
    try {
      const fits = await condition(text);
      for (let i = 0; i < steps.length && goOn(); i++) {
        const element =
          whole && exact
            ? await firstExact(exact, steps[i].id, count, fits, goOn)
            : await firstPooled(await load(steps[i].id, rows, pool), pool, width, scalar, fits);
        if (!goOn()) return;
        if (element >= 0) {
          say(`${what} ${i + 1} of ${many(steps.length)}`);
          setBusy(false);
          found(steps[i].id, element);
          return;
        }
        say(`${many(i + 1)} of ${many(steps.length)}`);
      }
      if (goOn()) say(`in no ${what}`);
    } catch (e) {
      say(errorText(e));
    }
    if (goOn()) setBusy(false);
  };
  return (
    <Ask
      label={`first ${what} where`}
      busy={busy}
      said={said}
      go={(t) => void go(t)}
      stop={() => {
        run.current++;
        setBusy(false);
      }}
    />
  );
}
