// Seven programs whose bugs the tutorial does not name, each followed to its cause by clicks and keys only: hunts.mjs NAME URL FOLDER
// A step is one click, or one key with what is typed behind it; what the screen says after each is asserted, and the steps are counted.
import { Browser } from "./browser.mjs";

const [name, url, folder] = process.argv.slice(2);
const b = await Browser.start({ width: 1600, height: 900 });
const pane = (n) => `document.querySelector('section[data-pane="${n}"]')`;
const title = (n) => `${pane(n)}?.querySelector("h2")?.innerText.replace(/\\s+/g, " ")`;
const has = (words) => words.map((w) => `t.includes(${JSON.stringify(w)})`).join(" && ");
const row = (n, ...words) =>
  `[...(${pane(n)}?.querySelectorAll(".op") ?? [])].find(e => { const t = e.innerText.replace(/\\s+/g, " "); return ${has(words)}; })`;
let steps = 0,
  failed = false;
async function step(what, act, ...expected) {
  await act();
  steps++;
  for (const e of expected) await b.until(e, `step ${steps}, ${what}: ${e}`, 30);
  if (folder) await b.picture(`${folder}/${name}-${steps}.png`);
}
const goTo = (text) => async () => {
  await b.key("g");
  await b.until(`document.activeElement?.tagName === "INPUT"`, "the line to type in");
  await b.type(text);
  await b.key("Enter");
};
const click =
  (...where) =>
  () =>
    b.click(...where);
const line =
  (n, ...words) =>
  () =>
    b.click(`${row(n, ...words)}?.querySelector(".lineno")`);
const selectedLine = (n) =>
  `${pane(n)}?.querySelector(".codeline.selected")?.innerText.replace(/\\s+/g, " ")`;

