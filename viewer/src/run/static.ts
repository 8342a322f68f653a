// Answers of a page that has no server: from the files that `warpgrind view --static` wrote beside
// it (src/view/static.c says what is in them).
declare global {
  interface Window {
    warpgrindIsStatic?: boolean;
    warpgrindPiece?: (name: string, data: string) => void;
  }
}

import { otherSide } from "./copies";
import { scalarText, threadAt } from "./format";
import type { Scalar } from "./types";
type Parameters = Record<string, string | number | undefined>;
const pieces = new Map<string, Promise<Map<string, string>>>(),
  arrived = new Map<string, string>();
const answers = new Map<string, string>(); // of all pieces that were loaded

const bytesOf = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

async function unpack(data: string): Promise<Map<string, string>> {
  const text = await new Response(
    new Blob([bytesOf(data)]).stream().pipeThrough(new DecompressionStream("deflate")),
  ).text();
  const out = new Map<string, string>();
  for (const line of text.split("\n")) {
    const tab = line.indexOf("\t");
    if (tab > 0) {
      out.set(line.slice(0, tab), line.slice(tab + 1));
      answers.set(line.slice(0, tab), line.slice(tab + 1));
    }
  }
  return out;
}

function piece(name: string): Promise<Map<string, string>> {
  let p = pieces.get(name);
  if (!p) {
    window.warpgrindPiece ??= (n, d) => {
      arrived.set(n, d);
    };
    p = new Promise<void>((done) => {
      const s = document.createElement("script");
      s.src = `data/${name}.js`;
      s.onload = () => done();
      s.onerror = () => done(); // no operation touched it
      document.head.append(s);
    }).then(() => {
      const d = arrived.get(name);
      arrived.delete(name);
      return d ? unpack(d) : new Map();
    });
    pieces.set(name, p);
  }
  return p;
}

const json = (text: string | undefined) => (text ? JSON.parse(text) : undefined);

// Pages of one question, together.
function allOps(from: Map<string, string>, question: string): any[] {
  const ops: any[] = [];
  for (let skip = 0; ; skip += 2000) {
    const a = json(from.get(`${question}&skip=${skip}&most=2000`));
    if (!a?.ops) return ops;
    ops.push(...a.ops);
    if (!a.more) return ops;
  }
}

function pageOf(ops: any[], q: Parameters) {
  const most = Number(q.most ?? 200);
  let skip = Number(q.skip ?? 0),
    index = -1;
  if (q.step !== undefined) {
    for (let i = 0; i < ops.length && ops[i][3] <= Number(q.step); i++)
      if (
        !q.write ||
        ops[i][2] === 1 ||
        ops[i][2] === 2 ||
        ops[i][2] === 6 ||
        (ops[i][2] === 5 && ops[i][1] === 0)
      )
        index = i;
  } else if (q.record !== undefined)
    index = ops.findIndex((o) => o[0] === Number(q.record) && o[1] === Number(q.lane));
  else if (q.address !== undefined && q.allocation === undefined)
    index = ops.findIndex(
      (o) =>
        o[8] &&
        BigInt(String(q.address)) >= BigInt(o[8]) &&
        BigInt(String(q.address)) < BigInt(o[8]) + BigInt(o[7]) &&
        (!q.write || o[2] === 1 || o[2] === 2),
    );
  if (index >= 0) skip = Math.floor(index / most) * most;
  return {
    ops: ops.slice(skip, skip + most),
    skip,
    more: ops.length > skip + most,
    total: ops.length,
    ...(index >= 0 ? { index } : {}),
  };
}

