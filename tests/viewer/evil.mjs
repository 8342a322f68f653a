// Names that are HTML stay text, everywhere: evil.mjs ADDRESS [static]
import { Browser } from "./browser.mjs";

const [url, kind] = process.argv.slice(2), name = kind ? "evil_static" : "evil";
const b = await Browser.start({ width: 1500, height: 900 });
try {
  await b.open(url);
  await b.until(`document.querySelector("section[data-pane]") && document.body.innerText.includes("<img src=x")`, "names as text");
  for (const tab of [1, 0]) { await b.click(`document.querySelectorAll(".tabs button")[${tab}]`); await b.quiet(); }
  await b.click(`document.querySelector(".finding")`);
  await b.quiet();
  await b.click(`document.querySelectorAll(".tabs button")[1]`);
  await b.click(`document.querySelector(".bufferrow")`);
  await b.quiet();
  for (let i = 0; i < 12; i++) { await b.key("f"); for (let k = 0; k < 30; k++) await b.key("ArrowUp"); for (let k = 0; k < i; k++) await b.key("ArrowDown"); await b.key("Enter"); await b.quiet(); }
  const seen = await b.see(`[window.harmed ?? 0, document.querySelectorAll("img").length, [...document.scripts].filter(s => !s.src && s.text.includes("harmed")).length].join()`);
  console.log(seen === "0,0,0" ? `ok ${name}` : `FAIL ${name}: ${seen}`);
} catch (e) { console.log(`FAIL ${name}: ${e.message} ${b.complaints()}`); } finally { await b.stop(); }