const hunts = {
  // "now[1488] is 16.2973, its mirror image now[1519] is 25.3408"
  async heat() {
    await step(
      "the wrong element",
      goTo("now[1488]"),
      `${title(0)}?.endsWith("now[1488]") && ${row(0, "store", "16.29")}`,
    );
    await step(
      "its neighbour is cold",
      click(
        `[...${pane(0)}.querySelectorAll(".cell")].find(e => e.innerText.includes("now[1487]"))`,
      ),
      `${title(1)}?.endsWith("now[1487]") && ${row(1, "spread #12", "store", "0")}`,
    );
    await step(
      "who computed it",
      click(row(1, "spread #12", "store")),
      `${title(2)} === "thread 1151" && ${row(2, "load", "tile[8][17]")}`,
    );
    await step(
      "the halo",
      click(row(2, "load", "tile[8][17]")),
      `${title(3)}?.endsWith("tile[8][17]") && ${row(3, "store")}`,
    );
    await step(
      "who filled it",
      click(row(3, "store")),
      `${title(4)} === "thread 1151" && ${row(4, "load", "next[1487]")}`,
    );
    await step(
      "the line",
      line(4, "store", "tile[8][17]"),
      `${selectedLine(5)}?.includes("min(x, w - 1)")`,
    );
  },
  // "stretch[40] is 16.5, no spring is longer than 0.5"
  async rope() {
    await step(
      "the wrong element",
      goTo("stretch[40]"),
      `${title(0)}?.endsWith("stretch[40]") && ${row(0, "store", "16.5")}`,
    );
    await step(
      "its writer",
      click(row(0, "store", "16.5")),
      `${title(1)} === "thread 40" && ${row(1, "load", "new_partner[40]", "73")}`,
    );
    await step(
      "who said 73",
      click(`${row(1, "load", "new_partner[40]")}?.querySelector(".go")`),
      `${title(2)} === "thread 72" && ${row(2, "load", "slot[72]", "40")} && ${row(2, "load", "partner[72]", "73")}`,
    );
    await step(
      "the line",
      line(2, "store", "new_partner[40]"),
      `${selectedLine(3)}?.includes("= partner[i];")`,
    );
  },
  // "dst[65536] is 1 instead of 78"
  async panorama() {
    await step(
      "the wrong element",
      goTo("dst[65536]"),
      `${title(0)}?.endsWith("dst[65536]") && ${row(0, "store")}`,
    );
    await step("its writer", click(row(0, "store")), `${row(1, "load", "src[0]")}`);
    await step(
      "the line",
      line(1, "load", "src[0]"),
      `${pane(2)}?.innerText.includes("blockIdx (1024,0,0)") && ${pane(2)}?.innerText.includes("step 32768")`,
    );
    await step(
      "calculate",
      async () => {
        await b.key("c");
        await b.until(`document.activeElement?.classList.contains("expression")`);
        await b.type("65536 * 32768");
        await b.key("Enter");
      },
      `/overflow/.test(${pane(3)}?.innerText)`,
    );
  },
  // "out[0] is -0.183 instead of -1.300"
  async normalise() {
    await step(
      "races",
      click(
        `[...document.querySelectorAll(".tabs button")].find(e => e.innerText.startsWith("Findings"))`,
      ),
      `document.querySelector("button.raced")?.innerText.includes("normalise #1")`,
    );
    await step(
      "the launch",
      click(`document.querySelector("button.raced")`),
      `${pane(0)}?.innerText.includes("race-shared")`,
    );
    await step(
      "the element they race for",
      click(`[...${pane(0)}.querySelectorAll("button.link")].find(e => e.innerText === "s[0]")`),
      `${title(1)}?.endsWith("s[0]") && ${row(1, "load", "race", "return s[0];")} && ${row(1, "store", "race", "s[t] = mine;")}`,
    );
    await step(
      "the victim",
      click(row(1, "load", "race", "⚡ thread 0")),
      `${row(2, "load", "s[0]", "⚡")}`,
    );
    await step(
      "the line",
      line(2, "load", "s[0]", "⚡"),
      `${selectedLine(3)}?.includes("return s[0];")`,
    );
  },
  // "scores[0] is 320 instead of 512": weights 16 to 47 were to become 3
  async weights() {
    await step(
      "the weights",
      async () => {
        await b.click(
          `[...document.querySelectorAll(".bufferrow")].find(e => e.innerText.startsWith("weights"))`,
        );
      },
      `${pane(0)}?.querySelector("canvas.dots")?.width > 8`,
    );
    await b.quiet();
    await step(
      "one that is still 1",
      async () => b.clickAt(await b.dot(24)),
      `${title(1)}?.endsWith("weights[24]") && ${row(1, "copy to device #2", "1")}`,
    );
    await step(
      "its neighbour",
      click(
        `[...${pane(1)}.querySelectorAll(".cell")].find(e => e.innerText.includes("weights[23]"))`,
      ),
      `${title(2)}?.endsWith("weights[23]") && ${row(2, "copy to device #3", "3")}`,
    );
    await step(
      "the copy",
      click(row(2, "copy to device #3")),
      `${pane(3)}?.innerText.includes("32 B") && ${pane(3)}?.innerText.includes("weights.cu:22")`,
    );
  },
  // "the centre is at nan"
  async flock() {
    await step(
      "the birds",
      goTo("s.birds"),
      `${pane(0)}?.querySelector("canvas.dots")?.width > 8 && ${pane(0)}?.querySelector(".findvalue input")`,
    );
    await step(
      "the first NaN",
      async () => {
        await b.click(`${pane(0)}.querySelector(".findvalue input")`);
        await b.type("NaN");
        await b.key("Enter");
      },
      `${pane(0)}?.querySelector(".legend")?.innerText.includes("s.birds[96].pos.x") && document.querySelector(".timelabel").innerText.includes("fly #3")`,
    );
    await b.quiet();
    await step(
      "the bird",
      async () => b.clickAt(await b.dot(96)),
      `${title(1)}?.endsWith("s.birds[96].pos.x") && ${pane(1)}?.querySelector(".op.selected")?.innerText.includes("NaN")`,
    );
    await step(
      "its writer",
      click(row(1, "fly #3", "store", "NaN")),
      `${title(2)} === "thread 96" && ${row(2, "load", "s.birds[96].mass", "0")}`,
    );
    await step(
      "who said 0",
      click(`${row(2, "load", "s.birds[96].mass")}?.querySelector(".go")`),
      `${title(3)} === "thread 96" && ${row(3, "load", "d_grams[96]", "900")} && ${row(3, "store", "s.birds[96].mass", "0")}`,
    );
    await step(
      "the line",
      line(3, "store", "s.birds[96].mass"),
      `${selectedLine(4)}?.includes("grams[i] / 1000;")`,
    );
  },
  // "14 rounds": a tree of 512 has 10 levels; the second round is launch 3
  async levels() {
    await step(
      "a thread of the second round",
      goTo("3:0"),
      `${title(0)} === "thread 0" && ${row(0, "atomic", "a.count[0]", "1 with 1")}`,
    );
    await step(
      "the count, which was 1 before",
      click(`${row(0, "atomic", "a.count[0]", "1 with 1")}?.querySelector(".element")`),
      `${title(1)}?.endsWith("a.count[0]") && ${row(1, "expand #3", "atomic", "1 with 1")}`,
    );
    await step(
      "its write before",
      async () => {
        await b.key("{");
      },
      `${pane(1)}?.querySelector(".op.selected")?.innerText.replace(/\\s+/g, " ").includes("start #1 store 1")`,
    );
  },
};
// The same picture by last write, and a page that is opened at its address: weights 16 to 23 were written by the third copy, all others by the second.
async function byLastWrite() {
  await b.key("Home");
  await b.click(
    `[...document.querySelectorAll(".bufferrow")].find(e => e.innerText.startsWith("weights"))`,
  );
  await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 8`, "the picture");
  await b.see(
    `(() => { const e = document.querySelector('select[aria-label="what colours mean"]'); e.value = "writes"; e.dispatchEvent(new Event("change", { bubbles: true })); })()`,
  );
  await b.quiet();
  const seen = [];
  for (const i of [15, 16, 23, 24]) seen.push((await b.dot(i)).colour);
  const two = seen[0] === seen[3] && seen[1] === seen[2] && seen[0] !== seen[1];
  console.log(
    two && /~.*writes/.test(await b.see("location.hash"))
      ? "ok weights_last_write"
      : `FAIL weights_last_write: ${seen.join(" | ")}`,
  );
  const d = await b.dot(16);
  await b.call("Input.dispatchMouseEvent", { type: "mouseMoved", x: d.x, y: d.y });
  console.log(
    (await b.holds(
      `${pane(0)}.querySelector(".legend").innerText.includes("last written by copy to device #3")`,
    ))
      ? "ok weights_writer_named"
      : `FAIL weights_writer_named: ${await b.see(`${pane(0)}.querySelector(".legend").innerText`)}`,
  );
  if (folder) await b.picture(`${folder}/last-write.png`);
}
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".tabs")`);
  await b.quiet();
  if (folder) await b.picture(`${folder}/${name}-0.png`);
  await hunts[name]();
  console.log(`ok ${name} in ${steps} steps`);
  if (name === "weights") await byLastWrite();
  console.log(
    b.complaints().length
      ? `FAIL ${name}_complaints: ${b.complaints()}`
      : `ok ${name}_no_complaints`,
  );
} catch (e) {
  console.log(`FAIL ${name}: ${e.message} ${b.complaints()}`);
  if (folder) await b.picture(`${folder}/${name}-failed.png`).catch(() => {});
} finally {
  await b.stop();
}