export async function staticAnswer(name: string, q: Parameters): Promise<any> {
  const run = await piece("run");
  switch (name) {
    case "run":
      return {
        ...json(run.get("run")),
        ...json(run.get("facts")),
        launches: json(run.get("run")).launches,
        steps: json(run.get("run")).steps,
      };
    case "flow":
      return Number(q.skip ?? 0) === 0
        ? { ...json(run.get("flow?skip=0&most=100000")), facts: undefined }
        : { steps: [] };
    case "types":
      return json(run.get("types")) ?? { types: {}, variables: [] };
    case "profile":
      return json(run.get("profile")) ?? {};
    case "race_state":
      return { done: 0, total: 0, finished: true, launches: [] };
    case "readers":
      return { ops: [], more: false };
    case "occurrences":
      return { ops: [], more: false, known: false, stopped: false };
    case "buffers":
      return json(run.get("buffers?most=100000"));
    case "findings":
      return { ...json(run.get("findings?most=5000")), ...json(run.get("facts")) };
    case "finding":
    case "launch":
    case "step":
      return json(run.get(`${name}?id=${q.id}`)) ?? { error: "this is not in this page" };
    case "source":
      return json(run.get(`source?file=${q.file}`)) ?? { error: "this file is not in this page" };
    case "races":
      return json(run.get(`races?launch=${q.launch}`)) ?? { races: [] };
    case "thread":
      return pageOf(
        allOps(
          await piece(`t-${q.launch}-${Math.floor(Number(q.thread) / 256)}`),
          `thread?launch=${q.launch}&thread=${q.thread}`,
        ),
        q,
      );
    case "conflicts": {
      const all = json(
          (await piece(`t-${q.launch}-${Math.floor(Number(q.thread) / 256)}`)).get(
            `conflicts?launch=${q.launch}&thread=${q.thread}&skip=0&most=2000`,
          ),
        ) ?? { of: [] },
        skip = Number(q.skip ?? 0);
      return {
        of: all.of
          .filter(([i]: [number]) => i >= skip && i < skip + Number(q.most))
          .map(([i, l]: [number, any]) => [i - skip, l]),
      };
    }
    case "writers":
      return (
        json(answers.get(`writers?record=${q.record}&lane=${q.lane}`)) ?? {
          ops: [],
          ambiguous: false,
          never_written: false,
        }
      );
    case "element":
      return pageOf(await element(q), q);
    case "watches":
      return json(run.get("watches")) ?? { watches: [] };
    case "watch": {
      const v = (await watched(q))[Number(q.thread)];
      return v === undefined
        ? {}
        : { value: scalarText(new DataView(v.buffer), 0, String(q.type) as Scalar) };
    }
    case "pixel":
      return pixel(q);
  }
  return { error: "this page has no server: warpgrind view shows more" };
}

const facts = async () => json((await piece("run")).get("facts"));

async function element(q: Parameters): Promise<any[]> {
  const buffer = (await facts()).allocations[String(q.allocation)],
    run = await piece("run");
  if (!buffer) return [];
  const base = BigInt(buffer.base),
    from = BigInt(String(q.address)),
    to = from + BigInt(Number(q.bytes)),
    n = Math.floor(Number(from - base) / 4096),
    size = Math.min(4096, buffer.size - n * 4096);
  const address = "0x" + (base + BigInt(n * 4096)).toString(16);
  const out = [];
  for (const o of allOps(
    await piece(`e-${q.allocation}-${n}`),
    `element?allocation=${q.allocation}&address=${address}&bytes=${size}`,
  )) {
    // a rectangle touches more than its first row
    const step = o[2] >= 5 && json(run.get(`step?id=${o[3]}`));
    if (
      step
        ? otherSide(step, from, o[1] === 0) === undefined
        : o[8] === null || BigInt(o[8]) >= to || BigInt(o[8]) + BigInt(o[7]) <= from
    )
      continue;
    if (o[2] < 5) {
      out.push(o);
      continue;
    }
    // For a copy or set of many bytes: only the element's bytes, with their value after it.
    const bytes = await contents(Number(q.allocation), o[3]),
      at = Number(from - base),
      copy = [...o];
    copy[7] = Number(q.bytes);
    copy[8] = q.address;
    copy[13] = at;
    copy[9] =
      bytes && bytes.slice(buffer.size + at, buffer.size + at + copy[7]).every((k) => k === 1)
        ? [...bytes.slice(at, at + Math.min(16, copy[7]))]
            .map((b) => b.toString(16).padStart(2, "0"))
            .join("")
        : null;
    out.push(copy);
  }
  return out;
}

// The bytes of a buffer after a step, then the state of each.
async function contents(buffer: number, step: number): Promise<Uint8Array | undefined> {
  const kept = await piece(`b-${buffer}`);
  let best: string | undefined;
  for (const [s, data] of kept) if (!step || Number(s) <= step) best = data; // in order
  return best === undefined ? undefined : bytesOf(best);
}

