// The run of odd.cu in a browser: odd.mjs URL PICTURE
import { Browser } from "./browser.mjs";
import { ok, pane, row, text } from "./panes.mjs";

const [url, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1500, height: 900 });
const goTo = (what) => b.goTo(what);
const choose = (selector, value) => b.choose(selector, value);
let step = "start";
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".bufferrow")`, "buffers");

  step = "ordered";
  await goTo("cell[1]");
  await b.until(
    `${row(0, "store", "thread 40", "20")} && ${row(0, "store", "thread 0", "10")}`,
    "both writes of cell[1]",
  );
  ok("ordered_is_no_race", !(await b.see(text(0))).includes("race"), await b.see(text(0)));
  await goTo("cell[2]");
  await b.until(
    `${row(0, "store", "thread 40", "race")} && ${row(0, "store", "thread 0", "race")}`,
    "cell[2]: a race",
  );
  ok("unordered_is_a_race", true);

  step = "copy";
  await goTo("twin[5]");
  await b.until(row(0, "copy", "the host"), "the copy that wrote twin[5]");
  await b.click(row(0, "copy", "the host"));
  await b.until(
    `${text(1)}.includes("came from") && ${text(1)}.includes("cell[1]") &&
      ${text(1)}.includes("odd.cu")`,
    "where it came from, and who asked",
  );
  await b.click(`[...${pane(1)}.querySelectorAll(".link")].find(e => e.innerText === "cell[1]")`);
  await b.until(row(2, "store", "thread 40"), "the element it was copied from");
  ok("copy_followed", true);
  await goTo("part[6]"); // row 1, column 2: grid[16 * 3 + 5]
  await b.until(
    `${pane(0)}.querySelector(".cell.here")?.innerText.includes("53")`,
    "a buffer whose type only its variable tells",
  );
  await b.click(row(0, "copy", "the host"));
  await b.until(`${text(1)}.includes("grid[53]")`, "an element of a rectangle");
  ok("rectangle_followed", true);

  step = "accumulator";
  await goTo("6:0"); // one of very many atomic operations is found in its element
  await b.until(`${pane(0)} && document.querySelector(".trail .here")`, "a thread");
  ok(
    "named_by_flow",
    !/launch \d+ thread/.test(await b.see(`document.querySelector(".trail").innerText`)),
    await b.see(`document.querySelector(".trail").innerText`),
  );

  step = "struct";
  await goTo("particles");
  await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 8`);
  await choose(`document.querySelector('select[aria-label="type of the elements"]')`, "f32");
  await choose(`document.querySelector('input[aria-label="parts of an element"]')`, "4");
  await b.until(`${text(0)}.includes("float × 4 particles 32 elements")`, "32 elements of 4 parts");
  await choose(
    `[...${pane(0)}.querySelectorAll(".controls select")].find(e => e.options.length === 4 &&
      e.options[0].text === "x")`,
    "2",
  );
  await choose(
    `[...${pane(0)}.querySelectorAll(".controls select")].find(e => [...e.options]
      .some(o => o.text === "grey"))`,
    "grey",
  );
  await choose(`${pane(0)}.querySelectorAll('.controls input[type="number"]')[1]`, "-1.5");
  await b.quiet();
  const address = await b.see("location.href");
  ok("address", /~p2,l-1\.5,cgrey\/y:\d+=f32x4$/.test(address), address);
  await b.open(address);
  await b.until(
    `${text(0)}.includes("float × 4 particles 32 elements") &&
      ${pane(0)}.querySelectorAll('.controls input[type="number"]')[1].value === "-1.5"`,
    "the same picture from its address",
  );
  ok(
    "picture_from_address",
    await b.holds(
      `[...${pane(0)}.querySelectorAll(".controls select")].map(e => e.value).join()
        .startsWith("2,grey")`,
    ),
    await b.see(`[...${pane(0)}.querySelectorAll(".controls select")].map(e => e.value).join()`),
  );
  await b.open(url + "#/b:1.2/x:7/%E0%A4%A/b:99999.0.0~zzz/e:1.1.1@@@/y:bad");
  await b.until(`${text(0)}.includes("no such buffer")`, "an address that makes no sense");
  ok("bad_address", true);

  step = "outlier";
  await b.size(1000, 560); // a picture that is too small for its elements
  await b.open(url);
  await b.until(`document.querySelector(".bufferrow")`);
  await goTo("wide");
  await b.until(
    `${pane(0)}?.querySelector("canvas.dots")?.width > 100 &&
      ${text(0)}.includes("farthest from the mean")`,
    "a picture with several elements in a pixel",
  );
  await b.quiet();
  // The pixel of element 377777, by its place; then by keyboard.
  const under = `document.querySelector(".legend").innerText.includes("wide[377777]") &&
    document.querySelector(".legend").innerText.includes("1000000000")`;
  let p = await b.dot(377777);
  for (let i = 0; i < 200 && !(await b.see(under)); i++) {
    p = await b.dot(377777);
    await b.call("Input.dispatchMouseEvent", { type: "mouseMoved", x: p.x, y: p.y });
    await new Promise((r) => setTimeout(r, 200));
  }
  await b.until(under, "the outlier under the mouse", 1);
  await b.clickAt(p);
  await b.until(
    `${pane(1)}?.querySelector("h2")?.innerText.includes("wide[377777]")`,
    "a click opens it",
  );
  ok("outlier", true);
  await b.size(1500, 900);

  step = "keyboard";
  await b.open(url);
  await b.until(`document.querySelector(".bufferrow")`);
  await goTo("numbers");
  await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 8`);
  await b.quiet();
  await b.key("ArrowDown");
  await b.key("ArrowRight");
  await b.until(
    `document.querySelector(".legend").innerText.includes("numbers[0]") &&
      document.querySelector(".legend").innerText.includes("NaN")`,
    "the first element by keyboard",
  );
  await b.key("ArrowRight");
  await b.until(
    `document.querySelector(".legend").innerText.includes("numbers[1]") &&
      document.querySelector(".legend").innerText.includes("+inf")`,
    "the second element",
  );
  await b.key("Enter");
  await b.until(
    `${pane(1)}?.querySelector("h2")?.innerText.includes("numbers[1]") && ${row(1, "store")}`,
    "Enter opens it",
  );
  await b.key("ArrowDown");
  await b.key("Enter");
  await b.until(
    `${pane(2)}?.querySelector("h2")?.innerText.includes("thread")`,
    "and the keys are for it then",
  );
  ok("picture_by_keyboard", true);
  await b.key("f");
  await b.until(`document.activeElement?.classList.contains("flowbox")`, "the flow chart");
  for (let i = 0; i < 40; i++) await b.key("ArrowUp");
  await b.until(
    `document.querySelector(".flowfoot").innerText.startsWith("set")`,
    "the first step",
  );
  await b.key("Enter");
  await b.until(`${pane(0)}?.classList.contains("step") && ${text(0)}.includes("cell")`, "the set");
  await b.key("f");
  await b.key("ArrowDown");
  await b.key("Enter");
  await b.until(
    `${pane(0)}?.classList.contains("launch") && ${text(0)}.includes("ordered #1")`,
    "the first launch",
  );
  await b.key("f");
  await b.key("ArrowRight");
  await b.key("Enter");
  await b.until(
    `${pane(0)}?.classList.contains("buffer") && ${text(0)}.includes("cell 16 elements")`,
    "its buffer",
  );
  ok("flow_by_keyboard", true);

  step = "watch";
  await b.click(
    `[...document.querySelectorAll(".tabs button")].find(e => e.innerText.startsWith("Watches"))`,
  );
  await b.click(`document.querySelector(".bufferrow")`);
  await b.until(
    `${pane(0)}?.classList.contains("watch") &&
      ${pane(0)}.querySelector("canvas.dots")?.width > 100`,
    "the picture of wg_watch",
  );
  await b.quiet();
  await b.key("ArrowDown");
  await b.key("ArrowRight");
  await b.key("ArrowRight");
  await b.key("ArrowRight");
  await b.until(
    `document.querySelector(".legend").innerText.includes("thread 2") &&
      document.querySelector(".legend").innerText.includes("20000000014")`,
    "what thread 2 said, in full",
  );
  ok("watch", true);

  step = "narrow";
  await b.size(600, 800);
  await b.open(url + "#/l:1");
  await b.until(`document.querySelector(".bufferrow")`);
  await goTo("cell[2]");
  await b.until(row(0, "store"));
  ok(
    "narrow",
    await b.holds(
      `document.documentElement.scrollWidth <= 600 &&
        ${pane(0)}.getBoundingClientRect().right <= 600 &&
        ${pane(0)}.getBoundingClientRect().left >= 0`,
    ),
    await b.see(`JSON.stringify(${pane(0)}.getBoundingClientRect())`),
  );
  const complaints = b.complaints().filter((c) => !/status of 40[04]/.test(c));
  ok("no_complaints", complaints.length === 0, complaints);
} catch (e) {
  const seen = await b.see(`${text(0)} + " ## " + ${text(1)}`).catch(() => "");
  ok(step, false, `${e.message} ${b.complaints()} ${seen}`.slice(0, 1500));
} finally {
  if (picture) await b.picture(picture).catch(() => {});
  await b.stop();
}
