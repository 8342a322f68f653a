// From the picture of one buffer to that of another: shapes.mjs URL [FOLDER for a screenshot]
import { Browser } from "./browser.mjs";
import { ok, pane, text, title } from "./panes.mjs";

const [url, folder] = process.argv.slice(2);
const b = await Browser.start({ width: 1700, height: 950 });
const legend = `${pane(0)}.querySelector(".legend").innerText.replace(/\\s+/g, " ")`;
// The value that the keyboard's cursor comes to first is that of element 0.
const firstValue = async (name, words) => {
  await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 50`, `the picture of ${name}`);
  await b.quiet();
  await b.see(`${pane(0)}.querySelector("canvas.dots").closest("[tabindex]").focus()`);
  await b.key("ArrowRight");
  const good = await b.holds(`${legend}.includes(${JSON.stringify(words)})`);
  ok(name, good, [await b.see(title(0)), await b.see(legend)]);
};
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "the first pane");
  await b.goTo("grey");
  await firstValue("halves", "grey[");
  await b.goTo("src");
  await firstValue("bytes_after_halves", "src[");
  await b.goTo("grey");
  await firstValue("halves_after_bytes", "grey[");
  if (folder) await b.picture(`${folder}/shapes.png`);
  // A name that only another kernel has for the buffer.
  await b.goTo("1:5");
  await b.until(`${title(0)} === "thread 5"`, "a thread of the first kernel");
  await b.goTo("image[5]");
  ok(
    "name_of_another_kernel",
    await b.holds(`${text(0)}.includes("grey[5]")`),
    await b.see(text(0)),
  );
  ok("no_complaints", b.complaints().length === 0, b.complaints());
} catch (e) {
  ok("shapes", false, `${e.message} ${b.complaints()} ${await b.see(text(0)).catch(() => "")}`);
} finally {
  await b.stop();
}
