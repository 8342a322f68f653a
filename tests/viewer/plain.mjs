// A run with little in it opens and says what there is: plain.mjs URL none|killed PICTURE
import { Browser } from "./browser.mjs";

const [url, name, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1300, height: 800 });
const says = {
  none: `document.querySelector(".facts")?.innerText.includes("0 launches") &&
    document.querySelector(".bufferrow")`,
  killed: `document.querySelector(".facts")?.innerText.includes("20 launches") &&
    document.querySelector("section[data-pane]")`,
};
try {
  await b.open(url);
  await b.until(says[name], "what there is");
  if (name === "killed") {
    await b.key("g");
    await b.until(`document.activeElement?.tagName === "INPUT"`);
    await b.type("20:99");
    await b.key("Enter");
    await b.until(
      `[...document.querySelectorAll(".op")].some(e => e.innerText.includes("store") &&
        e.innerText.includes("p[99]") && e.innerText.includes("20"))`,
      "the last launch's store",
    );
  }
  console.log(b.complaints().length ? `FAIL ${name}: ${b.complaints()}` : `ok ${name}`);
} catch (e) {
  const seen = await b.see("document.body.innerText").catch(() => "");
  console.log(`FAIL ${name}: ${e.message} ${b.complaints()} ${seen}`.slice(0, 800));
} finally {
  if (picture) await b.picture(picture).catch(() => {});
  await b.stop();
}
