// Pictures of truth.cu in a browser: zoom, moving, fixed scales, parts of structs, slices,
// histogram, PNG; of buffers and of wg_watch. pictures.mjs URL
import { Browser } from "./browser.mjs";
import { ok, pane, text } from "./panes.mjs";

const [url] = process.argv.slice(2),
  b = await Browser.start({ width: 1700, height: 950 });
const dots = `${pane(0)}.querySelector("canvas.dots")`;
const holds = async (name, expression, seen = text(0)) =>
  ok(name, await b.holds(expression), await b.see(seen).catch((e) => e.message));
const goTo = (what) => b.goTo(what);
const set = (selector, value) =>
  b.choose(`${pane(0)}.querySelector(${JSON.stringify(selector)})`, value);
const label = (words) =>
  `[...${pane(0)}.querySelectorAll(".controls label")].find(e => e.innerText
    .includes(${JSON.stringify(words)}))`;
const place = () =>
  b.see(
    `(() => { const c = ${dots}, d = c.dataset, r = c.getBoundingClientRect();
      return { dot: Number(d.dot), x: Number(d.x), y: Number(d.y), left: r.left + Number(d.left),
      top: r.top + Number(d.top) }; })()`,
  );
const mouse = (type, x, y, more = {}) =>
  b.call("Input.dispatchMouseEvent", { type, x, y, button: "none", ...more });
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".pane")`);
  // u: 32 × 24 floats, x + 100 y.
  await goTo("u");
  await b.until(`${dots}?.width > 100`, "the picture of u");
  await b.quiet();
  const before = await place(),
    // column 20, row 10
    at = { x: before.left + 20.5 * before.dot, y: before.top + 10.5 * before.dot };
  const under = () =>
    b.holds(
      `${pane(0)}.querySelector(".legend").innerText.includes("u[340]") &&
        ${pane(0)}.querySelector(".legend").innerText.includes("row 10, column 20")`,
      10,
    );
  await mouse("mouseMoved", at.x, at.y);
  ok("under_mouse", await under(), await b.see(text(0)));
  for (let i = 0; i < 4; i++) await mouse("mouseWheel", at.x, at.y, { deltaX: 0, deltaY: -120 });
  await b.until(`Number(${dots}.dataset.dot) >= ${before.dot * 3}`, "larger dots");
  await mouse("mouseMoved", at.x + 1, at.y + 1);
  ok("wheel_zooms_here", await under(), await b.see(text(0)));
  const near = await place();
  await mouse("mousePressed", at.x, at.y, { button: "left", buttons: 1, clickCount: 1 });
  await mouse("mouseMoved", at.x + 5 * near.dot, at.y, { button: "left", buttons: 1 });
  await mouse("mouseReleased", at.x + 5 * near.dot, at.y, { button: "left", clickCount: 1 });
  await b.until(`Number(${dots}.dataset.x) === ${near.x - 5}`, "moved by five columns");
  ok("drag_moves", !(await b.see(`!!${pane(1)}`)), "a drag opened something");
  await b.click(`${pane(0)}.querySelector('button[aria-label="All of it"]')`);
  await b.until(`Number(${dots}.dataset.dot) === ${before.dot}`, "all of it again");
  // Slices of 8 rows: three of them.
  await set('input[aria-label="rows of a slice"]', "8");
  await b.until(`${label("slice ")}?.querySelector("input").max === "2"`, "three slices");
  await b.choose(`${label("slice ")}.querySelector("input")`, 2);
  await b.quiet();
  await b.see(`${pane(0)}.querySelector(".canvas").focus()`);
  await b.key("ArrowRight");
  await holds(
    "slices",
    `${pane(0)}.querySelector(".legend").innerText.includes("u[512]")`,
    `${pane(0)}.querySelector(".legend").innerText`,
  );
  // The picture as a file.
  await b.see(
    `window.saved = []; HTMLAnchorElement.prototype.click = function () {
      window.saved.push([this.download, this.href.slice(0, 5)]); }`,
  );
  await b.click(`${pane(0)}.querySelector('button[aria-label^="Save the picture"]')`);
  await holds("png", `window.saved?.[0]?.join() === "u.png,blob:"`, "window.saved");

  // n: all elements are k after the k-th of nine launches. A fixed scale stays.
  await goTo("n");
  await b.until(`${dots}?.width > 40`, "the picture of n");
  const step = (i) => set('input[aria-label="after which step"]', String(i));
  await step(9);
  await b.until(`${text(0)}.includes("at the end") || ${text(0)}.includes("after launch #18")`);
  await b.quiet();
  const colour = async () => (await b.dot(5)).colour;
  await set('input[aria-label="scale from"]', "0");
  await set('input[aria-label="scale to"]', "9");
  await b.until(`${label("fixed")}.querySelector("input").checked`, "a fixed scale");
  await b.quiet();
  const last = await colour();
  await step(2);
  await b.until(`${text(0)}.includes("after launch #11")`, "an earlier step");
  await b.quiet();
  ok(
    "fixed_scale",
    (await colour()) !== last && (await b.see(`${label("fixed")}.querySelector("input").checked`)),
    [last, await colour()],
  );

  // A field of a struct.
  await goTo("p");
  await b.until(`${label("part")}`, "parts of a struct");
  await b.see(
    `(() => { const e = ${label("part")}.querySelector("select");
      e.value = [...e.options].find(o => o.text === "vel.z").value;
      e.dispatchEvent(new Event("change", { bubbles: true })); })()`,
  );
  await b.quiet();
  await b.see(`${pane(0)}.querySelector(".canvas").focus()`);
  await b.key("Home");
  for (let i = 0; i < 3; i++) await b.key("ArrowRight");
  await holds(
    "field",
    `/p\\[3\\]\\.vel\\.z 1\\.5 /.test(${pane(0)}
      .querySelector(".legend").innerText.replace(/\\s+/g, " "))`,
    `${pane(0)}.querySelector(".legend").innerText`,
  );
  await b.key("Enter");
  await holds(
    "field_opens",
    `${pane(1)}?.querySelector("h2").innerText.includes("p[3].vel.z")`,
    text(1),
  );
  ok("histogram", (await b.see(`${pane(0)}.querySelectorAll(".histogram i").length`)) > 10, "");

  // 6: wg_watch can be zoomed, and its scale fixed.
  await b.click(
    `[...document.querySelectorAll(".tabs button")].find(e => e.innerText.startsWith("Watches"))`,
  );
  await b.click(`document.querySelector(".bufferrow")`);
  await b.until(
    `${pane(0)}?.classList.contains("watch") && ${dots}?.width > 100`,
    "the picture of wg_watch",
  );
  await b.quiet();
  const width = await b.see(`${dots}.width`);
  await b.see("document.activeElement?.blur()");
  await b.key("+");
  await holds("watch_zooms", `${dots}.width > ${width} * 1.8`, `${dots}.width`);
  await b.click(`${label("fixed")}.querySelector("input")`);
  await holds(
    "watch_fixed",
    `${pane(0)}.querySelector('input[aria-label="scale from"]').value !== "" &&
      location.hash.length > 3`,
    `${pane(0)}.querySelector('input[aria-label="scale from"]').value`,
  );
  ok("no_complaints", b.complaints().length === 0, b.complaints());
} catch (e) {
  ok(
    "pictures",
    false,
    `${e.message} ${await b.see(text(0)).catch(() => "")} ${b.complaints()}`.slice(0, 900),
  );
} finally {
  await b.stop();
}
