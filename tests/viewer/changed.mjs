// A run without sources in its file, whose source has changed since: the page says so. changed.mjs
// URL
import { Browser } from "./browser.mjs";
import { ok } from "./panes.mjs";

const [url] = process.argv.slice(2);
const b = await Browser.start({ width: 1500, height: 900 });
try {
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "a pane");
  await b.key("g");
  await b.until(`document.activeElement?.tagName === "INPUT"`);
  await b.type("6:3");
  await b.key("Enter");
  await b.click(`document.querySelector(".pane.thread .lineno")`);
  ok(
    "changed_source",
    await b.holds(
      `document.querySelector(".pane.source")?.innerText
        .includes("has changed since the run was recorded")`,
    ),
    await b.see(`document.querySelector(".pane.source")?.innerText.slice(0, 300)`),
  );
} catch (e) {
  ok("changed_source", false, e.message);
} finally {
  await b.stop();
}
