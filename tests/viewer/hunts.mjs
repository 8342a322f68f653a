// Eleven programs whose bugs the tutorial does not name, each followed to its cause by clicks and
// keys only: hunts.mjs NAME URL FOLDER A step is one click, or one key with what is typed behind
// it; what the screen says after each is asserted, and the steps are counted.
import { Browser } from "./browser.mjs";
import { pane, row, title } from "./panes.mjs";

const [name, url, folder] = process.argv.slice(2);
const b = await Browser.start({ width: 1600, height: 900 });
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
      `${title(2)} === "thread 72" && ${row(2, "load", "slot[72]", "40")} &&
        ${row(2, "load", "partner[72]", "73")}`,
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
      `${pane(2)}?.innerText.includes("blockIdx (1024,0,0)") &&
        ${pane(2)}?.innerText.includes("step 32768")`,
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
        `[...document.querySelectorAll(".tabs button")].find(e => e.innerText
          .startsWith("Findings"))`,
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
      `${title(1)}?.endsWith("s[0]") && ${row(1, "load", "race", "return s[0];")} &&
        ${row(1, "store", "race", "s[t] = mine;")}`,
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
          `[...document.querySelectorAll(".bufferrow")].find(e => e.innerText
            .startsWith("weights"))`,
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
      `${pane(0)}?.querySelector("canvas.dots")?.width > 8 &&
        ${pane(0)}?.querySelector(".findvalue input")`,
    );
    await step(
      "the first NaN",
      async () => {
        await b.click(`${pane(0)}.querySelector(".findvalue input")`);
        await b.type("NaN");
        await b.key("Enter");
      },
      `${pane(0)}?.querySelector(".legend")?.innerText.includes("s.birds[96].pos.x") &&
        document.querySelector(".timelabel").innerText.includes("fly #3")`,
    );
    await b.quiet();
    await step(
      "the bird",
      async () => b.clickAt(await b.dot(96)),
      `${title(1)}?.endsWith("s.birds[96].pos.x") &&
        ${pane(1)}?.querySelector(".op.selected")?.innerText.includes("NaN")`,
    );
    await step(
      "its writer",
      click(row(1, "fly #3", "store", "NaN")),
      `${title(2)} === "thread 96" && ${row(2, "load", "s.birds[96].mass", "0")}`,
    );
    await step(
      "who said 0",
      click(`${row(2, "load", "s.birds[96].mass")}?.querySelector(".go")`),
      `${title(3)} === "thread 96" && ${row(3, "load", "d_grams[96]", "900")} &&
        ${row(3, "store", "s.birds[96].mass", "0")}`,
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
      `${title(0)} === "thread 0" && ${row(0, "atomic", "a.count[0]", "1 + 1")}`,
    );
    await step(
      "the count, which was 1 before",
      click(`${row(0, "atomic", "a.count[0]", "1 + 1")}?.querySelector(".element")`),
      `${title(1)}?.endsWith("a.count[0]") && ${row(1, "expand #3", "atomic", "1 + 1")}`,
    );
    await step(
      "its write before",
      async () => {
        await b.key("{");
      },
      `${pane(1)}?.querySelector(".op.selected")?.innerText.replace(/\\s+/g,
        " ").includes("start #1 store 1")`,
    );
  },
  // "now[2276] is 19 instead of 20": row 47 of a field of 48 × 80
  async torus() {
    await step(
      "the wrong element",
      goTo("now[2276]"),
      `${title(0)}?.endsWith("now[2276]") && ${row(0, "spread #2", "store", "19")}`,
    );
    await step(
      "its writer, which read row 0",
      click(row(0, "spread #2", "store", "19")),
      `${row(1, "load", "next[20]", "0")} && ${row(1, "load", "next[2276]")}`,
    );
    await step(
      "the line",
      line(1, "load", "next[20]"),
      `${selectedLine(2)}?.includes("now[below * w + x]") &&
        ${pane(2)}?.innerText.includes("(y + 1) % w") && ${pane(2)}?.innerText.includes("w 48") &&
        ${pane(2)}?.innerText.includes("h 80")`,
    );
  },
  // "448 of 512 words were counted"
  async words() {
    await step(
      "races",
      click(
        `[...document.querySelectorAll(".tabs button")].find(e => e.innerText
          .startsWith("Findings"))`,
      ),
      `document.querySelector("button.raced")?.innerText.includes("count_words #2")`,
    );
    await step(
      "the launch: a store and an atomic operation",
      click(`document.querySelector("button.raced")`),
      `/t\\.counts.*thread \\d+ store, line 37 and thread \\d+ atomic, line 33/s
        .test(${pane(0)}?.innerText)`,
    );
    await step(
      "the count they race for",
      click(
        `[...${pane(0)}.querySelectorAll("button.link")].find(e => e.innerText
          .startsWith("t.counts["))`,
      ),
      `${row(1, "atomic", "0 + 1")} && ${row(1, "store", "1", "race")}`,
    );
    await step(
      "the thread that stores",
      click(row(1, "store", "1", "race")),
      `${row(2, "atomic", "t.keys[", "-1 →")} && ${row(2, "store", "t.counts[", "1")}`,
    );
    await step(
      "the line",
      line(2, "store", "t.counts["),
      `${selectedLine(3)}?.includes("t.counts[slot] = 1;")`,
    );
  },
  // "particle 96 of 288 does not move": the list was moved twice, larger-3 is the last one
  async particles() {
    await step(
      "the particle",
      goTo("larger-3[96]"),
      `${row(0, "set by the host")} && ${row(0, "copy on device #5", "(0, 0, 0)")} &&
        ${row(0, "move #12", "load", ".v 0")}`,
    );
    await step(
      "the copy",
      click(row(0, "copy on device #5")),
      `${pane(1)}?.innerText.includes("larger-2[96]")`,
    );
    await step(
      "where it came from: nobody emitted it there",
      click(
        `[...${pane(1)}.querySelectorAll("button.link")].find(e => e.innerText ===
          "larger-2[96]")`,
      ),
      `${title(2)}?.endsWith("larger-2[96]") && ${row(2, "move #6", "load", ".v 0")} &&
        !${row(2, "emit")}`,
    );
    await step(
      "the launch that should have: it got the list of before",
      goTo("5"),
      `${title(0)}?.includes("emit #5") &&
        /\\.items\\s+&larger\\[0\\]\\s+\\.size\\s+96\\s+\\.room\\s+128/
        .test(${pane(0)}?.innerText) && ${pane(0)}?.innerText.includes("particles.cu:53")`,
    );
  },
  // "cells[3185] has height 0.999797, its mirror image 1.0002"
  async waves() {
    await step(
      "the wrong cell",
      goTo("now.cells[3185]"),
      `${title(0)}?.endsWith("now.cells[3185]") &&
        ${row(0, "flow #11", "store", ".height 0.9997")}`,
    );
    await step(
      "its writer",
      click(row(0, "flow #11", "store", ".height 0.9997")),
      `${title(1)} === "thread 3217" && ${row(1, "load", "[3089].height")} &&
        ${row(1, "load", "[1122].height")}`,
    );
    await step(
      "the line of the neighbour that is none",
      line(1, "load", "[1122].height"),
      `${selectedLine(2)}?.includes("x * now.h + y + 1")`,
    );
  },
};
const holds = async (name, expression, seen) =>
  console.log((await b.holds(expression)) ? `ok ${name}` : `FAIL ${name}: ${await b.see(seen)}`);
