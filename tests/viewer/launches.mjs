// The run of launches.cu in a browser: launches.mjs URL whole|inputs FOLDER
import { Browser } from "./browser.mjs";
import { ok, pane, text } from "./panes.mjs";

const [url, what, folder] = process.argv.slice(2);
const b = await Browser.start({ width: 1700, height: 950 });
const holds = async (name, expression, seen = text(0)) =>
  ok(name, await b.holds(expression), await b.see(seen).catch((e) => e.message));
const goTo = (what) => b.goTo(what);
try {
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "the first pane");
  if (what === "whole") {
    await goTo("1");
    await holds(
      "bank_conflicts",
      `/32 each/.test(${pane(0)}?.querySelector(".banks")?.innerText ?? "") &&
        ${pane(0)}.querySelectorAll(".banks tr").length === 1`,
    );
    await goTo("2");
    await b.until(
      `${text(0)}.includes("transpose #2") && ${pane(0)}.querySelector(".blocks canvas")`,
      "the padded one",
    );
    await b.quiet();
    await holds("no_bank_conflicts", `!${pane(0)}.querySelector(".banks")`);
    await goTo("3");
    await b.until(
      `${text(0)}.includes("stripes #3") && ${pane(0)}.querySelector(".touches")`,
      "stripes",
    );
    await b.choose(`${pane(0)}.querySelector('input[aria-label="block x"]')`, 5);
    await b.quiet();
    await b.click(
      `[...${pane(0)}.querySelectorAll(".touches .link")].find(e => e.innerText === "c")`,
    );
    await holds(
      "touched_by_block",
      `${pane(1)}?.querySelector(".touched")?.innerText
        .includes("threads 320 to 383: 64 elements")`,
      text(1),
    );
    await b.picture(`${folder}/touched.png`);
    await b.choose(`${pane(0)}.querySelector('select[aria-label="whose accesses"]')`, "thread");
    await b.click(
      `[...${pane(0)}.querySelectorAll(".touches .link")].find(e => e.innerText === "c")`,
    );
    await holds(
      "touched_by_thread",
      `${pane(1)}?.querySelector(".touched")?.innerText.includes("thread 320: 1 element ")`,
      text(1),
    );
    // The map of blocks by what they stored, when they began and how long they took.
    await goTo("4");
    await b.until(
      `${text(0)}.includes("slopes #4") && ${pane(0)}.querySelector(".blocks canvas")?.width > 20`,
      "slopes",
    );
    const by = (value) =>
      b.see(
        `(() => { const e = ${pane(0)}
          .querySelector('select[aria-label="what the colours of blocks mean"]'),
          o = [...e.options].find(x => x.text === ${JSON.stringify(value)}); e.value = o.value;
          e.dispatchEvent(new Event("change", { bubbles: true })); })()`,
      );
    const under = async (block) => {
      const r = await b.see(
        `(() => { const c = ${pane(0)}.querySelector(".blocks canvas"),
          r = c.getBoundingClientRect(), w = 5, n = r.width / w;
          return { x: r.left + (${block} % w + .5) * n,
          y: r.top + (Math.floor(${block} / w) + .5) * n }; })()`,
      );
      await b.call("Input.dispatchMouseEvent", { type: "mouseMoved", ...r });
    };
    await by("f");
    await b.until(`${text(0)}.includes("stored 14 in the mean")`, "the scale of values");
    await under(5);
    await holds(
      "blocks_by_value",
      `${text(0)}.includes("block (5,0,0)") && ${text(0)}.includes("stored 10 in the mean")`,
    );
    await under(3);
    await holds(
      "blocks_with_nan",
      `${text(0)}.includes("block (3,0,0)") && ${text(0)}.includes("NaN or infinite among them")`,
    );
    await by("when it began");
    await holds(
      "blocks_by_begin",
      `/block \\(3,0,0\\): 32 operations, began [0-9.]+ (ns|µs|ms) after the first/
        .test(${text(0)})`,
    );
    await by("how long it took");
    await holds(
      "blocks_by_time",
      `/block \\(3,0,0\\): 32 operations, took [0-9.]+ (ns|µs|ms)/.test(${text(0)})`,
    );
  } else {
    await goTo("3");
    await b.click(
      `[...${pane(0)}.querySelectorAll("button")]
        .find(e => e.innerText === "record this launch in full")`,
    );
    await b.until(`${pane(0)}?.querySelector('a[href="other/"]')`, "the recorded launch");
    await b.open(`${url}other/`);
    await b.until(`document.querySelector(".pane")`, "the page of the recorded launch");
    await holds(
      "recorded_in_full",
      `/2\\s048 operations/.test(document.querySelector(".facts").innerText)`,
      `document.querySelector(".facts").innerText`,
    );
  }
  ok(`no_complaints_${what}`, b.complaints().length === 0, b.complaints());
} catch (e) {
  ok(
    "launches",
    false,
    `${e.message} ${await b.see(text(0)).catch(() => "")} ${b.complaints()}`.slice(0, 900),
  );
} finally {
  await b.stop();
}
