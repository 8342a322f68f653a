// The walk on a page without a server: static.mjs ADDRESS
import { Browser } from "./browser.mjs";
import { pane, row, title } from "./panes.mjs";

const b = await Browser.start({ width: 1600, height: 900 });
let step = "start";
try {
  await b.colours("light");
  await b.open(process.argv[2]);
  await b.click(
    `[...document.querySelectorAll(".finding")].find(e => e.innerText.includes("never written") &&
      e.innerText.includes("thread 4012"))`,
  );
  step = "thread";
  await b.until(
    `${row(0, "b[4012]", "load")}?.innerText.includes("never written")`,
    "b[4012], never written",
  );
  console.log("ok thread");
  step = "element";
  await b.click(`[...${pane(0)}.querySelectorAll(".peer")].find(e => e.innerText === "4013")`);
  await b.click(row(1, "b[4013]", "load"));
  await b.until(
    `${row(2, "store", "thread 4012", "race")} && ${row(2, "store", "thread 4013", "race")}`,
    "both writers",
  );
  await b.until(
    `${pane(2)}.querySelector(".cell.unwritten")?.innerText.includes("b[4012]")`,
    "its neighbour, never written",
  );
  console.log("ok element");
  step = "writer";
  await b.click(row(2, "store", "thread 4013"));
  await b.until(
    `${row(3, "load", "a[4013]", "-2147483648", "copy to device")} &&
      ${pane(3)}.querySelector(".go.race")?.innerText.includes("thread 4012")`,
    "its writer and the race",
  );
  console.log("ok writer");
  step = "copy";
  await b.click(row(3, "load", "a[4013]"));
  await b.until(row(4, "copy", "the host"), "the copy that brought the value");
  console.log("ok copy");
  step = "picture";
  await b.click(`${pane(4)}.querySelector('button[aria-label^="The buffer as a picture"]')`);
  await b.until(`document.querySelector("canvas.dots")?.width > 100`);
  console.log("ok picture");
  console.log(b.complaints().length ? `FAIL complaints: ${b.complaints()}` : "ok no_complaints");
} catch (e) {
  console.log(`FAIL ${step}: ${e.message} ${b.complaints()}`);
  if (process.argv[3]) await b.picture(process.argv[3]).catch(() => {});
} finally {
  await b.stop();
}
