// Two runs of compare.cu in a browser: compare.mjs URL FOLDER
import { Browser } from "./browser.mjs";
import { ok, pane, text } from "./panes.mjs";

const [url, folder] = process.argv.slice(2);
const b = await Browser.start({ width: 1900, height: 950 });
const holds = async (name, expression, seen = text(0)) =>
  ok(name, await b.holds(expression), await b.see(seen).catch((e) => e.message));
const goTo = (what) => b.goTo(what);
try {
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "the first pane");
  // A run that is compared opens on what differs, the first launch that does on top.
  await holds(
    "opens_on_differences",
    `${pane(0)}?.classList.contains("runs") &&
      ${pane(0)}.querySelector("tr.first")?.innerText.includes("blur #2") &&
      ${text(0)}.includes("1 of 1 024")`,
  );
  await b.click(`${pane(0)}.querySelector("tr.first .link.twin")`);
  await b.until(
    `${pane(1)}?.querySelectorAll(".twins canvas").length === 3 &&
      ${pane(1)}.querySelector("canvas").width > 50`,
    "three pictures",
  );
  await holds(
    "one_differs",
    `${pane(1)}.querySelector(".legend").innerText.includes("1 element differs")`,
    text(1),
  );
  await b.see(`${pane(1)}.querySelector(".twins").focus()`);
  await b.key("ArrowRight");
  await holds(
    "values_of_both",
    `${pane(1)}.querySelector(".legend").innerText.includes("a[700]: 28 and 31.5")`,
    text(1),
  );
  await b.picture(`${folder}/compare.png`);
  await b.key("Enter");
  await holds(
    "to_the_element",
    `${pane(2)}?.querySelector("h2").innerText.includes("a[700]")`,
    text(2),
  );
  // Two threads of a launch; then the same thread of both runs.
  await goTo("2:700");
  await b.until(`${pane(0)}?.querySelector(".op")`, "thread 700");
  await b.key("v");
  await b.until(
    `${pane(1)}?.querySelectorAll(".op.versusrow").length === 4`,
    "four operations of two threads",
  );
  await holds(
    "peers_differ",
    `${pane(1)}.querySelectorAll(".op.versusrow.differs").length >= 3`,
    text(1),
  );
  await b.choose(`${pane(1)}.querySelector('input[aria-label="other thread"]')`, 700);
  await holds("thread_with_itself", `${text(1)}.includes("all values are the same")`, text(1));
  await b.click(`${pane(1)}.querySelector('input[type="checkbox"]')`, "of the other run");
  await holds(
    "same_thread_of_two_runs",
    `${text(1)}.includes("1 of 4 differ") &&
      ${pane(1)}.querySelector(".op.versusrow.differs")?.innerText.replace(/\\s+/g,
      " ").includes("28") &&
      ${pane(1)}.querySelector(".op.versusrow.differs").innerText.includes("31.5")`,
    text(1),
  );
  await b.picture(`${folder}/threads.png`);
  // Two steps of one run.
  await goTo("b");
  await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 50`, "b as a picture");
  await b.quiet();
  await b.key("v");
  await b.until(`${pane(1)}?.querySelectorAll(".twins canvas").length === 3`, "two steps");
  await holds(
    "two_steps",
    `/after blur #/.test(${text(1)}) &&
      /[1-9]\\d* or more elements differ|[1-9]\\d* elements differ/.test(${text(1)})`,
    text(1),
  );
  // The whole page of the other run.
  await b.open(`${url}other/`);
  await holds(
    "page_of_other_run",
    `${text(0)}.includes("flow") && !document.querySelector(".pane.runs")`,
  );
  const complaints = b.complaints();
  ok("no_complaints", complaints.length === 0, complaints);
} catch (e) {
  ok(
    "compare",
    false,
    `${e.message} ${await b.see(text(1)).catch(() => "")} ${b.complaints()}`.slice(0, 900),
  );
} finally {
  await b.stop();
}
