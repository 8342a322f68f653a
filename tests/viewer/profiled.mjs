// The page of a profile: profiled.mjs URL PICTURE
import { Browser } from "./browser.mjs";
import { ok } from "./panes.mjs";

const [url, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1500, height: 1400 });
const body = `document.querySelector(".profilebody")`;
let step = "start";
try {
  await b.colours("light");
  await b.open(url);
  step = "advice";
  await b.until(`${body}?.querySelectorAll(".advice li").length >= 4`, "advice");
  const advice = await b.see(`${body}.querySelector(".advice").innerText`);
  ok(
    "advice",
    ["uncoalesced", "bank-conflict", "misaligned", "pageable-copy"].every((r) =>
      advice.includes(r),
    ),
    advice,
  );

  step = "line";
  await b.click(
    `[...${body}.querySelectorAll(".advice li")].find(e => e.innerText.includes("bank-conflict"))
      .querySelector("button")`,
  );
  await b.until(
    `${body}.querySelector(".heatlines .row.here")?.innerText.includes("tile[threadIdx.x]")`,
    "the line with the conflict",
  );
  await b.until(
    `${body}.querySelectorAll(".access rect.bad").length > 20`,
    "a picture of the banks",
  );
  ok("banks", true);
  const heat = await b.see(
    `[...${body}.querySelectorAll(".heathead .heat")].map(e => e.innerText)`,
  );
  ok(
    "heat_columns",
    ["requests", "sectors", "excess", "wavefronts"].every((m) => heat.includes(m)),
    heat,
  );

  step = "ptx";
  await b.click(
    `[...${body}.querySelectorAll(".heathead button")].find(e => e.innerText === "PTX")`,
  );
  await b.until(
    `[...${body}.querySelectorAll(".ptx .row.here")].some(e => e.innerText.includes("ld.shared"))`,
    "the PTX of the line",
  );
  ok("ptx_beside", true);

  step = "plots";
  const seen = await b.see(
    `({ roof: !!${body}.querySelector(".roof"),
      kernels: ${body}.querySelectorAll(".plot .kernel").length,
      curves: ${body}.querySelectorAll(".curve").length,
      calls: ${body}.querySelectorAll(".timeline .call").length })`,
  );
  ok("plots", seen.roof && seen.kernels >= 2 && seen.curves === 3 && seen.calls >= 30, seen);
  const ranges = await b.see(
    `[...${body}.querySelectorAll(".timeline .call.range title")].map(e => e.textContent)`,
  );
  ok(
    "ranges",
    ranges.filter((t) => t === "turn").length === 5 &&
      ranges.filter((t) => t === "input").length === 5,
    ranges,
  );
  const width = () =>
      b.see(`${body}.querySelector(".timeline .call").getBoundingClientRect().width`),
    before = await width();
  await b.see(
    `${body}.querySelector(".timeline svg").dispatchEvent(new KeyboardEvent("keydown", { key: "+",
      bubbles: true }))`,
  );
  await b.until(
    `${body}.querySelector(".timeline .call").getBoundingClientRect().width !== ${before}`,
    "a closer look at the time",
  );
  ok("timeline_zooms", true);
  await b.picture(picture);
} catch (e) {
  console.log(`FAIL ${step}: ${e.message}`);
  await b.picture(picture).catch(() => {});
}
await b.stop();