// The last value that each thread of a launch passed to wg_watch at a site: from the operations of
// all its threads.
const watchedOf = new Map<string, Promise<(Uint8Array | undefined)[]>>();
function watched(q: Parameters): Promise<(Uint8Array | undefined)[]> {
  const key = `${q.launch}.${q.site}`;
  let p = watchedOf.get(key);
  if (!p) {
    p = (async () => {
      const l = (await facts()).launches[String(q.launch)],
        threads = l ? [...l.grid, ...l.block].reduce((a: number, b: number) => a * b, 1) : 0,
        out: (Uint8Array | undefined)[] = new Array(threads);
      for (let first = 0; first < threads; first += 256) {
        const from = await piece(`t-${q.launch}-${first / 256}`);
        for (let t = first; t < Math.min(first + 256, threads); t++)
          for (const o of allOps(from, `thread?launch=${q.launch}&thread=${t}`))
            if (o[2] === 4 && o[6] === Number(q.site) && o[9] !== null)
              out[t] = Uint8Array.from((o[9] as string).match(/../g)!, (h) => parseInt(h, 16));
      }
      return out;
    })();
    watchedOf.set(key, p);
  }
  return p;
}

const readers: Record<string, [number, (d: DataView, at: number) => number]> = {
  u8: [1, (d, a) => d.getUint8(a)],
  i8: [1, (d, a) => d.getInt8(a)],
  u16: [2, (d, a) => d.getUint16(a, true)],
  i16: [2, (d, a) => d.getInt16(a, true)],
  u32: [4, (d, a) => d.getUint32(a, true)],
  i32: [4, (d, a) => d.getInt32(a, true)],
  u64: [8, (d, a) => Number(d.getBigUint64(a, true))],
  i64: [8, (d, a) => Number(d.getBigInt64(a, true))],
  f32: [4, (d, a) => d.getFloat32(a, true)],
  f64: [8, (d, a) => d.getFloat64(a, true)],
  f16: [
    2,
    (d, a) => {
      const h = d.getUint16(a, true),
        e = (h >> 10) & 31,
        f = h & 1023,
        s = h & 0x8000 ? -1 : 1;
      return e === 31
        ? f
          ? NaN
          : s * Infinity
        : e
          ? s * (1024 + f) * 2 ** (e - 25)
          : s * f * 2 ** -24;
    },
  ],
  bf16: [
    2,
    (d, a) => {
      const t = new DataView(new ArrayBuffer(4));
      t.setUint32(0, (d.getUint16(a, true) << 16) >>> 0, true);
      return t.getFloat32(0, true);
    },
  ],
};

// As picture.c does it. value(i): of an element; known: 0 never written, 1 a number, 2 not
// recorded, -1 there is none.
function pooled(
  count: number,
  width: number,
  rows: number,
  px: number,
  py: number,
  value: (i: number) => number,
  known: (i: number) => number,
): ArrayBuffer {
  const columns = Math.ceil(width / px),
    lines = Math.ceil(rows / py),
    n = columns * lines,
    out = new ArrayBuffer(24 + 13 * n),
    d = new DataView(out);
  const low = new Float32Array(out, 24, n),
    high = new Float32Array(out, 24 + 4 * n, n),
    mean = new Float32Array(out, 24 + 8 * n, n),
    flags = new Uint8Array(out, 24 + 12 * n, n),
    seen = new Uint32Array(n);
  let least = NaN,
    most = NaN;
  for (let i = 0; i < count && i < width * rows; i++) {
    const p = Math.floor(Math.floor(i / width) / py) * columns + Math.floor((i % width) / px),
      k = known(i);
    if (k !== 1) {
      flags[p] |= k === 0 ? 16 : k === 2 ? 32 : 0;
      continue;
    }
    const v = value(i);
    if (Number.isNaN(v)) flags[p] |= 2;
    else if (!Number.isFinite(v)) flags[p] |= v > 0 ? 4 : 8;
    else {
      if (!(flags[p] & 1) || v < low[p]) low[p] = v;
      if (!(flags[p] & 1) || v > high[p]) high[p] = v;
      mean[p] += v;
      seen[p]++;
      flags[p] |= 1;
      if (!(v >= least)) least = v;
      if (!(v <= most)) most = v;
    }
  }
  for (let p = 0; p < n; p++) {
    if (seen[p]) mean[p] /= seen[p];
    if (!flags[p]) flags[p] = 64;
  }
  d.setUint32(0, columns, true);
  d.setUint32(4, lines, true);
  d.setFloat64(8, least, true);
  d.setFloat64(16, most, true);
  return out;
}

