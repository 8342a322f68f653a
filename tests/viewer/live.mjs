// wg_watch in a browser while the program runs. live.mjs URL FOLDER PICTURE: files in FOLDER let
// the program go on.
import { writeFileSync } from "node:fs";
import { Browser } from "./browser.mjs";

const [url, folder, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1400, height: 900 });
let step = "start",
  failed = false;
const ok = (name, good, seen) => {
  failed ||= !good;
  console.log(good ? `ok ${name}` : `FAIL ${name}: ${JSON.stringify(seen)}`);
};
const text = `(document.querySelector("section")?.innerText ?? "").replace(/\\s+/g, " ")`;
// how many dots of the canvas have a colour, and whether one is that of NaN
const dots = `(() => { const c = document.querySelector("canvas.dots"); if (!c?.width) return "";
  const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  let n = 0, nan = 0, sum = 0;
  for (let i = 0; i < d.length; i += 4) { if (d[i + 3]) n++; if (d[i] === 255 && d[i + 1] === 0 &&
    d[i + 2] === 170) nan++; sum = (sum * 31 + d[i] + 7 * d[i + 1]) % 1000003;
    } return [n > 10000, nan > 0, sum].join(); })()`;
try {
  await b.open(url);
  step = "the first launch";
  await b.until(
    `${text}.includes("launch #1, the newest") && ${text}.includes("live")`,
    "the picture of launch 1",
  );
  await b.until(`${dots}.startsWith("true,true")`, "dots, and one that is not a number");
  await b.until(`${text}.includes("height * height")`, "the expression");
  ok("first", true);
  const before = await b.see(dots);
  step = "the second launch";
  writeFileSync(`${folder}/1`, "");
  await b.until(`${text}.includes("launch #2, the newest")`, "the picture of launch 2");
  await b.until(
    `${dots}.startsWith("true,true") && ${dots} !== ${JSON.stringify(before)}`,
    "another picture",
  );
  ok("second", true);
  if (picture) await b.picture(picture);
  step = "the end";
  writeFileSync(`${folder}/2`, "");
  await b.until(
    `${text}.includes("launch #3, the newest") && !${text}.includes("live")`,
    "the program has ended",
  );
  ok("third", true);
  ok(
    "flow",
    await b.holds(`document.querySelector(".facts").innerText.includes("3 launches")`),
    await b.see(`document.querySelector(".facts").innerText`),
  );
  step = "an older launch";
  await b.choose(`document.querySelector("section input[type=range]")`, 0);
  await b.until(
    `${text}.includes("launch #1") && !${text}.includes("the newest")`,
    "launch 1 again",
  );
  await b.until(`${dots} === ${JSON.stringify(before)}`, "its picture again");
  ok("older", true);
} catch (e) {
  ok(step.replace(/ /g, "_"), false, `${e.message}; ${await b.see(text).catch(() => "")}`);
} finally {
  await b.stop();
}
process.exit(failed ? 1 : 0);
