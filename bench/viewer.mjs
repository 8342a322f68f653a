// Opens a run in Chromium and says how long that took, and how long tasks of the page's main thread were: viewer.mjs URL [SECONDS]: OVER where the first pane takes longer,
// a task of the main thread more than 50 ms of the processor, or the page more than 500 MB.
// Tasks are measured twice: by the clock, and by the processor, which other work on the machine does not lengthen.
import { Browser } from "../tests/viewer/browser.mjs";

const [url, seconds = Infinity] = process.argv.slice(2),
  over = (n, most) => (n > most ? " OVER" : ""),
  b = await Browser.start({ width: 1920, height: 1080 });
const tasks = () => {
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
};
try {
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
  const began = Date.now();
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "a pane");
  const first = Date.now() - began;
  console.log(`first pane: ${first} ms${over(first, 1000 * seconds)}`);
  await b.quiet();
  console.log(`all answers: ${Date.now() - began} ms`);
  await b.key("F");
  await b.see(`document.querySelector(".flowbox.big")?.focus()`);
  for (const key of ["ArrowRight", "+", "-"]) for (let i = 0; i < 10; i++) await b.key(key);
  await b.quiet();
  await b.call("Tracing.end");
  for (let i = 0; i < 200 && !b.events.some((e) => e.method === "Tracing.tracingComplete"); i++)
    await new Promise((r) => setTimeout(r, 50));
  const all = tasks(),
    longest = (k) =>
      all
        .map((t) => Math.round(t[k]))
        .sort((x, y) => y - x)
        .slice(0, 4)
        .join(", ");
  const page = await b.see("Math.round(performance.memory.usedJSHeapSize / 1e6)");
  console.log(
    `longest of ${all.length} tasks: ${longest("cpu")} ms of the processor${over(Math.max(...all.map((t) => t.cpu)), 50)}; ${longest("clock")} ms by the clock${over(Math.max(...all.map((t) => t.clock)), 50)}; page: ${page} MB${over(page, 500)}`,
  );
} finally {
  await b.stop();
}
