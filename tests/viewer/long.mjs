// The run of long.cu in a browser: long.mjs URL
import { Browser } from "./browser.mjs";
import { ok, pane, text, title } from "./panes.mjs";

const [url] = process.argv.slice(2);
const b = await Browser.start({ width: 1700, height: 950 });
const holds = async (name, expression, seen = text(0)) =>
  ok(name, await b.holds(expression), await b.see(seen).catch((e) => e.message));
const goTo = (what) => b.goTo(what);
try {
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "the first pane");
  // The search for races takes seconds, and ends when somebody says so.
  await b.key("F");
  await b.click(
    `[...document.querySelectorAll(".racesearch button")].find(e => e.innerText === "stop")`,
    "stop",
  );
  await holds(
    "races_stopped",
    `document.querySelector(".racesearch")?.innerText.includes("was stopped after")`,
    `document.querySelector(".racesearch")?.innerText`,
  );
  const done = await b.until(
    `fetch("api/race_state").then(r => r.json()).then(j => j.finished && j)`,
    "the end of the search",
    30,
  );
  await new Promise((r) => setTimeout(r, 1000));
  const later = await b.see(`fetch("api/race_state").then(r => r.json())`);
  ok(
    "races_stay_stopped",
    later.finished && later.stopped && later.done === done.done && later.done < later.total,
    [done, later],
  );
  await b.click(
    `[...document.querySelectorAll(".racesearch button")].find(e => e.innerText === "go on")`,
    "go on",
  );
  await b.until(
    `fetch("api/race_state").then(r => r.json()).then(j => j.finished && !j.stopped &&
      j.done === j.total)`,
    "all launches looked at",
    100,
  );
  await holds("races_done", `!document.querySelector(".racesearch")`);

  // All threads that stored outside, of three blocks; each is marked.
  await b.click(`document.querySelector(".finding")`);
  await b.until(`${pane(0)}?.querySelectorAll(".occurrences .peer").length === 32`, "32 threads");
  ok("oob_write_occurrences", true);
  await holds("oob_write_marked", `${pane(0)}.querySelectorAll(".peers .peer.error").length === 6`);
  await b.click(
    `[...${pane(0)}.querySelectorAll(".occurrences .peer")].find(e => e.innerText === "90")`,
  );
  await holds(
    "oob_write_other",
    `${title(1)} === "thread 90" &&
      ${pane(1)}.querySelector(".op.bad")?.innerText.includes("small[90]") &&
      ${pane(1)}.querySelector(".op.bad").innerText.includes("not made") &&
      ${pane(1)}.querySelector(".card")`,
    text(1),
  );
  await goTo("2:13");
  await holds(
    "oob_write_shared",
    `${pane(0)}?.querySelectorAll(".occurrences .peer").length === 8 &&
      ${text(0)}.includes("s[17]")`,
  );

  // A thread of three million operations: how many, a jump, a filter, each within a second.
  await goTo("3:0");
  await holds("long_total", `${text(0)}.includes("3 000 000 operations")`);
  const timed = async (name, act, expression) => {
    await act();
    const t = Date.now();
    ok(
      name,
      (await b.holds(expression)) && Date.now() - t < 5000,
      `${Date.now() - t} ms ${await b.see(text(0))}`.slice(0, 300),
    );
  };
  await timed(
    "long_jump",
    async () => {
      await b.see(
        `${pane(0)}.querySelector('input[aria-label="go to the operation of this number"]')
          .focus()`,
      );
      await b.type("2718281");
      await b.key("Enter");
    },
    `${pane(0)}.querySelector(".op.selected")?.innerText.startsWith("2718281")`,
  );
  await timed(
    "long_filter",
    () => b.choose(`${pane(0)}.querySelector('select[aria-label="kind of operation"]')`, "2"),
    `${text(0)}.includes("1 500 000 of 3 000 000")`,
  );
  ok("no_complaints", b.complaints().length === 0, b.complaints());
} catch (e) {
  ok(
    "long",
    false,
    `${e.message} ${await b.see(text(0)).catch(() => "")} ${b.complaints()}`.slice(0, 900),
  );
} finally {
  await b.stop();
}