// What else the page says of the hash table.
async function ofTheTable() {
  const first = `${pane(0)}?.querySelector(".op")?.innerText.replace(/\\s+/g, " ")`;
  const chosen = `${pane(0)}?.querySelector(".op.selected")?.innerText.replace(/\\s+/g, " ")`;
  const legend = `document.querySelector(".rail .flowfoot").innerText`;
  const all = `${pane(0)}?.innerText`;
  await b.key("f");
  await b.key("Escape");
  await holds("only_given_explained", `${legend}.includes("only given")`, legend);
  // a buffer of one element is no picture
  await goTo("best")();
  await holds(
    "one_element",
    `${title(0)}?.endsWith("best") || ${title(0)}?.endsWith("best[0]")`,
    all,
  );
  await holds("one_element_store", `${row(0, "most_frequent #3", "store", "42")}`, all);
  // one compare-and-swap takes the slot; those that do not swap count as reads
  await goTo("t.keys[10]")();
  await holds("swap_is_the_write", `${chosen}?.includes("atomic -1 → 42")`, chosen);
  await holds("no_swap_said", `${row(0, "atomic", "42 unchanged")}`, all);
  await holds(
    "no_swap_is_a_read",
    `${row(0, "atomic", "42 unchanged")}?.classList.contains("read")`,
    all,
  );
  const focused = `document.activeElement?.innerText.replace(/\\s+/g, " ")`;
  await b.key("End");
  await holds("end_of_the_list", `${focused}?.startsWith("most_frequent #3 load 42")`, focused);
  await b.key("Home");
  await holds("start_of_the_list", `${focused}?.startsWith("clear #1 store -1")`, first);
}
// Three panes side by side: all titles can be read.
async function wholeTitles() {
  await goTo("larger-3[96]")();
  await b.click(row(0, "copy on device #5"));
  await b.click(
    `[...(${pane(1)}?.querySelectorAll("button.link") ?? [])].find(e => e.innerText ===
      "larger-2[96]")`,
  );
  await b.until(`${title(2)}?.endsWith("larger-2[96]")`, "the third pane");
  const cut = `[...document.querySelectorAll(".pane h2")].filter(e =>
    e.scrollWidth > e.clientWidth).map(e => e.innerText).join()`;
  for (const [width, height] of [
    [1280, 800],
    [1600, 900],
    [1920, 1080],
  ]) {
    await b.size(width, height);
    await b.quiet();
    await holds(`whole_titles_${width}`, `${cut} === ""`, cut);
  }
}
// In a small window: what tells a row from the next is not cut, and all keys are in sight. The name
// of a field is enough, or the page asks; the width of the picture is in the struct.
async function ofTheWaves() {
  await b.size(1280, 720);
  await goTo("now.cells[3185]")();
  await b.click(row(0, "flow #11", "store", ".height 0.9997"));
  await b.until(`${pane(1)}?.querySelector(".go")`, "the writer's rows");
  const cut = `[...document.querySelectorAll(".go, .cell .index")].filter(e =>
    e.scrollWidth > e.clientWidth + 1).map(e => e.innerText).join()`;
  await holds("waves_rows_whole", `${cut} === ""`, cut);
  await b.key("?");
  const sheet = `document.querySelector(".keysheet")`;
  const inSight = `${sheet}?.getBoundingClientRect().bottom <= innerHeight &&
    ${sheet}.scrollHeight <= ${sheet}.clientHeight`;
  await holds("waves_keys_in_sight", inSight, `${sheet}?.getBoundingClientRect().bottom`);
  await b.key("Escape");
  const said = `document.querySelector(".search input").validationMessage`;
  await goTo("cells[3185]")();
  await holds("waves_which_one", `${said}.startsWith("which one: now.cells[3185], next")`, said);
  await b.key("Escape");
  await goTo("now.cells")();
  const width = `${pane(0)}?.querySelector('.controls input[type="number"]')?.value`;
  await holds("waves_width", `${width} === "96"`, width);
}
// The same picture by last write, and a page that is opened at its address: weights 16 to 23 were
// written by the third copy, all others by the second.
async function byLastWrite() {
  await b.key("Home");
  await b.click(
    `[...document.querySelectorAll(".bufferrow")].find(e => e.innerText.startsWith("weights"))`,
  );
  await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 8`, "the picture");
  await b.choose(`document.querySelector('select[aria-label="what colours mean"]')`, "writes");
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
  const legend = `${pane(0)}.querySelector(".legend").innerText`;
  console.log(
    (await b.holds(`${legend}.includes("last written by copy to device #3")`))
      ? "ok weights_writer_named"
      : `FAIL weights_writer_named: ${await b.see(legend)}`,
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
  if (name === "words") await ofTheTable();
  if (name === "particles") await wholeTitles();
  if (name === "waves") await ofTheWaves();
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
