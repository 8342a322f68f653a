// Sheets of screenshots: each view, light and dark, in windows of three sizes: views.mjs URL
// one|two|interrupts|profiled FOLDER SHOTS=FOLDER keeps every window in its full size, too, for
// people to look at.
import { writeFileSync } from "node:fs";
import { Browser } from "./browser.mjs";

const [url, which, folder] = process.argv.slice(2);
const b = await Browser.start({ width: 1680, height: 940 });
const sizes = [
    [1280, 720],
    [1680, 940],
    [2560, 1400],
  ],
  pane = (n) => `document.querySelector('section[data-pane="${n}"]')`;
const goTo = (what) => b.goTo(what);
const row = (word) =>
  `[...document.querySelectorAll(".op")].find(e => e.innerText.includes(${JSON.stringify(word)}))`;
const drawn = (n) =>
  b.until(`${pane(n)}?.querySelector("canvas.dots, .twins canvas")?.width > 40`, "a picture");
const one = {
  thread: async () => {
    await b.until(`document.querySelector(".op")`);
  },
  flow: () => b.key("F"),
  launch: () => goTo("6"),
  buffer: async () => {
    await goTo("u");
    await drawn(0);
  },
  element: () => goTo("n[5]"),
  memory: async () => {
    await goTo("6:3");
    await b.click(`${row("s[131]")}.querySelector(".element")`);
  },
  phase: async () => {
    await goTo("s");
    await drawn(0);
  },
  source: async () => {
    await goTo("6:3");
    await b.until(`document.querySelector(".op")`);
    await b.key("s");
    await b.until(`document.querySelector(".pane.source .codeline")`);
    await b.key("x");
  },
  watch: async () => {
    await b.click(
      `[...document.querySelectorAll(".tabs button")].find(e => e.innerText.startsWith("Watches"))`,
    );
    await b.click(`document.querySelector(".bufferrow")`);
    await drawn(0);
  },
  step: async () => {
    await goTo("a[3]");
    await b.click(row("copy"));
  },
  calculator: async () => {
    await goTo("p[3].vel.z");
    await b.key("c");
    await b.until(`document.activeElement?.classList.contains("expression")`);
    await b.type("p[3].vel.z * 2");
  },
};
const two = {
  runs: () => b.until(`document.querySelector(".pane.runs tr.first")`),
  compare: async () => {
    await b.click(`document.querySelector(".link.twin")`);
    await drawn(1);
  },
  threads: async () => {
    await goTo("2:700");
    await b.until(`document.querySelector(".op")`);
    await b.key("v");
    await b.until(`document.querySelector(".op.versusrow")`);
  },
  "came-from": async () => {
    await goTo("3:5");
    await b.until(row("store"));
    await b.click(row("store"));
    await b.until(pane(1));
    await b.key("ArrowLeft");
    await b.key("o");
    await b.until(`document.querySelector(".slicetree li li")`);
    await b.click(`document.querySelector('button[aria-label^="Open one level"]')`);
  },
};
const interrupts = {
  interrupt: async () => {
    await goTo("out[2]");
    await b.until(row("store"));
    await b.click(row("store"));
    await b.until(row("result of the call"));
    await b.click(
      `[...document.querySelectorAll(".go")].find(e => e.innerText.includes("interrupt lookup"))`,
    );
    await b.until(`document.querySelector(".callers tr")`);
  },
};
const profiled = {
  profile: async () => {
    await b.until(`document.querySelector(".profilebody .advice li")`);
    await b.click(
      `[...document.querySelectorAll(".advice li")].find(e => e.innerText.includes("bank-conflict"))
        .querySelector("button")`,
    );
    await b.until(`document.querySelector(".access rect")`);
  },
};
async function shots(name) {
  const out = [];
  for (const scheme of ["light", "dark"])
    for (const [w, h] of sizes) {
      await b.size(w, h);
      await b.colours(scheme);
      await b.quiet();
      const { data } = await b.call("Page.captureScreenshot", {
        format: "png",
        clip: { x: 0, y: 0, width: w, height: h, scale: 620 / w },
      });
      out.push([w, h, scheme, data]);
      if (process.env.SHOTS)
        writeFileSync(
          `${process.env.SHOTS}/${name}-${scheme}-${w}.png`,
          Buffer.from((await b.call("Page.captureScreenshot", { format: "png" })).data, "base64"),
        );
    }
  return out;
}
try {
  for (const [name, go] of Object.entries({ one, two, interrupts, profiled }[which])) {
    await b.size(1680, 940);
    await b.open(url);
    await b.until(`document.querySelector(".pane")`, "the first pane");
    await go();
    const all = await shots(name);
    await b.call("Page.navigate", { url: "about:blank" });
    await b.size(1884, 760);
    await b.colours("light");
    const figures = all.map(
      ([w, h, s, d]) =>
        `<figure style="margin:0"><figcaption>${w} × ${h}, ${s}</figcaption>` +
        `<img src="data:image/png;base64,${d}"></figure>`,
    );
    await b.see(
      `document.body.style.cssText = "margin: 4px; display: grid; gap: 6px; background: #fff; " +
        "grid-template-columns: repeat(3, 620px); font: 11px sans-serif";
      document.body.innerHTML = ${JSON.stringify(figures.join(""))};
      Promise.all([...document.images].map(i => i.decode()))`,
    );
    await b.picture(`${folder}/${name}.png`);
    console.log(name);
  }
} finally {
  await b.stop();
}
