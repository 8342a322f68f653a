// What a screen reader and a keyboard find in each view: access.mjs URL
// Nothing is cut off or scrolls sideways at three sizes; every control has a name, values of roles
// and states are right, no two elements have one id, everything that can be clicked can be reached
// by Tab or has a key, and text stands out from what is behind it (WCAG AA: 4.5 to 1, large text 3
// to 1), light and dark.
import { Browser } from "./browser.mjs";
import { ok, pane } from "./panes.mjs";

const [url] = process.argv.slice(2),
  b = await Browser.start({ width: 1500, height: 900 });
const goTo = async (what) => {
  await b.key("Escape");
  await b.key("g");
  await b.until(`document.activeElement?.tagName === "INPUT"`, "the line to type in");
  await b.type(what);
  await b.key("Enter");
  await b.until(`document.activeElement?.tagName !== "INPUT"`, `go to ${what}`, 20);
};
const row = (word) =>
  `[...document.querySelectorAll(".op")].find(e => e.innerText.includes(${JSON.stringify(word)}))`;

const look = () => {
  const bad = [],
    shown = (e) => {
      const r = e.getBoundingClientRect(),
        s = getComputedStyle(e);
      return (
        r.width > 0 &&
        r.height > 0 &&
        s.visibility !== "hidden" &&
        s.display !== "none" &&
        !e.closest("[aria-hidden=true]")
      );
    };
  const what = (e) =>
    `${e.tagName.toLowerCase()}.${[...e.classList].join(
      ".",
    )} "${(e.innerText ?? e.value ?? "").slice(0, 30)}"`;
  const name = (e) =>
    (
      e.getAttribute("aria-label") ||
      e.innerText ||
      e.getAttribute("title") ||
      (e.labels && [...e.labels].map((l) => l.innerText).join(" ")) ||
      ""
    ).trim();
  for (const e of document.querySelectorAll(
    "button, a[href], input, select, textarea, [role=button], [role=group][tabindex], " +
      "[role=tab], [role=slider], [role=separator]",
  ))
    if (shown(e) && !name(e)) bad.push(`no name: ${what(e)}`);
  for (const e of document.querySelectorAll("[role=img], canvas, svg"))
    if (shown(e) && e.getAttribute("role") === "img" && !name(e))
      bad.push(`picture without a name: ${what(e)}`);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id),
    twice = ids.filter((x, i) => ids.indexOf(x) !== i);
  if (twice.length) bad.push(`one id twice: ${twice}`);
  for (const e of document.querySelectorAll(
    "[aria-selected], [aria-expanded], [aria-current], [aria-pressed], [aria-checked]",
  ))
    for (const a of [
      "aria-selected",
      "aria-expanded",
      "aria-current",
      "aria-pressed",
      "aria-checked",
    ]) {
      const v = e.getAttribute(a);
      if (v !== null && !/^(true|false|page|step|mixed)$/.test(v))
        bad.push(`${a}=${v}: ${what(e)}`);
    }
  for (const e of document.querySelectorAll("[tabindex]"))
    if (Number(e.getAttribute("tabindex")) > 0) bad.push(`an order of its own: ${what(e)}`);
  for (const e of document.querySelectorAll("section[data-pane]"))
    if (!name(e)) bad.push(`a pane without a name: ${what(e)}`);
  // Landmarks, and one heading of the page.
  if (document.querySelectorAll("main").length !== 1)
    bad.push(`${document.querySelectorAll("main").length} main`);
  if (document.querySelectorAll("h1").length !== 1) bad.push("one h1 is expected");
  if (!document.documentElement.lang) bad.push("no language");
  // Text and what is behind it.
  const rgb = (s) => {
    const m = /^rgba?\(([^)]*)\)|^color\(srgb ([^)]*)\)/.exec(s),
      v = (m?.[1] ?? m?.[2] ?? "0 0 0").split(/[ ,/]+/).map(Number);
    if (m?.[2]) for (let i = 0; i < 3; i++) v[i] *= 255;
    return [v[0], v[1], v[2], v[3] ?? 1];
  };
  const light = (c) => {
    const f = (x) => {
      x /= 255;
      return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]);
  };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const behind = (e) => {
    const stack = [];
    for (let x = e; x; x = x.parentElement) {
      const c = rgb(getComputedStyle(x).backgroundColor);
      if (c[3]) stack.push(c);
      if (c[3] === 1) break;
    }
    return stack.reverse().reduce((a, c) => over(c, a), [255, 255, 255, 1]);
  };
  const pale = new Map();
  for (const e of document.querySelectorAll("body *")) {
    if (
      ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) ||
      !shown(e) ||
      e.disabled ||
      e.closest("[disabled], svg")
    )
      continue;
    const s = getComputedStyle(e),
      back = behind(e);
    let alpha = 1;
    for (let x = e; x; x = x.parentElement) alpha *= Number(getComputedStyle(x).opacity);
    if (alpha < 0.05) continue;
    const c = rgb(s.color),
      front = over([c[0], c[1], c[2], c[3] * alpha], back),
      a = light(front),
      z = light(back),
      ratio = (Math.max(a, z) + 0.05) / (Math.min(a, z) + 0.05),
      size = parseFloat(s.fontSize),
      large = size >= 24 || (size >= 18.66 && Number(s.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5) - 0.05)
      pale.set(`${e.className || e.tagName}`, `${ratio.toFixed(2)}: ${what(e)}`);
  }
  for (const p of pale.values()) bad.push(`pale, ${p}`);
  return bad;
};
// Texts that end without a sign that there is more, boxes that scroll sideways: in windows of three
// sizes.
const cut = () => {
  const out = new Set(),
    ends = (e) => getComputedStyle(e).textOverflow === "ellipsis",
    scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
  for (const e of document.querySelectorAll("body *")) {
    if (
      e.scrollWidth <= e.clientWidth + 1 ||
      !e.clientWidth ||
      e.matches(".panes, .trail") ||
      getComputedStyle(e).overflowX === "visible" ||
      ends(e)
    )
      continue;
    if (scrolls(e)) out.add(`sideways: ${e.className}`);
    else if (![...e.querySelectorAll("*")].some((c) => ends(c) || scrolls(c)))
      out.add(`cut: ${e.className || e.tagName} "${(e.innerText ?? "").slice(0, 50)}"`);
  }
  if (document.documentElement.scrollWidth > innerWidth)
    out.add("the page is wider than the window");
  return [...out];
};
// What Tab comes to, once around; each has a mark that says where one is.
async function tabbed() {
  const seen = [],
    tab = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 };
  for (let i = 0; i < 200; i++) {
    for (const type of ["keyDown", "keyUp"])
      await b.call("Input.dispatchKeyEvent", { type, ...tab });
    const at = await b.see(`(() => { const e = document.activeElement; if (!e ||
        e === document.body) return "body"; if (e.dataset.tabbed) return ""; e.dataset.tabbed = 1;
        const s = getComputedStyle(e), name = (e.getAttribute("aria-label") || e.innerText ||
        e.labels?.[0]?.innerText || e.tagName).slice(0, 40), marked = (s.outlineStyle !== "none" &&
        parseFloat(s.outlineWidth) > 0) || s.boxShadow !== "none" || (e.className === "sizer" &&
        s.backgroundColor !== "rgba(0, 0, 0, 0)");
      return marked ? name : name + " NOT SEEN"; })()`);
    if (!at) break;
    seen.push(at);
  }
  return {
    seen,
    missed: await b.see(
      `[...document.querySelectorAll("button, a[href], input, select, [role=group][tabindex]")]
        .filter(e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 &&
        !e.disabled && e.tabIndex >= 0 && !e.dataset.tabbed && !e.closest(".list");
        }).map(e => (e.getAttribute("aria-label") || e.innerText || e.tagName).slice(0, 40))`,
    ),
  };
}
const views = {
  thread: () => goTo("3:1"),
  element: () => goTo("heights[7]"),
  buffer: () => goTo("heights"),
  launch: () => goTo("3"),
  flow: () => b.key("F"),
  phase: async () => {
    await goTo("3:1");
    await b.until(row("part[1]"));
    await goTo("part");
  },
  memory: async () => {
    await goTo("3:1");
    await b.until(row("part[1]"));
    await goTo("part[1]");
  },
  source: async () => {
    await goTo("3:1");
    await b.until(`document.querySelector(".op")`);
    await b.key("s");
    await b.until(`document.querySelector(".pane.source .codeline")`);
    await b.key("x");
  },
  "came from": async () => {
    await goTo("4:7");
    await b.until(row("counts[7]"));
    await b.key("End");
    await b.key("ArrowDown");
    await b.key("o");
    await b.until(`document.querySelector(".pane.slice")`);
  },
  calculator: async () => {
    await goTo("heights[7]");
    await b.key("c");
    await b.until(`document.activeElement?.classList.contains("expression")`);
    await b.type("1 + 1");
  },
  versus: async () => {
    await goTo("4:7");
    await b.until(`document.querySelector(".op")`);
    await b.key("v");
    await b.until(`document.querySelector(".pane.versus")`);
  },
  keys: async () => {
    await b.key("Escape");
    await b.key("?");
    await b.until(`document.querySelector(".keysheet")`);
  },
};
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".op")`, "the first thread");
  for (const [name, go] of Object.entries(views)) {
    try {
      await b.key("Escape");
      await go();
      await b.quiet();
      for (const scheme of ["light", "dark"]) {
        await b.colours(scheme);
        await b.quiet();
        const bad = await b.see(`(${look})()`);
        ok(`${name.replace(" ", "_")}_${scheme}`, !bad.length, bad.slice(0, 12));
      }
      await b.colours("light");
      const bad = [];
      for (const [w, h] of [
        [1280, 720],
        [2560, 1400],
        [1500, 900],
      ]) {
        await b.size(w, h);
        await b.quiet();
        for (const x of await b.see(`(${cut})()`)) bad.push(`${w}: ${x}`);
      }
      ok(`${name.replace(" ", "_")}_not_cut`, !bad.length, bad.slice(0, 8));
    } catch (e) {
      ok(name.replace(" ", "_"), false, e.message);
    }
  }
  await b.key("Escape");
  for (const [name, go] of [
    ["thread", () => goTo("3:1")],
    ["buffer", () => goTo("heights")],
    ["launch", () => goTo("3")],
  ]) {
    await b.see(
      `document.querySelectorAll("[data-tabbed]").forEach(e => e.removeAttribute("data-tabbed"))`,
    );
    await go();
    await b.quiet();
    const { seen, missed } = await tabbed();
    ok(
      `${name}_by_tab`,
      !missed.length && seen.length > 12 && !seen.some((s) => s.endsWith("NOT SEEN")),
      { missed, dark: seen.filter((s) => s.endsWith("NOT SEEN")) },
    );
  }
} catch (e) {
  ok("access", false, `${e.message} ${b.complaints()}`);
} finally {
  await b.stop();
}
