// Opens a run in Chromium and says how long that took, and how long tasks of the page's main thread
// were: viewer.mjs URL [SECONDS]: OVER where the first pane takes longer, a task of the main thread
// more than 50 ms of the processor, or the page more than 500 MB.
// Tasks are measured twice: by the clock, and by the processor, which other work on the machine
// does not lengthen.
// An empty page is measured in the same way: it shows the share of the browser and of the machine's
// load.
import { loadavg } from "node:os";
import { Browser } from "../tests/viewer/browser.mjs";

const [url, seconds = Infinity] = process.argv.slice(2),
  over = (n, most) => (n > most ? " OVER" : ""),
  b = await Browser.start({ width: 1920, height: 1080 });
// The tasks of the main thread of pages while something is done. by: "clock" or "cpu".
async function tasksOf(act) {
  b.events.length = 0;
  await b.call("Tracing.start", {
    traceConfig: {
      includedCategories: [
        "disabled-by-default-devtools.timeline",
        "devtools.timeline",
        "toplevel",
        "__metadata",
      ],
    },
    transferMode: "ReportEvents",
  });
  await act();
  await b.call("Tracing.end");
  for (let i = 0; i < 200 && !b.events.some((e) => e.method === "Tracing.tracingComplete"); i++)
    await new Promise((r) => setTimeout(r, 50));
  const events = b.events
      .filter((e) => e.method === "Tracing.dataCollected")
      .flatMap((e) => e.params.value),
    main = new Set(
      events
        .filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain")
        .map((e) => `${e.pid}.${e.tid}`),
    );
  return events
    .filter((e) => e.name === "RunTask" && main.has(`${e.pid}.${e.tid}`))
    .map((e) => ({ clock: (e.dur ?? 0) / 1000, cpu: (e.tdur ?? 0) / 1000 }));
}
const longest = (tasks, by, most = Infinity) => {
  const times = tasks.map((t) => t[by]).sort((x, y) => y - x);
  return `${times.slice(0, 4).map(Math.round).join(", ")} ms${over(times[0], most)}`;
};
const keys = async () => {
  for (const key of ["ArrowRight", "+", "-"]) for (let i = 0; i < 10; i++) await b.key(key);
};
try {
  // what the machine and the browser need by themselves
  const floor = await tasksOf(async () => {
    await b.open("data:text/html,<!doctype html><p>nothing</p>");
    await b.until(`document.querySelector("p")`, "an empty page");
    await keys();
    await new Promise((r) => setTimeout(r, 500));
  });
  const all = await tasksOf(async () => {
    const began = Date.now();
    await b.open(url);
    await b.until(`document.querySelector(".pane")`, "a pane");
    const first = Date.now() - began;
    console.log(`first pane: ${first} ms${over(first, 1000 * seconds)}`);
    await b.quiet();
    console.log(`all answers: ${Date.now() - began} ms`);
    await b.key("F");
    await b.see(`document.querySelector(".flowbox.big")?.focus()`);
    await keys();
    await b.quiet();
  });
  const page = await b.see("Math.round(performance.memory.usedJSHeapSize / 1e6)");
  console.log(
    `longest of ${all.length} tasks: ${longest(all, "cpu", 50)} of the processor; ` +
      `${longest(all, "clock")} by the clock; page: ${page} MB${over(page, 500)}`,
  );
  console.log(
    `an empty page: ${longest(floor, "cpu")} of the processor; ${longest(floor, "clock")} by the ` +
      `clock; load ${loadavg()[0].toFixed(1)}`,
  );
} finally {
  await b.stop();
}
