// Names that are HTML stay text, everywhere: evil.mjs ADDRESS [static | less | profile]
import { Browser } from "./browser.mjs";

const [url, kind] = process.argv.slice(2),
  name = kind ? `evil_${kind}` : "evil";
const b = await Browser.start({ width: 1500, height: 900 });
try {
  await b.open(url);
  await b.until(
    `document.querySelector("section[data-pane]") &&
      document.body.innerText.includes("<img src=x")`,
    "names as text",
  );
  for (const tab of [1, 0]) {
    await b.click(`document.querySelectorAll(".tabs button")[${tab}]`);
    await b.quiet();
  }
  await b.click(`document.querySelector(".finding")`);
  await b.quiet();
  // Every view that a key leads to, from a thread, from an element, from a picture.
  const type = async (what) => {
    await b.key("Escape");
    await b.key("g");
    await b.type(what);
    await b.key("Enter");
    await b.quiet();
    await b.key("Escape");
  };
  let reached = new Set();
  const note = async () => {
    for (const k of await b.see(
      `[...document.querySelectorAll("section[data-pane]")]
        .map(e => e.className.replace(/pane|active/g, "").trim())`,
    ))
      reached.add(k);
  };
  for (const from of kind === "static" ? [] : ["2:0", "3:0", "2", "4"]) {
    for (const keys of [
      ["s", "x"],
      ["o"],
      ["v"],
      ["ArrowDown", "Enter", "b"],
      ["ArrowDown", "Enter", "v"],
      ["c"],
    ]) {
      await type(from);
      for (const k of keys) {
        await b.key(k);
        await b.quiet();
      }
      await note();
    }
  }
  for (const k of kind === "static" ? [] : ["F", "P", "D", "?"]) {
    await b.key("Escape");
    await b.key(k);
    await b.quiet();
    await note();
  }
  await b.key("Escape");
  if (kind === "less") {
    const missing = [
      "thread",
      "source",
      "slice",
      "versus",
      "element",
      "buffer",
      "launch",
      "flow",
      "runs",
      "calculator",
    ].filter((k) => !reached.has(k));
    console.log(
      missing.length
        ? `FAIL ${name}_views: not reached: ${missing}; ${[...reached]}`
        : `ok ${name}_views`,
    );
  }
  if (kind === "profile")
    console.log(
      reached.has("profile") ? `ok ${name}_views` : `FAIL ${name}_views: ${[...reached]}`,
    );
  await b.click(`document.querySelectorAll(".tabs button")[1]`);
  await b.click(`document.querySelector(".bufferrow")`);
  await b.quiet();
  for (let i = 0; i < 12; i++) {
    await b.key("f");
    for (let k = 0; k < 30; k++) await b.key("ArrowUp");
    for (let k = 0; k < i; k++) await b.key("ArrowDown");
    await b.key("Enter");
    await b.quiet();
  }
  const seen = await b.see(
    `[window.harmed ?? 0, document.querySelectorAll("img").length,
      [...document.scripts].filter(s => !s.src && s.text.includes("harmed")).length].join()`,
  );
  console.log(seen === "0,0,0" ? `ok ${name}` : `FAIL ${name}: ${seen}`);
} catch (e) {
  console.log(`FAIL ${name}: ${e.message} ${b.complaints()}`);
} finally {
  await b.stop();
}
