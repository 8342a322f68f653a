// A call of cuBLAS: the way from a value to it, and its pane. library_calls.mjs URL PICTURE
import { Browser } from "./browser.mjs";
import { allText, pane, text } from "./panes.mjs";

const [url, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1600, height: 900 });
const ok = async (name, expression) =>
  console.log((await b.holds(expression)) ? `ok ${name}` : `FAIL ${name}: ${await b.see(allText)}`);
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".tabs")`);
  await b.quiet();
  await b.key("g");
  await b.until(`document.activeElement?.tagName === "INPUT"`);
  await b.type("c[2]");
  await b.key("Enter");
  const writer = `[...${pane(0)}.querySelectorAll(".op, .go")].find(e => e.innerText
    .includes("library cublasSgemm"))`;
  await b.until(writer, "c[2]");
  await b.click(writer);
  await ok(
    "pane",
    `${text(1)}?.includes("library cublasSgemm writes C") &&
      ${text(1)}.includes("a call of one of CUDA's libraries") &&
      ${text(1)}.includes("recorded.cu:")`,
  );
  if (picture) await b.picture(picture);
  console.log(b.complaints().length ? `FAIL no_complaints: ${b.complaints()}` : "ok no_complaints");
} catch (e) {
  console.log(`FAIL library_calls: ${e.message} ${b.complaints()}`);
  if (picture) await b.picture(picture).catch(() => {});
} finally {
  await b.stop();
}
