// The second run of compare.cu in a browser: paths.mjs URL FOLDER
import { Browser } from "./browser.mjs";
import { ok, pane, row, text, title } from "./panes.mjs";

const [url, folder] = process.argv.slice(2);
const b = await Browser.start({ width: 1900, height: 950 });
const holds = async (name, expression, seen = text(0)) =>
  ok(name, await b.holds(expression), await b.see(seen).catch((e) => e.message));
const goTo = (what) => b.goTo(what);
async function part(name, f) {
  try {
    await f();
  } catch (e) {
    const seen = await b.see(`${text(0)} + " ## " + ${text(1)}`).catch(() => "");
    ok(name, false, `${e.message} ${seen}`.slice(0, 900));
  }
}
try {
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "the first pane");
  const items = (n) => `${pane(n)}?.querySelectorAll(".slicetree li").length`;
  await part("slice", async () => {
    // The store of thread 5 in the last launch, back to the copy from the host.
    await goTo("3:5");
    await b.until(row(0, "store", "b[5]"), "the store");
    await b.see(`${row(0, "store", "b[5]")}.focus()`);
    await b.click(row(0, "store", "b[5]"));
    await b.until(pane(1), "its element");
    await b.key("ArrowLeft");
    await b.key("o");
    await b.until(
      `${pane(1)}?.classList.contains("slice") && ${items(1)} === 4`,
      "three loads below the store",
    );
    ok("slice_loads", true);
    for (let i = 0; i < 5; i++) {
      await b.click(`${pane(1)}.querySelector('button[aria-label^="Open one level"]')`);
      await b.quiet();
    }
    await holds("slice_to_the_host", `${text(1)}.includes("copy to device")`, text(1));
    await holds(
      "slice_launches",
      `["blur #1", "blur #2", "blur #3"].every(x => ${text(1)}.includes(x))`,
      text(1),
    );
    const count = await b.see(items(1)),
      address = await b.see("location.href");
    await b.picture(`${folder}/slice.png`);
    await b.open(address);
    await b.until(`${items(1)} === ${count}`, "the same tree from its address");
    ok("slice_shared", true);
    await b.click(`${pane(1)}.querySelector('button[aria-label^="Fold all"]')`);
    await holds("slice_folded", `${items(1)} === 4`, text(1));
    await b.see(
      `window.kept = undefined; const make = URL.createObjectURL; URL.createObjectURL = x => {
        x.text().then(t => { window.kept = t; }); return make(x); };
        HTMLAnchorElement.prototype.click = function () {};`,
    );
    await b.click(`${pane(1)}.querySelector('button[aria-label^="Save the tree"]')`);
    await holds(
      "slice_saved",
      `/#\\/.*x:/.test(window.kept) && window.kept.includes("store b[5]") &&
        window.kept.includes("blur #3") && !window.kept.includes("127.0.0.1")`,
      "window.kept",
    );
  });
  const find = async (n, what, condition) => {
    const input = `${pane(n)}.querySelector('.findvalue input[aria-label^="${what}"]')`;
    await b.see(`${input}.focus()`);
    await b.choose(input, condition);
    await b.key("Enter");
    await b.quiet();
    await b.see("document.activeElement?.blur()");
  };
  await part("conditions", async () => {
    await goTo("a");
    await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 50`, "a as a picture");
    // a[i] is i % 32 at first; blur #2 makes a[700], and nothing else, 31.5.
    await find(0, "first step where", "x > 31.2 or NaN");
    await holds(
      "first_step",
      `document.querySelector(".timelabel").innerText.includes("blur #2") &&
        ${pane(0)}.querySelector(".legend").innerText.includes("a[700]")`,
      `document.querySelector(".timelabel").innerText + ${text(0)}`,
    );
    await find(0, "first step where", "x == a[700] * 1");
    await holds("recorded_in_condition", `${text(0)}.includes("step 2 of 2")`);
    await find(0, "first step where", "isnan(x)");
    await holds("no_step", `${text(0)}.includes("in no step")`);
    await find(0, "first step where", "x >> 3");
    await holds("condition_mistake", `/bit operations are for integers/.test(${text(0)})`);
    await b.see(
      `document.querySelector('.timebar button[aria-label="Time: the end of the run"]').click()`,
    );
    await goTo("a[700]");
    await b.until(`${pane(0)}?.querySelectorAll(".op").length > 6`, "operations of a[700]");
    await b.click(`${pane(0)}.querySelector(".op")`);
    await b.key("ArrowLeft");
    await find(0, "next where", "x > 31");
    await holds(
      "next_operation",
      `${pane(0)}.querySelector(".op.selected")?.innerText.includes("31.5") &&
        ${pane(0)}.querySelector(".op.selected").innerText.includes("blur #2")`,
    );
  });
  await part("panes", async () => {
    await goTo("2:700");
    await b.until(row(0, "load"), "thread 700");
    await b.key("K");
    await goTo("1:3");
    await holds(
      "pane_kept",
      `${title(0)} === "thread 3" && ${title(1)} === "thread 700"`,
      `${title(0)} + ${title(1)}`,
    );
    await b.key(">");
    await holds(
      "pane_moved",
      `${title(0)} === "thread 700" && ${title(1)} === "thread 3"`,
      `${title(0)} + ${title(1)}`,
    );
    const address = await b.see("location.href");
    await b.open(address);
    await holds(
      "pane_in_address",
      `${title(0)} === "thread 700" && ${title(1)} === "thread 3" &&
        ${pane(0)}.querySelector('button[aria-label^="Keep"]')
          .getAttribute("aria-pressed") === "true"`,
      `location.hash`,
    );
    await b.key("ArrowLeft");
    await b.key("K");
  });
  await part("hover", async () => {
    await goTo("2:700");
    await b.click(`${row(0, "store")}.querySelector(".lineno")`);
    await b.until(`${pane(1)}?.querySelector(".codeline.selected")`, "the source");
    const p = await b.see(
      `(() => { const r = ${pane(1)}
        .querySelector(".codeline.selected code").getBoundingClientRect();
        return { x: r.left + 60, y: r.top + 10 }; })()`,
    );
    await b.call("Input.dispatchMouseEvent", { type: "mouseMoved", ...p });
    await holds(
      "hover_values",
      `${pane(1)}.querySelector(".hovervalues")?.innerText.includes("a[700] = 31.5")`,
      text(1),
    );
    await b.see(
      `window.prompt = () => "myed://open?f={path}&l={line}"; (() => {
        const e = ${pane(1)}.querySelector(".editors"); e.value = "own";
        e.dispatchEvent(new Event("change", { bubbles: true })); })()`,
    );
    await holds(
      "own_editor",
      `/^myed:\\/\\/open\\?f=\\/.*compare\\.cu&l=\\d+$/.test(${pane(1)}.querySelector("a.button")
        .getAttribute("href"))`,
      `${pane(1)}.querySelector("a.button").getAttribute("href")`,
    );
  });
  const complaints = b.complaints();
  ok("no_complaints", complaints.length === 0, complaints);
} finally {
  await b.stop();
}
