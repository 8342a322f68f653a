// The walk of the paper by clicks, in a browser: from a value that nobody wrote to the overflow
// that is its cause. walk.mjs URL FOLDER FOLDER gets the pictures of docs/tutorial.md
// (tests/viewer/remake-pictures).
import { Browser } from "./browser.mjs";
import { pane, row, text, title } from "./panes.mjs";

const [url, folder] = process.argv.slice(2);
const b = await Browser.start({ width: 1600, height: 900 });
let step = "start";
const results = [];
const ok = (name, good, seen) => {
  results.push([name, good]);
  console.log(good ? `ok ${name}` : `FAIL ${name}: ${JSON.stringify(seen)}`);
};
const inPane = (n, selector, words) =>
  `[...(${pane(n)}?.querySelectorAll(${JSON.stringify(selector)}) ?? [])].find(e => e.innerText
    .includes(${JSON.stringify(words)}))`;
const shot = async (name) => {
  if (folder) await b.picture(`${folder}/${name}.png`);
};

try {
  await b.colours("light");
  const began = Date.now();
  await b.open(url);
  await b.until(
    `${pane(0)} && document.querySelectorAll(".finding").length`,
    "the first finding's thread",
  );
  ok("first_paint", Date.now() - began < 15000, Date.now() - began);
  ok(
    "opens_at_finding",
    /^thread \d+$/.test(await b.see(title(0))) && (await b.see(`location.hash.startsWith("#/t:")`)),
    await b.see("location.hash"),
  );

  step = "the finding";
  await b.click(
    `[...document.querySelectorAll(".finding")].find(e => e.innerText.includes("never written") &&
      e.innerText.includes("thread 4012"))`,
  );
  await b.until(`${title(0)} === "thread 4012"`);
  await b.until(
    `${row(0, "b[4012]", "load")}?.innerText.includes("never written")`,
    "b[4012], never written",
  );
  ok(
    "thread",
    await b.holds(
      `${text(0)}.includes("bsmerge #2") &&
        ${text(0)}.includes("block (15,0,0) thread (172,0,0)") &&
        ${row(0, "b[4012]", "load")}.classList.contains("selected")`,
    ),
    await b.see(text(0)),
  );
  await shot("1-finding");

  step = "the peer";
  await b.click(inPane(0, ".peer", "4013"));
  await b.until(`${title(1)} === "thread 4013"`);
  await b.until(row(1, "b[4013]", "load", "-2147483648"), "b[4013] = -2147483648");
  ok("peer", await b.holds(`${text(1)}.includes("bsmerge #2")`), await b.see(text(1)));
  await shot("2-peer");

  step = "the element";
  await b.click(row(1, "b[4013]", "load"));
  await b.until(`${title(2)}?.endsWith("b[4013]")`);
  await b.until(
    `${row(2, "store", "thread 4012", "race")} && ${row(2, "store", "thread 4013", "race")}`,
    "both writers of b[4013]",
  );
  await b.until(`${inPane(2, ".cell.unwritten", "b[4012]")}`, "its neighbour, never written");
  await b.until(`document.querySelector("svg.lines .followed")`, "the line between them");
  ok(
    "element",
    await b.holds(`${row(2, "load", "thread 4013")}?.classList.contains("selected")`),
    await b.see(text(2)),
  );
  await shot("3-element");

  step = "its writer";
  await b.click(row(2, "store", "thread 4013"));
  await b.until(`${title(3)} === "thread 4013" && ${text(3)}.includes("bsmerge #1")`);
  await b.until(
    `${row(3, "load", "a[4013]", "-2147483648")} && ${inPane(3, ".go.race", "thread 4012")}`,
    "what it read, and the race",
  );
  ok(
    "writer",
    await b.holds(`${row(3, "store", "b[4013]")}?.classList.contains("selected")`),
    await b.see(text(3)),
  );
  await shot("4-writer");

  step = "the race peer";
  await b.click(inPane(3, ".go.race", "thread 4012"));
  await b.until(`${title(4)} === "thread 4012" && ${text(4)}.includes("bsmerge #1")`);
  await b.until(
    `${row(4, "store", "b[4013]")} && ${row(4, "load", "a[4012]")}`,
    "it writes b[4013] too",
  );
  ok(
    "race_peer",
    await b.holds(`document.querySelectorAll(".trail > button:not(.button)").length === 5`),
    await b.see(`document.querySelector(".trail").innerText`),
  );
  const walked = await b.see("location.hash");

  step = "the source";
  await b.click(`${row(3, "load", "a[4013]")}.querySelector(".lineno")`);
  await b.until(`${pane(4)}?.classList.contains("source")`);
  await b.until(
    `${inPane(4, ".codeline", "int k0 = a[id];")}?.innerText.includes("a[4013] → -2147483648")`,
    "the value beside its line",
  );
  ok(
    "source",
    await b.holds(
      `${inPane(4, ".codeline.selected", "17")} &&
        ${pane(4)}.querySelector('a[href^="vscode://file/"]') &&
        ${inPane(4, ".codeline", "bug 1")} !== undefined`,
    ),
    await b.see(text(4)),
  );
  await shot("5-source");

  step = "the calculator";
  await b.click(`document.querySelector('button[aria-label^="Calculator"]')`);
  await b.click(`document.querySelector(".expression")`);
  await b.type("INT_MIN - 1");
  await b.until(`document.querySelector(".result")?.innerText.includes("2147483647")`);
  ok(
    "calculator",
    await b.holds(
      `document.querySelector(".result").innerText.includes("signed overflow") &&
        document.querySelector(".result").innerText.includes("computed by")`,
    ),
    await b.see(`document.querySelector(".result").innerText`),
  );
  await shot("6-calculator");

  step = "the address";
  await b.open(url + walked);
  await b.until(
    `${title(4)} === "thread 4012" && ${row(2, "store", "thread 4012", "race")}`,
    "the same path from its address",
  );
  ok(
    "address",
    await b.holds(`${title(0)} === "thread 4012" && ${title(2)}.endsWith("b[4013]")`),
    await b.see("location.hash"),
  );

  step = "keys";
  await b.key("Backspace");
  await b.until(`!${pane(4)}`, "the last pane closed");
  await b.key("[", "BracketLeft");
  await b.until(`${title(3)} === "thread 4012"`, "the thread before");
  await b.key("]", "BracketRight");
  await b.until(`${title(3)} === "thread 4013" && ${row(3, "load", "a[4013]")}`, "the next thread");
  await b.key("ArrowDown");
  await b.key("ArrowDown");
  await b.key("ArrowUp");
  await b.key("Enter");
  await b.until(`${pane(4)}?.classList.contains("element")`, "Enter follows");
  const kept = await b.see("location.hash");
  await b.key("n");
  await b.until(`!${pane(1)}`, "the next finding");
  await b.key("?", "Slash");
  await b.until(`document.querySelector(".keysheet")`, "the list of keys");
  await b.key("Escape");
  await b.key("t");
  await b.until(`document.documentElement.dataset.theme === "dark"`, "dark");
  await b.key("t");
  ok("keys", await b.until(`document.documentElement.dataset.theme === "light"`));

  // Going back comes about later than it is asked for.
  step = "back";
  await b.see("history.back()");
  await b.until(
    `location.hash === ${JSON.stringify(kept)} && ${pane(4)}?.classList.contains("element")`,
    "the path before the next finding",
  );
  ok("back", true);

  step = "go to";
  await b.key("g");
  await b.until(`document.activeElement?.tagName === "INPUT"`, "the line to type in");
  await b.type("b[4012]");
  await b.key("Enter");
  await b.until(
    `${title(0)}?.endsWith("b[4012]") && ${row(0, "load", "never written")}`,
    "b[4012]",
  );
  ok(
    "go_to",
    await b.holds(
      `${pane(0)}.querySelector('.op[data-index="0"]').innerText.includes("never written")`,
    ),
    await b.see(text(0)),
  );

  step = "the picture";
  await b.click(`document.querySelector('button[aria-label^="The buffer as a picture"]')`);
  await b.until(`${pane(1)}?.querySelector("canvas.dots")?.width > 100`);
  await b.choose(`document.querySelector('input[aria-label="after which step"]')`, 0);
  await b.until(`${text(1)}.includes("after launch #1")`);
  await b.quiet();
  const colours = { unwritten: (await b.dot(4012)).colour, other: (await b.dot(100)).colour };
  ok(
    "picture",
    colours.unwritten === "214,48,49,255" &&
      colours.other !== colours.unwritten &&
      colours.other.endsWith(",255"),
    colours,
  );
  await b.choose(`document.querySelector('input[aria-label="after which step"]')`, 4);
  await b.until(`${text(1)}.includes("after launch #9")`);
  await shot("7-picture");

  step = "the flow chart";
  const chart = await b.see(
    `(() => { const r = document.querySelector(".flowbox").getBoundingClientRect();
      return { x: r.left + 60, y: r.top + 22 + 20 * 2 + 10 }; })()`,
  );
  await b.call("Input.dispatchMouseEvent", { type: "mouseMoved", ...chart });
  await b.until(
    `/bsmerge #\\d/.test(document.querySelector(".flowfoot").innerText)`,
    "a launch under the mouse",
  );
  for (const type of ["mousePressed", "mouseReleased"])
    await b.call("Input.dispatchMouseEvent", { type, ...chart, button: "left", clickCount: 1 });
  await b.until(`/^launch bsmerge #\\d/.test(${title(0)})`, "the launch");
  await b.until(
    `${text(0)}.includes("(20,1,1) blocks of (256,1,1)") && ${text(0)}.includes("msort")`,
    "shape and stack of the launch",
  );
  ok("flow", true);
  await shot("8-launch");

  step = "dark";
  await b.see(`localStorage.removeItem("theme")`);
  await b.colours("dark");
  await b.open(url + walked);
  await b.until(`${title(4)} === "thread 4012"`);
  ok(
    "dark",
    (await b.see(`getComputedStyle(document.body).backgroundColor`)) === "rgb(18, 21, 27)",
    await b.see(`getComputedStyle(document.body).backgroundColor`),
  );
  await shot("9-dark");

  ok("no_complaints", b.complaints().length === 0, b.complaints());
  const elsewhere = b
    .addresses()
    .filter((a) => !a.startsWith(url) && !a.startsWith("data:") && a !== "about:blank");
  ok("nothing_from_elsewhere", elsewhere.length === 0, elsewhere.slice(0, 3));
} catch (e) {
  console.log(`FAIL ${step}: ${e.message}`);
  if (folder) await b.picture(`${folder}/failed.png`).catch(() => {});
} finally {
  await b.stop();
}
process.exit(results.every((r) => r[1]) ? 0 : 1);
