// Answers of a page that has no server: from the files that `warpgrind view --static` wrote beside it (src/view/static.c says what is in them).
declare global { interface Window { warpgrindIsStatic?: boolean; warpgrindPiece?: (name: string, data: string) => void } }

type Parameters = Record<string, string | number | undefined>;
const pieces = new Map<string, Promise<Map<string, string>>>(), arrived = new Map<string, string>();
const answers = new Map<string, string>();               // of all pieces that were loaded

const bytesOf = (text: string) => Uint8Array.from(atob(text), c => c.charCodeAt(0));

async function unpack(data: string): Promise<Map<string, string>> {
  const text = await new Response(new Blob([bytesOf(data)]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  const out = new Map<string, string>();
  for (const line of text.split("\n")) {
    const tab = line.indexOf("\t");
    if (tab > 0) { out.set(line.slice(0, tab), line.slice(tab + 1)); answers.set(line.slice(0, tab), line.slice(tab + 1)); }
  }
  return out;
}

function piece(name: string): Promise<Map<string, string>> {
  let p = pieces.get(name);
  if (!p) {
    window.warpgrindPiece ??= (n, d) => { arrived.set(n, d); };
    p = new Promise<void>(done => {
      const s = document.createElement("script");
      s.src = `data/${name}.js`;
      s.onload = () => done();
      s.onerror = () => done();                            // nobody did anything there
      document.head.append(s);
    }).then(() => { const d = arrived.get(name); arrived.delete(name); return d ? unpack(d) : new Map(); });
    pieces.set(name, p);
  }
  return p;
}

const json = (text: string | undefined) => text ? JSON.parse(text) : undefined;

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
  let skip = Number(q.skip ?? 0), index = -1;
  if (q.record !== undefined) index = ops.findIndex(o => o[0] === Number(q.record) && o[1] === Number(q.lane));
  else if (q.address !== undefined && q.allocation === undefined)
    index = ops.findIndex(o => o[8] && BigInt(String(q.address)) >= BigInt(o[8]) && BigInt(String(q.address)) < BigInt(o[8]) + BigInt(o[7]) && (!q.write || o[2] === 1 || o[2] === 2));
  if (index >= 0) skip = Math.floor(index / most) * most;
  return { ops: ops.slice(skip, skip + most), skip, more: ops.length > skip + most, total: ops.length, ...(index >= 0 ? { index } : {}) };
}

export async function staticAnswer(name: string, q: Parameters): Promise<any> {
  const run = await piece("run");
  switch (name) {
    case "run": return { ...json(run.get("run")), ...json(run.get("facts")), launches: json(run.get("run")).launches, steps: json(run.get("run")).steps };
    case "flow": return Number(q.skip ?? 0) === 0 ? { ...json(run.get("flow?skip=0&most=100000")), facts: undefined } : { steps: [] };
    case "buffers": return json(run.get("buffers?most=100000"));
    case "findings": return { ...json(run.get("findings?most=5000")), ...json(run.get("facts")) };
    case "finding": case "launch": return json(run.get(`${name}?id=${q.id}`)) ?? { error: "this is not in this page" };
    case "source": return json(run.get(`source?file=${q.file}`)) ?? { error: "this file is not in this page" };
    case "races": return json(run.get(`races?launch=${q.launch}`)) ?? { races: [] };
    case "thread": return pageOf(allOps(await piece(`t-${q.launch}-${Math.floor(Number(q.thread) / 256)}`), `thread?launch=${q.launch}&thread=${q.thread}`), q);
    case "conflicts": {
      const all = json((await piece(`t-${q.launch}-${Math.floor(Number(q.thread) / 256)}`)).get(`conflicts?launch=${q.launch}&thread=${q.thread}&skip=0&most=2000`)) ?? { of: [] }, skip = Number(q.skip ?? 0);
      return { of: all.of.filter(([i]: [number]) => i >= skip && i < skip + Number(q.most)).map(([i, l]: [number, any]) => [i - skip, l]) };
    }
    case "writers": return json(answers.get(`writers?record=${q.record}&lane=${q.lane}`)) ?? { ops: [], ambiguous: false, never_written: false };
    case "element": return pageOf(await element(q), q);
  }
  return { error: "this page has no server: warpgrind view shows more" };
}

const facts = async () => json((await piece("run")).get("facts"));

async function element(q: Parameters): Promise<any[]> {
  const buffer = (await facts()).allocations[String(q.allocation)];
  if (!buffer) return [];
  const base = BigInt(buffer.base), from = BigInt(String(q.address)), to = from + BigInt(Number(q.bytes)), n = Math.floor(Number(from - base) / 4096), size = Math.min(4096, buffer.size - n * 4096);
  const address = "0x" + (base + BigInt(n * 4096)).toString(16);
  const out = [];
  for (const o of allOps(await piece(`e-${q.allocation}-${n}`), `element?allocation=${q.allocation}&address=${address}&bytes=${size}`)) {
    if (o[8] === null || BigInt(o[8]) >= to || BigInt(o[8]) + BigInt(o[7]) <= from) continue;
    if (o[2] < 5) { out.push(o); continue; }
    // A copy or a set of many bytes: as much of it as the element has, with the value it had afterwards.
    const bytes = await contents(Number(q.allocation), o[3]), at = Number(from - base), copy = [...o];
    copy[7] = Number(q.bytes), copy[8] = q.address, copy[13] = at;
    copy[9] = bytes && bytes.slice(buffer.size + at, buffer.size + at + copy[7]).every(k => k === 1) ? [...bytes.slice(at, at + Math.min(16, copy[7]))].map(b => b.toString(16).padStart(2, "0")).join("") : null;
    out.push(copy);
  }
  return out;
}

// The bytes of a buffer after a step, then what is known of each.
async function contents(buffer: number, step: number): Promise<Uint8Array | undefined> {
  const kept = await piece(`b-${buffer}`);
  let best: string | undefined;
  for (const [s, data] of kept) if (!step || Number(s) <= step) best = data;      // in order
  return best === undefined ? undefined : bytesOf(best);
}

const readers: Record<string, [number, (d: DataView, at: number) => number]> = {
  u8: [1, (d, a) => d.getUint8(a)], i8: [1, (d, a) => d.getInt8(a)], u16: [2, (d, a) => d.getUint16(a, true)], i16: [2, (d, a) => d.getInt16(a, true)], u32: [4, (d, a) => d.getUint32(a, true)],
  i32: [4, (d, a) => d.getInt32(a, true)], u64: [8, (d, a) => Number(d.getBigUint64(a, true))], i64: [8, (d, a) => Number(d.getBigInt64(a, true))], f32: [4, (d, a) => d.getFloat32(a, true)],
  f64: [8, (d, a) => d.getFloat64(a, true)],
  f16: [2, (d, a) => { const h = d.getUint16(a, true), e = h >> 10 & 31, f = h & 1023, s = h & 0x8000 ? -1 : 1; return e === 31 ? (f ? NaN : s * Infinity) : e ? s * (1024 + f) * 2 ** (e - 25) : s * f * 2 ** -24; }],
  bf16: [2, (d, a) => { const t = new DataView(new ArrayBuffer(4)); t.setUint32(0, d.getUint16(a, true) << 16 >>> 0, true); return t.getFloat32(0, true); }],
};

export async function staticBytes(name: string, q: Parameters): Promise<ArrayBuffer> {
  const buffer = (await facts()).allocations[String(q.allocation)], all: Uint8Array | undefined = buffer && await contents(buffer.id, Number(q.step ?? 0));
  if (!all) throw new Error("the contents of this buffer are not in this page");
  if (name === "contents") {
    const at = Number(q.offset ?? 0), n = Number(q.bytes), out = new Uint8Array(2 * n);
    out.set(all.slice(at, at + n)); out.set(all.slice(buffer.size + at, buffer.size + at + n), n);
    return out.buffer;
  }
  // As picture.c does it.
  const [size, read] = readers[String(q.type)], parts = Number(q.components ?? 1), part = Number(q.component ?? 0), width = Number(q.width), rows = Number(q.rows), px = Number(q.pool_x), py = Number(q.pool_y);
  const columns = Math.ceil(width / px), lines = Math.ceil(rows / py), n = columns * lines, out = new ArrayBuffer(24 + 13 * n), d = new DataView(out), from = new DataView(all.buffer);
  const low = new Float32Array(out, 24, n), high = new Float32Array(out, 24 + 4 * n, n), mean = new Float32Array(out, 24 + 8 * n, n), flags = new Uint8Array(out, 24 + 12 * n, n), count = new Uint32Array(n);
  let least = NaN, most = NaN;
  for (let i = 0; (i + 1) * size * parts <= buffer.size && i < width * rows; i++) {
    const at = (i * parts + part) * size, p = Math.floor(Math.floor(i / width) / py) * columns + Math.floor(i % width / px), known = all.subarray(buffer.size + at, buffer.size + at + size);
    if (known.some(k => k !== 1)) { flags[p] |= known.some(k => k === 0) ? 16 : 32; continue; }
    const v = read(from, at);
    if (Number.isNaN(v)) flags[p] |= 2;
    else if (!Number.isFinite(v)) flags[p] |= v > 0 ? 4 : 8;
    else {
      if (!(flags[p] & 1) || v < low[p]) low[p] = v;
      if (!(flags[p] & 1) || v > high[p]) high[p] = v;
      mean[p] += v, count[p]++, flags[p] |= 1;
      if (!(v >= least)) least = v;
      if (!(v <= most)) most = v;
    }
  }
  for (let p = 0; p < n; p++) { if (count[p]) mean[p] /= count[p]; if (!flags[p]) flags[p] = 64; }
  d.setUint32(0, columns, true); d.setUint32(4, lines, true); d.setFloat64(8, least, true); d.setFloat64(16, most, true);
  return out;
}
