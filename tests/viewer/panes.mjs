// What the tests of the page ask about its panes. pane, text, title and row give expressions for
// the browser; words of a row may stand anywhere in it.
export const pane = (n) => `document.querySelector('section[data-pane="${n}"]')`;
const plain = (e) => `(${e}?.innerText ?? "").replace(/\\s+/g, " ")`;
export const text = (n) => plain(pane(n));
export const title = (n) => plain(`${pane(n)}?.querySelector("h2")`);
export const row = (n, ...words) =>
  `[...(${pane(n)}?.querySelectorAll(".op") ?? [])].find(e => {
    const t = ${plain("e")};
    return ${words.map((w) => `t.includes(${JSON.stringify(w)})`).join(" && ")}; })`;
export const allText = `[...document.querySelectorAll("section.pane")]
  .map(e => e.innerText.replace(/\\s+/g, " ")).join(" ## ")`;
export const ok = (name, good, seen) =>
  console.log(good ? `ok ${name}` : `FAIL ${name}: ${JSON.stringify(seen)}`);
