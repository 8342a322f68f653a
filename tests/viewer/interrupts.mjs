// A round of an interrupt: its pane, and the way from a value to its handler. interrupts.mjs URL
// PICTURE
import { Browser } from "./browser.mjs";
import { allText, pane, row, text } from "./panes.mjs";

const [url, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1600, height: 900 });
const ok = async (name, expression) =>
  console.log((await b.holds(expression)) ? `ok ${name}` : `FAIL ${name}: ${await b.see(allText)}`);
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".tabs")`);
  await b.quiet();
  // Memory of Warpgrind and the compiler's texts are not the program's.
  await ok(
    "own_buffers_hidden",
    `[...document.querySelectorAll(".bufferrow b")].map(e => e.innerText).sort()
      .join() === "keys,out" && !document.body.innerText.includes("$str") &&
      document.querySelector(".pane.flow h2").innerText.includes("5 steps, 2 buffers")`,
  );
  // From the result back: out[2] was written by the part that goes on, with a value that the
  // handler returned.
  await b.key("g");
  await b.until(`document.activeElement?.tagName === "INPUT"`);
  await b.type("out[2]");
  await b.key("Enter");
  await b.until(row(0, "store", "501"), "out[2]");
  await b.click(row(0, "store", "501"));
  await ok(
    "goes_on",
    `${text(1)}?.includes("resumed ask #2") &&
      ${row(1, "result of the call", "interrupt lookup")} && !${text(1)}.includes("never written")`,
  );
  await b.click(
    `[...${pane(1)}.querySelectorAll(".go")].find(e => e.innerText.includes("interrupt lookup"))`,
  );
  await ok(
    "round",
    `${text(2)}?.includes("interrupt lookup") && ${text(2)}.includes("8 callers") &&
      ${text(2)}.includes("called in ask #1, which goes on in resumed ask #2")`,
  );
  await ok(
    "values",
    `[...${pane(2)}.querySelectorAll(".callers tbody tr")]
      .some(e => /^thread 2\\s+interrupts.cu:12\\s+5, 1\\s+500\\s+thread 2$/
      .test(e.innerText.replace(/\\s+/g, " ")))`,
  );
  if (picture) await b.picture(picture);
  // To the thread that called.
  await b.click(`[...${pane(2)}.querySelectorAll(".callers tbody tr")][2].querySelector("button")`);
  await ok("caller", `${text(3)}?.includes("ask #1") && ${row(3, "load", "keys[2]", "5")}`);
  console.log(b.complaints().length ? `FAIL no_complaints: ${b.complaints()}` : "ok no_complaints");
} catch (e) {
  console.log(`FAIL interrupts: ${e.message} ${b.complaints()}`);
  if (picture) await b.picture(picture).catch(() => {});
} finally {
  await b.stop();
}
