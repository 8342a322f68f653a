// The other stories of docs/tutorial.md, by clicks: stories.mjs NAME URL
import { Browser } from "./browser.mjs";
import { pane, row, title } from "./panes.mjs";

const [name, url, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1600, height: 900 });
const choose = (selector, value) => b.choose(selector, value);
const openBuffer = async (buffer) => {
  await b.click(
    `[...document.querySelectorAll(".tabs button")].find(e => e.innerText.startsWith("Buffers"))`,
  );
  await b.click(
    `[...document.querySelectorAll(".bufferrow")].findLast(e => e.innerText
      .startsWith(${JSON.stringify(buffer)}))`,
  );
  await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 8`);
};
// A click on an element of the picture.
const clickDot = async (element) => b.clickAt(await b.dot(element));
const goTo = (what) => b.goTo(what);

const stories = {
  async denoising() {
    await goTo("1:5000");
    await b.until(`${title(0)} === "thread 5000" && ${row(0, "load", "src[")}`);
    const loads = await b.see(
      `[...${pane(0)}.querySelectorAll(".op")].filter(e => e.innerText.includes("load"))
        .map(e => Number(/src\\[(\\d+)\\]/.exec(e.innerText)[1]))`,
    );
    console.log(
      loads.length === 8 && new Set(loads.map((i) => i % 128)).size === 2
        ? "ok denoising"
        : `FAIL denoising: ${loads}`,
    ); // its own pixel, and one column of seven
    await b.click(`${row(0, "load", "src[")}.querySelector(".lineno")`);
    await b.until(
      `[...${pane(1)}.querySelectorAll(".codeline")].some(e => e.innerText
        .includes("bug: i instead of j"))`,
      "the loop",
    );
    console.log("ok denoising_source");
  },
  async bezier_subdivision() {
    await openBuffer("facing");
    await choose(`document.querySelector('select[aria-label="type of the elements"]')`, "i32");
    await b.quiet();
    await clickDot(1);
    await b.until(`${title(1)}?.endsWith("facing[1]") && ${row(1, "store")}`, "facing[1]");
    await b.click(row(1, "store"));
    await b.until(`${title(2)} === "thread 1" && ${row(2, "load")}`, "the thread that shaded");
    await b.click(row(2, "load"));
    await b.until(row(3, "store", "bound_and_split"), "the store of the corner");
    await b.click(
      `[...${pane(3)}.querySelectorAll(".op.write")].findLast(e => e.innerText
        .includes("bound_and_split"))`,
    );
    await b.until(
      `${title(4)}?.startsWith("thread") && ${row(4, "store")}`,
      "the thread that split",
    );
    const text = await b.see(`document.querySelector(".trail").innerText`);
    console.log(
      /shade #6 thread 1/.test(text) && /bound_and_split #5 thread/.test(text.replace(/\s+/g, " "))
        ? "ok bezier_subdivision"
        : `FAIL bezier_subdivision: ${text}`,
    );
  },
  async tessellation() {
    await openBuffer("d_vertices");
    await choose(`document.querySelector('select[aria-label="type of the elements"]')`, "f32");
    await choose(`document.querySelector('input[aria-label="parts of an element"]')`, "2");
    await b.until(`${title(0)} === "float × 2 d_vertices-4 20 449 elements"`);
    await choose(`[...document.querySelectorAll(".controls select")][0]`, "1");
    await choose(`[...document.querySelectorAll('.controls input[type="number"]')][1]`, "0.99999");
    await choose(`[...document.querySelectorAll('.controls input[type="number"]')][2]`, "1");
    await b.quiet();
    // Only the wrong ones are as bright as can be.
    const bright = await b.see(`(() => {
        const c = document.querySelector("canvas.dots"), d = c.dataset,
        w = Number(document.querySelector('.controls input[type="number"]').value),
        n = Number(d.dot), all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data,
        out = [];
        const middle = Math.floor((n - 1) / 2);
        for (let i = 0; i < 20449; i++) {
          const y = Number(d.top) + Math.floor(i / w) * n + middle,
            x = Number(d.left) + i % w * n + middle, k = (y * c.width + x) * 4;
          if (all[k] === 253 && all[k + 1] === 231) out.push(i);
        }
        return out; })()`);
    console.log(
      String(bright) === "5184,10816,15625"
        ? "ok tessellation"
        : `FAIL tessellation: ${bright.length} ${bright.slice(0, 9)}`,
    );
    await clickDot(5184);
    await b.until(
      `${title(1)}?.includes("d_vertices-4[5184]") && ${row(1, "store", "thread 5184")}`,
      "its writer",
    );
    console.log("ok tessellation_writer");
  },
};
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".tabs")`);
  await b.quiet();
  await stories[name]();
  if (picture) await b.picture(picture);
  console.log(
    b.complaints().length
      ? `FAIL ${name}_complaints: ${b.complaints()}`
      : `ok ${name}_no_complaints`,
  );
} catch (e) {
  console.log(`FAIL ${name}: ${e.message} ${b.complaints()}`);
  if (picture) await b.picture(picture).catch(() => {});
} finally {
  await b.stop();
}
