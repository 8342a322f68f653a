// The run of names.cu in a browser: names.mjs URL PICTURE
import { Browser } from "./browser.mjs";
import { ok, pane, row, text, title } from "./panes.mjs";

const [url, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1700, height: 950 });
const type = async (what) => {
  await b.key("g");
  await b.until(`document.activeElement?.tagName === "INPUT"`, "the line to type in");
  await b.see("document.activeElement.select()");
  await b.type(what);
};
const goTo = async (what) => {
  await type(what);
  await b.key("Enter");
  await b.until(`document.activeElement?.tagName !== "INPUT"`, `go to ${what}`, 20);
};
const holds = async (name, expression, seen = text(0)) =>
  ok(name, await b.holds(expression), await b.see(seen).catch((e) => e.message));
async function part(name, f) {
  try {
    await f();
  } catch (e) {
    ok(name, false, `${e.message} ${await b.see(text(0)).catch(() => "")}`.slice(0, 900));
  }
  await b.key("Escape");
}
const calculate = async (what) => {
  await b.key("c");
  await b.until(`document.activeElement?.classList.contains("expression")`, "the calculator");
  await b.see("document.activeElement.select()");
  await b.type(what);
};
const find = async (what, condition) => {
  const input = `document.querySelector('.findvalue input[aria-label^="${what}"]')`;
  await b.see(`${input}.focus()`);
  await b.choose(input, condition);
  await b.key("Enter");
  await b.quiet();
  await b.see("document.activeElement?.blur()");
};
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".op")`, "the first thread");

  await part("finding", async () => {
    // Many operations of the thread touch part[4]; the finding is about one of them, and says whom
    // it races with.
    await holds(
      "finding_row",
      `${pane(0)}.querySelector(".op.selected")?.innerText.replace(/\\s+/g,
        " ").includes("32 store part[4]") && ${pane(0)}.querySelectorAll(".op.bad").length === 1`,
      `[...document.querySelectorAll(".op.bad, .op.selected")].map(e => e.innerText)`,
    );
    await holds("partner_in_warp", `${row(0, "32 store part[4]", "⚡ thread 0")}`);
    await b.click(
      `[...${pane(0)}.querySelectorAll(".occurrences .peer")].find(e => e.innerText === "5")`,
    );
    await holds(
      "occurrence_here",
      `[...(${pane(1)}?.querySelectorAll(".occurrences .peer.here") ?? [])].map(e => e.innerText)
        .join() === "5" && ${pane(1)}.querySelectorAll(".op.bad").length >= 1`,
      text(1),
    );
  });
  await part("elements", async () => {
    await goTo("bodies[4]");
    await holds(
      "struct_with_room",
      `${text(0)}.includes("4, 6, -1,") && !${text(0)}.includes("never written")`,
    );
    await goTo("rows[3]");
    await holds("counted", `/\\b224 operations/.test(${text(0)})`);
    await holds(
      "host_wrote_value",
      `${row(0, "load", "&row[i#4][0]")} && !${text(0)}.includes("never written")`,
    );
    await goTo("2:7");
    await holds("host_wrote_it", `${row(0, "load", "rows[0]", "the host, directly")}`);
    await b.click(`${row(0, "load", "rows[0]")}?.querySelector(".value .link")`);
    await holds("pointer_leads_on", `${title(1)} === "float row[i][0]"`, title(1));
  });
  await part("writes", async () => {
    await goTo("bodies[7].mass");
    await b.until(`${pane(0)}?.querySelector(".op.selected")`, "the last write");
    const last = await b.see(`${pane(0)}.querySelector(".op.selected").dataset.index`);
    await b.key("{");
    await holds(
      "write_before",
      `Number(${pane(0)}.querySelector(".op.selected").dataset.index) < ${last} &&
        ${pane(0)}.querySelector(".op.selected").classList.contains("write")`,
    );
    await b.key("}");
    await holds(
      "next_write",
      `${pane(0)}.querySelector(".op.selected").dataset.index === ${JSON.stringify(last)}`,
    );
  });
  await part("names", async () => {
    await goTo("rows[3][5]");
    await holds("through_pointers", `${title(0)} === "float row[i#4][5]"`, title(0));
    await goTo("3:1");
    await b.until(row(0, "part[1]"), "thread 1");
    await goTo("in[7]");
    await holds("parameter", `${title(0)} === "float heights[7]"`, title(0));
    await goTo("4:7");
    await b.until(row(0, "counts[7]"), "thread 7");
    await goTo("s.bodies.data[7].mass");
    await holds("struct_parameter", `${title(0)} === "double bodies[7].mass"`, title(0));
    await type("hei");
    await holds(
      "suggestions",
      `[...document.querySelectorAll("#names option")].map(e => e.value).join() === "heights"`,
      `[...document.querySelectorAll("#names option")].map(e => e.value)`,
    );
    await type("in[700000]");
    await b.key("Enter");
    await holds(
      "outside_said",
      `document.querySelector(".search input").validationMessage
        .startsWith("nothing of that name")`,
      `document.querySelector(".search input").validationMessage`,
    );
    await b.key("Escape");
  });
  await part("dynamic", async () => {
    await goTo("3:1");
    await b.until(row(0, "part[1]"), "thread 1");
    await goTo("part");
    await holds(
      "dynamic_shared",
      `${pane(0)}.classList.contains("phase") &&
        ${pane(0)}.querySelector("canvas.dots")?.height > 80 &&
        ${text(0)}.includes("before barrier 1 of 3")`,
    );
  });
  await part("expressions", async () => {
    await goTo("4:7");
    await b.until(row(0, "counts[7]"), "thread 7");
    await calculate("rows[3][5] * 2 > 5 && counts[7] % 2 == 0 ? 7 : 8");
    await holds(
      "calculator_condition",
      `/int 8\\b/.test(${text(1)}) && ${text(1)}.includes("rows[3][5] = 15")`,
      text(1),
    );
    await calculate("s.end - s.begin");
    await holds("calculator_parameter", `/int 3\\b/.test(${text(1)})`, text(1));
    await calculate("0 && 1 / 0");
    await holds("not_evaluated", `/int 0\\b/.test(${text(1)})`, text(1));
    await b.key("Escape");
    await goTo("counts");
    await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 40`, "counts");
    // counts[4] is 25, and 25 / 2 is 12 for integers only
    await find("first step where", "x / 2 == 12 && (x & 1)");
    await holds(
      "condition_integers",
      `/step \\d of \\d/.test(${text(0)}) &&
        ${pane(0)}.querySelector(".legend").innerText.includes("counts[4] 25")`,
    );
    await goTo("heights");
    await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 40`, "heights");
    await find("first step where", "__float_as_int(x) == __float_as_int(in[50])");
    await holds(
      "condition_functions",
      `${pane(0)}.querySelector(".legend").innerText.includes("heights[50]")`,
      text(0),
    );
    await find("first step where", "nothing(x) > 1");
    await holds(
      "condition_unknown",
      `/nothing/.test(${pane(0)}.querySelector(".findvalue").innerText)`,
      text(0),
    );
    await goTo("row[i#4]");
    await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 40`, "a row");
  });
  if (picture) await b.picture(picture);
  ok("no_complaints", !b.complaints().length, b.complaints());
} catch (e) {
  ok("names", false, `${e.message} ${b.complaints()}`);
} finally {
  await b.stop();
}
