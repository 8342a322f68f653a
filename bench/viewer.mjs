// Opens a run in Chromium and says how long that took: viewer.mjs URL
import { Browser } from "../tests/viewer/browser.mjs";

const [url] = process.argv.slice(2), b = await Browser.start({ width: 1920, height: 1080 });
try {
  await b.call("Page.addScriptToEvaluateOnNewDocument", { source: `window.longTasks = []; new PerformanceObserver(l => { for (const e of l.getEntries()) longTasks.push(Math.round(e.duration)); }).observe({ entryTypes: ["longtask"] });` });
  const began = Date.now();
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "a pane");
  console.log(`first pane: ${Date.now() - began} ms`);
  await b.quiet();
  console.log(`all answers: ${Date.now() - began} ms`);
  await b.key("F");
  await b.see(`document.querySelector(".flowbox.big")?.focus()`);
  for (const key of ["ArrowRight", "+", "-"]) for (let i = 0; i < 10; i++) await b.key(key);
  await b.quiet();
  console.log(`tasks of more than 50 ms: ${JSON.stringify(await b.see("longTasks"))} ms; page: ${await b.see("Math.round(performance.memory.usedJSHeapSize / 1e6)")} MB`);
} finally { await b.stop(); }
