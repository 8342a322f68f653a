// The run of truth.cu in a browser: truth.mjs URL PICTURE
import { Browser } from "./browser.mjs";
import { ok, pane, row, text, title } from "./panes.mjs";

const [url, picture] = process.argv.slice(2);
const b = await Browser.start({ width: 1700, height: 950 });
const goTo = (what) => b.goTo(what);
const foot = `document.querySelector(".pane.flow .flowfoot").innerText`;
const holds = async (name, expression, seen = text(0)) =>
  ok(name, await b.holds(expression), await b.see(seen).catch((e) => e.message));
async function part(name, f) {
  try {
    await f();
  } catch (e) {
    ok(name, false, `${e.message} ${await b.see(text(0)).catch(() => "")}`.slice(0, 900));
  }
}
try {
  await b.colours("light");
  await b.open(url);
  await b.until(`document.querySelector(".pane")`, "the first pane");

  await part("flow", async () => {
    await b.key("F");
    await b.until(`${pane(0)}?.classList.contains("flow")`, "the page of flow");
    // 1: every buffer that was touched, however its pointer was passed. 2: and all of them.
    await holds("flow_all_buffers", `${title(0)}.includes("54 buffers")`, title(0));
    // Names of buffers do not lie over each other in the small chart, nor are titles cut.
    await b.size(1280, 720);
    const apart = `document.querySelector(".rail .flowbox canvas")?.dataset.apart`;
    await holds("chart_names_apart", `Number(${apart}) >= 15`, apart);
    const cut = `[...document.querySelectorAll(".finding .headline")].filter(e =>
      e.scrollHeight > e.clientHeight + 1).map(e => e.innerText).join()`;
    await holds("headlines_whole", `document.querySelector(".headline") && ${cut} === ""`, cut);
    await b.size(1680, 940);
    await b.see(`document.querySelector(".flowbox.big").focus()`);
    await b.key("Home");
    for (let i = 0; i < 200 && !(await b.see(foot)).startsWith("through_struct"); i++)
      await b.key("ArrowRight");
    const uses = async (kernel) =>
      b.see(
        `(async () => { const f = await (await fetch("api/flow")).json(),
          x = f.steps.find(s => s[2] === "launch" &&
          f.kernels[s[4]].startsWith(${JSON.stringify(kernel)})),
          l = await (await fetch("api/buffers?most=5000")).json();
          return x[12].map(u => [l.buffers.find(y => y.id === u[0]).name,
          u[1]].join(" ")).sort().join(); })()`,
      );
    ok("flow_struct", (await uses("through_struct")) === "data 2", await uses("through_struct"));
    const all = (await uses("through_pointers")).split(",");
    ok(
      "flow_pointers",
      all.length === 41 &&
        all.filter((x) => x === "parts[i] 3").length === 40 &&
        all.includes("list 1"),
      all,
    );
    ok(
      "flow_variable",
      (await uses("through_variable")) === "counter 3,table 2",
      await uses("through_variable"),
    );
    ok("flow_given", (await uses("skipped")) === "c 0", await uses("skipped"));
    await b.key("End");
    await holds(
      "unrecorded_said",
      `${foot}.includes("skipped") && ${foot}.includes("not recorded")`,
      foot,
    );
    await b.key("p");
    await holds("flow_findings", `${foot}.includes("beyond") && ${foot}.includes("finding")`, foot);
    await b.key("p");
    await holds("flow_races", `${foot}.includes("race #") && ${foot}.includes("races")`, foot);
    // by the clock: the launch with 40,000 operations in a row takes most of the time
    await b.click(
      `[...${pane(0)}.querySelectorAll(".controls label")].find(e => e.innerText
        .includes("by the clock")).querySelector("input")`,
    );
    await b.quiet();
    const lane = await b.see(
      `(() => { const r = document.querySelector(".flowbox.big").getBoundingClientRect();
        return { x: r.left + 190 + (r.width - 190) * .8, y: r.top + 24 + 13 }; })()`,
    );
    await b.call("Input.dispatchMouseEvent", { type: "mouseMoved", ...lane });
    await holds("flow_by_clock", `${foot}.startsWith("much #19: 1 × 1 threads, ")`, foot);
  });

  await part("types", async () => {
    // 3: fields by name and type.
    await goTo("p[3].vel.z");
    await b.until(row(0, "store", "1.5"), "p[3].vel.z");
    await holds("field", `${title(0)}.includes("float p[3].vel.z")`, title(0));
    // beside it the same field, which was written, not the whole struct, which was not
    await holds(
      "field_neighbours",
      `[...${pane(0)}.querySelectorAll(".cell")].map(e => e.innerText.replace(/\\s+/g,
        " ")).join() === "p[1].vel.z 0.5,p[2].vel.z 1,p[3].vel.z 1.5,p[4].vel.z 2,p[5].vel.z 2.5"`,
      `${pane(0)}.querySelector(".neighbours").innerText`,
    );
    await holds(
      "one_operation",
      `/\\b1 operation$/.test(${pane(0)}.querySelector(".sub .right").innerText)`,
      text(0),
    );
    await goTo("4:3");
    await b.until(row(0, "store", "p[3].alive", "true"), "p[3].alive");
    await b.until(row(0, "store", "p[3].mass", "1.5"), "p[3].mass");
    ok("fields_of_thread", true);
    await goTo("5:3");
    await b.until(`${row(0, "load", "p[3]")}`, "a load of a whole struct");
    ok("no_tiny_floats", !/e-4\d/.test(await b.see(text(0))), await b.see(text(0)));
    await goTo("1");
    await b.until(`${text(0)}.includes("scale")`, "parameters");
    await holds(
      "parameter_nan",
      `[...${pane(0)}.querySelectorAll("tr")].some(e => e.innerText.includes("scale") &&
        e.innerText.includes("NaN"))`,
    );
    await holds(
      "parameter_struct",
      `[...${pane(0)}.querySelectorAll("tr")].some(e => e.innerText.includes(".data") &&
        e.innerText.includes("&data[0]") && e.innerText.includes(".n") &&
        e.innerText.includes("1024"))`,
    );
    await goTo("list[3]");
    await holds(
      "pointer_value",
      `${pane(0)}?.querySelector(".cell.here")?.innerText.includes("&parts[i#4][0]")`,
      text(0),
    );
    await goTo("table[5]");
    await holds("variable_type", `${title(0)}.startsWith("float")`, title(0));
  });

  await part("shared", async () => {
    // 4: shared and local memory by name and index; a click, the search, the partner of a race.
    await goTo("6:3");
    await b.until(
      `${row(0, "store", "s[3]")} && ${row(0, "store", "tile[0][3]")}`,
      "s[3] and tile[0][3]",
    );
    await b.click(`${row(0, "load", "s[131]")}.querySelector(".element")`);
    await b.until(
      `${title(1)}.includes("s[131]") && ${row(1, "store", "thread 131")} &&
        ${row(1, "load", "thread 3")}`,
      "s[131]",
    );
    ok("shared_element", true);
    await b.click(`${pane(1)}.querySelector('button[aria-label^="The buffer as a picture"]')`);
    await b.until(
      `${title(2)}.includes("s[256]") && ${pane(2)}.querySelector("canvas.dots")?.width > 50`,
      "s as a picture",
    );
    await b.until(
      `${pane(2)}.querySelector('input[aria-label="before which barrier"]').max === "9"`,
      "nine barriers",
    );
    await b.see(
      `(() => { const i = ${pane(2)}.querySelector('input[aria-label="before which barrier"]');
        i.value = i.max; i.dispatchEvent(new Event("input", { bubbles: true })); })()`,
    );
    await b.quiet();
    await b.see(`${pane(2)}.querySelector(".canvas").focus()`);
    await b.key("ArrowRight");
    await holds(
      "shared_picture",
      `${pane(2)}.querySelector(".legend").innerText.includes("s[0] 256")`,
      text(2),
    );
    await goTo("s[7]");
    await b.until(
      `${title(0)}.includes("s[7]") && ${row(0, "store", "thread 7")}`,
      "s[7] by the search",
    );
    ok("shared_by_search", true);
    await goTo("7:0");
    await b.until(row(0, "store", "last[0]"), "last[0]");
    await holds("shared_race_partner", `${pane(0)}.querySelector(".go.race")`);
    await goTo("8:2");
    await b.until(row(0, "store", "a["), "a local array by name");
    await b.click(`${row(0, "store", "a[")}.querySelector(".element")`);
    await b.until(
      `${title(1)}.startsWith("int a[") && ${text(1)}.includes("local memory")`,
      "local memory",
    );
    ok("local_array", true);
  });

  await part("sources", async () => {
    // 5: the text of the recording, whatever the file is now.
    await goTo("6:3");
    await b.click(`${row(0, "store", "s[3]")}.querySelector(".lineno")`);
    await holds(
      "kept_source",
      `${pane(1)}?.querySelector(".codeline.selected")?.innerText
        .includes("s[t] = in[blockIdx.x * 256 + t];")`,
      text(1),
    );
    ok("kept_not_changed", !(await b.see(text(1))).includes("a line that was not there"), "");
  });

  await part("watch", async () => {
    // 6: a launch of two dimensions, as it is.
    await b.click(
      `[...document.querySelectorAll(".tabs button")].find(e => e.innerText.startsWith("Watches"))`,
    );
    await b.until(
      `document.querySelector(".bufferrow")?.innerText.includes("v * 2")`,
      "the expression",
    );
    await b.click(`document.querySelector(".bufferrow")`);
    await b.until(
      `${pane(0)}?.classList.contains("watch") &&
        ${pane(0)}.querySelector("canvas.dots")?.width > 100`,
      "the picture of wg_watch",
    );
    await b.quiet();
    await holds(
      "watch_width",
      `${pane(0)}.querySelector('.controls input[type="number"]').value === "32"`,
      text(0),
    );
    await b.see(`${pane(0)}.querySelector(".canvas").focus()`);
    for (const k of ["ArrowDown", "ArrowDown", "ArrowRight"]) await b.key(k);
    await holds(
      "watch_place",
      `${pane(0)}.querySelector(".legend").innerText.includes("202") &&
        ${pane(0)}.querySelector(".legend").innerText.includes("thread (1,1,0)")`,
      `${pane(0)}.querySelector(".legend").innerText`,
    );
    await b.key("Enter");
    await b.until(row(1, "value", "v * 2", "202"), "the value, with its expression");
    const line = await b.see(`${row(1, "value", "v * 2")}.querySelector(".lineno").innerText`);
    ok(
      "watch_line",
      await b.see(`${row(1, "value", "v * 2")}.innerText.includes("wg_watch(v * 2)")`),
      line,
    );
  });

  await part("calculator", async () => {
    // 7: letters go into the expression; INT_MIN; recorded values, casts, halves.
    const calc = async (expression, ...words) => {
      await b.see(
        `(() => { const i = document.querySelector(".expression"); i.focus(); i.select(); })()`,
      );
      await b.type(expression);
      return b.holds(
        words
          .map((w) => `document.querySelector(".result")?.innerText.includes(${JSON.stringify(w)})`)
          .join(" && "),
        20,
      );
    };
    await b.key("c");
    await b.until(
      `document.activeElement?.classList.contains("expression")`,
      "the calculator has the keyboard",
    );
    for (const k of "fmaf") await b.key(k);
    await b.type("(1, 2, 3)");
    await b.until(
      `document.querySelector(".result .big")?.innerText.includes("5")`,
      "fmaf(1,2,3), typed",
    );
    ok("calculator_keyboard", true);
    const result = `document.querySelector(".pane.calculator").innerText`;
    ok(
      "calculator_overflow",
      await calc("-2147483648 - 1", "int", "2147483647", "overflow"),
      await b.see(result),
    );
    ok(
      "calculator_recorded",
      await calc("p[3].vel.z * 2", "float", "3", "p[3].vel.z = 1.5"),
      await b.see(result),
    );
    ok(
      "calculator_cast",
      await calc("(unsigned char)300 + (short)70000", "int", "4508"),
      await b.see(result),
    );
    ok(
      "calculator_half",
      await calc("__half2float(__float2half(0.1f))", "float", "0.0999"),
      await b.see(result),
    );
  });

  await part("occurrences", async () => {
    // 8: all of them; races known without asking.
    await b.click(
      `[...document.querySelectorAll(".tabs button")].find(e => e.innerText
        .startsWith("Findings"))`,
    );
    await b.click(
      `[...document.querySelectorAll(".finding")].find(e => e.innerText.includes("Read outside"))`,
    );
    await b.until(
      `${pane(0)}?.querySelectorAll(".occurrences .peer").length === 12`,
      "12 threads read outside",
    );
    await b.click(`[...${pane(0)}.querySelectorAll(".occurrences .peer")].at(-1)`);
    await holds("occurrence", `${title(1)} === "thread 19"`, title(1));
    await goTo("7");
    await holds(
      "races_without_asking",
      `${text(0)}.includes("race-shared") && ${text(0)}.includes("last[")`,
    );
  });

  await part("time", async () => {
    // 9: a click in a picture opens the element as it was then, with its row chosen.
    await goTo("n");
    await b.until(`${pane(0)}?.querySelector("canvas.dots")?.width > 50`);
    await b.choose(`document.querySelector('input[aria-label="after which step"]')`, 4);
    await b.until(`${text(0)}.includes("after launch #13")`, "after the fourth of nine");
    await b.quiet();
    await b.clickAt(await b.dot(5));
    await b.until(`${title(1)}.includes("n[5]")`, "n[5]");
    await holds(
      "element_at_step",
      `${pane(1)}.querySelector(".op.selected")?.innerText.includes("step #13") &&
        ${pane(1)}.querySelector(".op.selected")?.innerText.includes("4")`,
      text(1),
    );
    await holds(
      "time_cursor",
      `document.querySelector(".timelabel").innerText.includes("step #13") &&
        ${pane(1)}.querySelector(".cell.here").innerText.includes("4")`,
      `document.querySelector(".timelabel").innerText`,
    );
    await b.see("document.activeElement?.blur()");
    await b.key(".");
    await holds(
      "time_moves_all",
      `${text(0)}.includes("after launch #14") &&
        ${pane(1)}.querySelector(".op.selected")?.innerText.includes("step #14")`,
      text(1),
    );
  });

  await part("long", async () => {
    // 10: a thread of 40,000 operations says how many, is filtered, and is jumped in.
    await goTo("19:0");
    await holds("long_total", `${text(0)}.includes("40 000 operations")`);
    await b.see(
      `(() => { const e = ${pane(0)}
        .querySelector('input[aria-label="go to the operation of this number"]'); e.focus(); })()`,
    );
    await b.type("31001");
    await b.key("Enter");
    await holds(
      "long_jump",
      `${pane(0)}.querySelector(".op.selected")?.innerText.startsWith("31001")`,
    );
    await b.choose(`${pane(0)}.querySelector('select[aria-label="kind of operation"]')`, "2");
    await holds(
      "long_filter",
      `${text(0)}.includes("20 000 of 40 000") &&
        ![...${pane(0)}.querySelectorAll(".op")].some(e => e.innerText.includes("load"))`,
    );
  });

  await part("words", async () => {
    // 13: allocations of one line have their names.
    await b.click(
      `[...document.querySelectorAll(".tabs button")].find(e => e.innerText.startsWith("Buffers"))`,
    );
    const names = await b.see(
      `(async () => (await (await fetch("api/buffers?most=5000")).json()).buffers
        .map(x => x.name))()`,
    );
    ok(
      "one_line_names",
      ["a", "b", "c", "d"].every((x) => names.includes(x)) &&
        !names.some((x) => x === undefined || /^buf\d/.test(x)),
      names,
    );
  });
  const complaints = b.complaints().filter((c) => !/status of 40[04]/.test(c));
  ok("no_complaints", complaints.length === 0, complaints);
} catch (e) {
  ok("truth", false, `${e.message} ${b.complaints()}`);
} finally {
  if (picture) await b.picture(picture).catch(() => {});
  await b.stop();
}
