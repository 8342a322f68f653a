// Measures how long the server takes to answer each view: viewer_views.mjs URL [PID [LIMIT POINT]].
// Best and worst of five, each for another thread or element; OVER: the worst is above LIMIT, or
// above POINT if it is about one thread or element. With the server's PID also its average
// processor time, which other work on the machine does not lengthen.
import { readFileSync } from "node:fs";
const [url, pid, limit = Infinity, point = Infinity] = process.argv.slice(2),
  points = new Set([
    "thread",
    "races of a thread",
    "who wrote it",
    "element",
    "element, last write",
    "values beside",
  ]),
  ticks = () => {
    if (!pid) return 0;
    const f = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /, "")
      .split(" ");
    return Number(f[11]) + Number(f[12]);
  },
  api = async (path) => (await fetch(`${url}api/${path}`)).arrayBuffer(),
  json = async (path) => JSON.parse(new TextDecoder().decode(await api(path)));
const flow = await json("flow?skip=0&most=2000"),
  buffers = (await json("buffers?most=100")).buffers,
  launches = flow.steps.filter((s) => s[2] === "launch"),
  last = launches[launches.length - 1],
  launch = last[3],
  threads = last[5] * last[6];
const large = [...buffers].sort((a, b) => b.size - a.size)[0],
  thread = (i) => Math.floor((threads * (i + 0.5)) / 5),
  element = (i) => Math.floor(((large.size / 4) * (i + 0.3)) / 5),
  address = (i) => "0x" + (BigInt(large.base) + BigInt(4 * element(i))).toString(16);
const ops = [];
for (let i = 0; i < 5; i++)
  ops.push(
    (await json(`thread?launch=${launch}&thread=${thread(i)}&most=200`)).ops.find(
      (o) => o[2] === 0,
    ),
  );
const picture =
  `picture?allocation=${large.id}&type=f32&stride=4&offset=0&width=1024` + "&pool_x=1&pool_y=1";
const views = {
  flow: () => `flow?skip=0&most=2000`,
  thread: (i) => `thread?launch=${launch}&thread=${thread(i)}&most=200`,
  "races of a thread": (i) => `conflicts?launch=${launch}&thread=${thread(i)}&skip=0&most=200`,
  "who wrote it": (i) => `writers?record=${ops[i][0]}&lane=${ops[i][1]}`,
  element: (i) => `element?allocation=${large.id}&address=${address(i)}&bytes=4&most=200`,
  "element, last write": (i) =>
    `element?allocation=${large.id}&address=${address(i)}&bytes=4&most=200&step=4294967295&write=1`,
  "values beside": (i) =>
    `contents?allocation=${large.id}&step=${launches[launches.length >> 1][0]}` +
    `&offset=${4 * element(i)}&bytes=20`,
  "picture, a band": (i) =>
    `${picture}&rows=256&first=${262144 * (i % 4)}&step=${launches[i % launches.length][0]}`,
  "picture by last write, a quarter": (i) =>
    `${picture}&rows=64&first=${262144 * (i % 4)}&of=writes`,
  "counts of lines": (i) => `counts?launch=${launches[i % launches.length][3]}`,
  "what a block touched": (i) =>
    `touched?launch=${launch}&first=${256 * i}&last=${256 * i + 255}` +
    `&allocation=${large.id}&stride=4`,
  launch: (i) => `launch?id=${launches[i % launches.length][3]}`,
};
for (const [name, path] of Object.entries(views)) {
  const all = [],
    before = ticks();
  for (let i = 0; i < 5; i++) {
    const began = performance.now(),
      r = await fetch(`${url}api/${path(i)}`);
    await r.arrayBuffer();
    if (!r.ok) console.log(`${name}: ${r.status}`);
    all.push(performance.now() - began);
  }
  const best = Math.min(...all),
    worst = Math.max(...all),
    over = worst > (points.has(name) ? point : limit) ? " OVER" : "",
    processors = pid ? `, ${(ticks() - before) * 2} ms of the processors` : "";
  console.log(`${name}: ${Math.round(best)} to ${Math.round(worst)} ms${over}${processors}`);
}
