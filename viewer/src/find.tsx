// "The first … at which x > 1 or NaN": in the operations of a thread or an element, and over the steps that changed a buffer.
import { useRef, useState } from "preact/hooks";
import { Kind, Op, Page } from "./api";
import { condition, numbersIn } from "./condition";
import { errorText, many, opValue } from "./format";
import { NUMBER, NAN, PLUS, MINUS, decode } from "./picture";

function Ask({ label, busy, said, go, stop }: { label: string; busy: boolean; said: string; go(text: string): void; stop(): void }) {
  const [text, set] = useState("");
  return <form class="findvalue" onSubmit={e => { e.preventDefault(); busy ? stop() : go(text); }}>
    <label>{label} <input value={text} spellcheck={false} placeholder="x > 1 or NaN" aria-label={`${label}: a condition over x, the value`} title="x is the value; also isnan(x), isinf(x), abs, and recorded values: x != b[3] * 2" onInput={e => set(e.currentTarget.value)} /></label>
    <button class="button">{busy ? "stop" : "find"}</button><span class="dim" role="status">{said}</span></form>;
}
// From operation `from` on; found: its number.
const MOST = 400_000;
export function FindOperation({ load, from, found }: { load(skip: number): Promise<Page>; from: number; found(index: number, op: Op): void }) {
  const [busy, setBusy] = useState(false), [said, say] = useState(""), run = useRef(0);
  const go = async (text: string) => {
    const mine = ++run.current;
    setBusy(true); say("");
    try {
      const fits = await condition(text);
      let skip = Math.max(0, from + 1), looked = 0;
      for (let page: Page; run.current === mine && looked < MOST; skip = page.skip + page.ops.length) {
        page = await load(skip);
        const i = page.ops.findIndex((o, k) => page.skip + k >= from + 1 && o.kind !== Kind.Sync && o.value !== null && numbersIn(opValue(o, o.kind === Kind.Atomic ? o.old ?? o.value : o.value)).some(fits));
        if (i >= 0) { say(`#${many(page.skip + i)}`); found(page.skip + i, page.ops[i]); setBusy(false); return; }
        looked += page.ops.length;
        if (!page.more || !page.ops.length) { say("none from here on"); setBusy(false); return; }
        say(`${many(looked)} looked at`);
      }
      if (run.current === mine) say(`not in ${many(looked)} operations`);
    } catch (e) { say(errorText(e)); }
    if (run.current === mine) setBusy(false);
  };
  return <Ask label="next where" busy={busy} said={said} go={t => void go(t)} stop={() => { run.current++; setBusy(false); }} />;
}
// Steps in order; the first after which an element fits.
export function FindStep({ steps, load, count, width, found, what = "step" }: { steps: { id: number }[]; load(step: number, rows: number, pool: number): Promise<ArrayBuffer>; count: number; width: number; found(step: number, element: number): void; what?: string }) {
  const [busy, setBusy] = useState(false), [said, say] = useState(""), run = useRef(0);
  const go = async (text: string) => {
    const mine = ++run.current, whole = count <= 1 << 20, rows = Math.ceil(count / width), pool = whole ? 1 : Math.ceil(Math.sqrt(count / (1 << 18)));
    setBusy(true); say("");
    try {
      const fits = await condition(text);
      for (let i = 0; i < steps.length && run.current === mine; i++) {
        const p = decode(await load(steps[i].id, rows, pool));
        for (let k = 0; k < p.flags.length; k++) {
          const f = p.flags[k], values = [...(f & NUMBER ? [p.min[k], p.max[k]] : []), ...(f & NAN ? [NaN] : []), ...(f & PLUS ? [Infinity] : []), ...(f & MINUS ? [-Infinity] : [])];
          if (!values.some(fits)) continue;
          const element = Math.floor(k / p.columns) * pool * width + k % p.columns * pool;
          say(`${what} ${i + 1} of ${many(steps.length)}`); setBusy(false); found(steps[i].id, element); return;
        }
        say(`${many(i + 1)} of ${many(steps.length)}`);
      }
      if (run.current === mine) say(`in no ${what}`);
    } catch (e) { say(errorText(e)); }
    if (run.current === mine) setBusy(false);
  };
  return <Ask label={`first ${what} where`} busy={busy} said={said} go={t => void go(t)} stop={() => { run.current++; setBusy(false); }} />;
}
