// Chromium without a window, driven through a pipe (its DevTools protocol), so that no package is
// needed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Browser {
  static async start({ width = 1680, height = 940 } = {}) {
    const b = new Browser();
    b.folder = mkdtempSync(join(tmpdir(), "viewer-"));
    const program = process.env.CHROMIUM || "chromium";
    b.process = spawn(
      program,
      [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--hide-scrollbars",
        "--force-color-profile=srgb",
        `--user-data-dir=${b.folder}`,
        "--remote-debugging-pipe",
        "about:blank",
      ],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
    );
    b.process.on("error", (e) => {
      console.log(`FAIL browser: ${program} cannot be started: ${e.message}`);
      process.exit(1);
    });
    b.waiting = new Map();
    b.next = 1;
    b.events = [];
    b.text = "";
    b.process.stdio[4].on("data", (d) => b.received(d.toString()));
    const { targetId } = await b.call("Target.createTarget", { url: "about:blank" });
    b.session = (await b.call("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await b.call("Page.enable");
    await b.call("Runtime.enable");
    await b.call("Log.enable");
    await b.call("Network.enable");
    await b.size(width, height);
    return b;
  }
  received(text) {
    this.text += text;
    for (let end; (end = this.text.indexOf("\0")) >= 0; this.text = this.text.slice(end + 1)) {
      const m = JSON.parse(this.text.slice(0, end));
      if (m.id) {
        const w = this.waiting.get(m.id);
        this.waiting.delete(m.id);
        m.error ? w?.no(new Error(m.error.message)) : w?.yes(m.result);
      } else this.events.push(m);
    }
  }
  call(method, params = {}) {
    const id = this.next++;
    return new Promise((yes, no) => {
      this.waiting.set(id, { yes, no });
      this.process.stdio[3].write(
        JSON.stringify({ id, method, params, sessionId: this.session }) + "\0",
      );
    });
  }
  size(width, height) {
    return this.call("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
  }
  colours(scheme) {
    return this.call("Emulation.setEmulatedMedia", {
      features: [
        { name: "prefers-color-scheme", value: scheme },
        { name: "prefers-reduced-motion", value: "reduce" },
      ],
    });
  }
  async open(url) {
    await this.call("Page.navigate", { url: "about:blank" });
    await this.call("Page.navigate", { url });
  }
  // The value of an expression of the page.
  async see(expression) {
    const r = await this.call("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (r.exceptionDetails)
      throw new Error(
        `${expression}: ${r.exceptionDetails.exception?.description ?? r.exceptionDetails.text}`,
      );
    return r.result.value;
  }
  async until(expression, what, seconds = 120) {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const v = await this.see(expression).catch(() => undefined);
      if (v) return v;
      if (Date.now() > end) throw new Error(`${what ?? expression}: not seen after ${seconds} s`);
      await new Promise((r) => setTimeout(r, 40));
    }
  }
  // Whether it is so, or becomes so: what one answer changes in several places of the page need not
  // come at once.
  holds(expression, seconds = 20) {
    return this.until(expression, "", seconds).then(
      () => true,
      () => false,
    );
  }
  // A click of the mouse on the element that the expression finds, once it stands still.
  async click(expression, what) {
    let p, before;
    do {
      before = p;
      p = await this.until(
        `(() => { const e = ${expression}; if (!e) return null;
          e.scrollIntoView({ block: "nearest", inline: "nearest" });
          const r = e.getBoundingClientRect();
          const x = r.left + r.width / 2, y = r.top + r.height / 2;
      const hit = document.elementFromPoint(x, y); return hit && (e.contains(hit) ||
        hit.contains(e)) ? { x, y } : null; })()`,
        what ?? expression,
      );
      await new Promise((r) => setTimeout(r, 30));
    } while (!before || before.x !== p.x || before.y !== p.y);
    await this.call("Input.dispatchMouseEvent", { type: "mouseMoved", ...p });
    for (const type of ["mousePressed", "mouseReleased"])
      await this.call("Input.dispatchMouseEvent", { type, ...p, button: "left", clickCount: 1 });
  }
  // Where an element of a buffer's picture is drawn: on its canvas, and on the page. Above the
  // middle, where large dots have their value written.
  dot(element) {
    return this
      .see(`(() => { const c = document.querySelector(".pane.buffer canvas.dots"), d = c.dataset,
        w = Number(c.closest(".pane").querySelector('.controls input[type="number"]').value),
        n = Number(d.dot), pool = Number(d.pool), r = c.getBoundingClientRect();
      const column = Math.floor(${element} % w / pool) - Number(d.x),
        row = Math.floor(Math.floor(${element} / w) / pool) - Number(d.y),
        x = Number(d.left) + column * n + Math.floor((n - 1) / 2),
        y = Number(d.top) + row * n + Math.floor((n - 1) / 5);
      return { x: Math.ceil(r.left + x), y: Math.ceil(r.top + y),
        colour: [...c.getContext("2d").getImageData(x, y, 1, 1).data].join(), pool, dot: n };
        })()`);
  }
  // What a person does who types into the line at the top of the page.
  async goTo(what) {
    await this.key("g");
    await this.until(`document.activeElement?.tagName === "INPUT"`, "the line to type in");
    await this.type(what);
    await this.key("Enter");
    await this.until(`document.activeElement?.tagName !== "INPUT"`, `go to ${what}`);
  }
  // Gives an input or a select another value, as a person does: its handlers are called.
  choose(expression, value) {
    return this.see(
      `(() => { const e = ${expression}; e.value = ${JSON.stringify(value)};
        for (const t of ["input", "change"])
          e.dispatchEvent(new Event(t, { bubbles: true })); })()`,
    );
  }
  async clickAt({ x, y }) {
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
      await this.call("Input.dispatchMouseEvent", {
        type,
        x,
        y,
        button: type === "mouseMoved" ? "none" : "left",
        clickCount: 1,
      });
  }
  async key(key, code) {
    const special = {
      Enter: 13,
      Backspace: 8,
      ArrowDown: 40,
      ArrowUp: 38,
      ArrowLeft: 37,
      ArrowRight: 39,
      Escape: 27,
      Home: 36,
      End: 35,
      PageUp: 33,
      PageDown: 34,
    }[key];
    const event = {
      key,
      code: code ?? key,
      windowsVirtualKeyCode: special ?? key.toUpperCase().charCodeAt(0),
      ...(key === "Enter" ? { text: "\r" } : special ? {} : { text: key }),
    };
    await this.call("Input.dispatchKeyEvent", { type: "keyDown", ...event });
    await this.call("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }
  async type(text) {
    await this.call("Input.insertText", { text });
  }
  async quiet() {
    await this.until(`!document.querySelector(".progress.on")`, "all answers");
    await new Promise((r) => setTimeout(r, 250));
  }
  async picture(path, clip) {
    await this.quiet();
    const { data } = await this.call("Page.captureScreenshot", {
      format: "png",
      ...(clip ? { clip: { ...clip, scale: 1 } } : {}),
    });
    writeFileSync(path, Buffer.from(data, "base64"));
  }
  // What the page complained of, and addresses it asked for.
  complaints() {
    return this.events
      .filter(
        (e) =>
          e.method === "Runtime.exceptionThrown" ||
          (e.method === "Log.entryAdded" && e.params.entry.level === "error"),
      )
      .map(
        (e) =>
          (e.params.entry && `${e.params.entry.text} ${e.params.entry.url ?? ""}`) ??
          e.params.exceptionDetails?.exception?.description ??
          e.params.exceptionDetails?.text,
      );
  }
  addresses() {
    return this.events
      .filter((e) => e.method === "Network.requestWillBeSent")
      .map((e) => e.params.request.url);
  }
  async stop() {
    await this.call("Browser.close").catch(() => {});
    await new Promise((r) => {
      const t = setTimeout(() => {
        this.process.kill("SIGKILL");
        r();
      }, 4000);
      this.process.on("exit", () => {
        clearTimeout(t);
        r();
      });
    });
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