// The elements of a picture of a buffer.
function elements(all: Uint8Array, buffer: { size: number }, q: Parameters) {
  const [size, read] = readers[String(q.type)],
    stride = Number(q.stride ?? size),
    offset = Number(q.offset ?? 0),
    first = Number(q.first ?? 0),
    from = new DataView(all.buffer, all.byteOffset);
  const at = (i: number) => (first + i) * stride + offset;
  return {
    count: Math.max(0, Math.floor(buffer.size / stride) - first),
    value: (i: number) => read(from, at(i)),
    known: (i: number) => {
      const k = all.subarray(buffer.size + at(i), buffer.size + at(i) + size);
      return k.every((x) => x === 1) ? 1 : k.some((x) => x === 0) ? 0 : 2;
    },
  };
}

async function bufferBytes(q: Parameters) {
  const buffer = (await facts()).allocations[String(q.allocation)],
    all: Uint8Array | undefined = buffer && (await contents(buffer.id, Number(q.step ?? 0)));
  if (!all) throw new Error("the contents of this buffer are not in this page");
  return { buffer, all };
}

async function pixel(q: Parameters) {
  const { buffer, all } = await bufferBytes(q),
    e = elements(all, buffer, q),
    out: Record<string, number> = {},
    width = Number(q.width),
    px = Number(q.pool_x),
    py = Number(q.pool_y);
  let low = NaN,
    high = NaN;
  for (let y = Number(q.y) * py; y < (Number(q.y) + 1) * py; y++)
    for (let x = Number(q.x) * px; x < Math.min(width, (Number(q.x) + 1) * px); x++) {
      const i = y * width + x,
        k = i < e.count ? e.known(i) : -1,
        v = k === 1 ? e.value(i) : 0;
      const kind =
        k < 0
          ? ""
          : k === 0
            ? "unwritten"
            : k === 2
              ? "unrecorded"
              : Number.isNaN(v)
                ? "nan"
                : v === Infinity
                  ? "plus"
                  : v === -Infinity
                    ? "minus"
                    : "";
      if (kind) out[kind] ??= i;
      else if (k === 1) {
        if (!(v >= low)) ((low = v), (out.low = i));
        if (!(v <= high)) ((high = v), (out.high = i));
      }
    }
  return out;
}

export async function staticBytes(name: string, q: Parameters): Promise<ArrayBuffer> {
  if (name === "watch") {
    const said = await watched(q),
      pool = Number(q.pool ?? 1),
      read = readers[String(q.type)][1],
      l = (await facts()).launches[String(q.launch)],
      byPlace = Number(q.layout) === 1 && l;
    const width = byPlace ? l.grid[0] * l.block[0] : Number(q.width),
      at = byPlace ? threadAt(l) : (i: number) => i;
    return pooled(
      said.length,
      width,
      Math.ceil(said.length / width),
      pool,
      pool,
      (i) => read(new DataView(said[at(i)]!.buffer), 0),
      (i) => (said[at(i)] ? 1 : -1),
    );
  }
  const { buffer, all } = await bufferBytes(q);
  if (name === "contents") {
    const at = Number(q.offset ?? 0),
      n = Number(q.bytes),
      out = new Uint8Array(2 * n);
    out.set(all.slice(at, at + n));
    out.set(all.slice(buffer.size + at, buffer.size + at + n), n);
    return out.buffer;
  }
  const e = elements(all, buffer, q);
  return pooled(
    e.count,
    Number(q.width),
    Number(q.rows),
    Number(q.pool_x),
    Number(q.pool_y),
    e.value,
    e.known,
  );
}
