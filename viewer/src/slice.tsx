// Where a value came from, as a tree: who wrote what was read, what that thread had read before, and so on. Branches are opened one by one and folded again; which are open is part of
// the page's address, so that the tree can be sent, and it can be saved as text.
import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Kind, Op, ask, key, launches, ofThread, op as opFrom, sites, writersOf } from "./api";
import { errorText, kindName, launchOf, opElement, opValue } from "./format";
import { useAnswer } from "./hooks";
import { Button, Empty, Failure, PaneFrame, mainPlace } from "./parts";
import { Pane, follow, replace } from "./trail";

// Loads whose result may reach an instruction: registers are followed backwards through the kernel's PTX, whatever the path.
const closures = new Map<string, Promise<Set<number> | undefined>>();
async function loadsBehind(kernel: number, line: number): Promise<Set<number> | undefined> {
  const ptx = await ask<{ pieces: { line: number; text: string }[] }>("ptx", { kernel }).catch(
    () => undefined,
  );
  if (!ptx?.pieces.length) return undefined;
  const defs = new Map<string, { line: number; uses: string[]; load: boolean }[]>();
  let wanted: string[] = [];
  for (const piece of ptx.pieces)
    piece.text.split("\n").forEach((text, i) => {
      const code = text.replace(/\/\/.*$/, "").trim(),
        m = /^(?:@!?(%\w+)\s+)?([a-z][\w.]*)\s+(.*?);?$/.exec(code);
      if (!m || code.startsWith(".")) return;
      const n = piece.line + i,
        registers = (s: string) => s.match(/%[a-z]+\w*\d/g) ?? [],
        writesNothing = /^(st|red|bra|bar|ret|exit|membar|fence|prefetch)\b/.test(m[2]);
      const cut = m[3].startsWith("{") ? m[3].indexOf("}") + 1 : m[3].search(/,|$/),
        to = writesNothing ? [] : registers(m[3].slice(0, cut)),
        from = [...registers(writesNothing ? m[3] : m[3].slice(cut)), ...(m[1] ? [m[1]] : [])];
      if (n === line) wanted = from;
      for (const r of to) {
        const l = defs.get(r) ?? [];
        l.push({
          line: n,
          uses: from,
          load: /^(ld|ldu|atom)\b/.test(m[2]) && !/^ld\.param/.test(m[2]),
        });
        defs.set(r, l);
      }
    });
  const seen = new Set<string>(),
    out = new Set<number>();
  while (wanted.length) {
    const r = wanted.pop()!;
    if (seen.has(r)) continue;
    seen.add(r);
    for (const d of defs.get(r) ?? []) {
      if (d.load) out.add(d.line);
      wanted.push(...d.uses);
    }
  }
  return out;
}
const behind = (kernel: number, line: number) => {
  const k = `${kernel}.${line}`;
  if (!closures.has(k)) closures.set(k, loadsBehind(kernel, line));
  return closures.get(k)!;
};

export interface Branch {
  ops: Op[];
  note?: string;
}
// What an operation may follow from: of a read those who wrote it; of a write what its thread had read, last time before, by each load that can reach it.
async function cameFrom(o: Op): Promise<Branch> {
  if (o.kind === Kind.Load || (o.kind === Kind.Atomic && !o.refused)) {
    const w = await writersOf(o);
    return {
      ops: w.ops.slice(0, 20),
      note: w.never_written
        ? "never written"
        : w.ops.length > 1
          ? "nothing orders these writes"
          : w.ops.length
            ? undefined
            : (w.why ?? "nobody that was recorded"),
    };
  }
  if (o.kind !== Kind.Store) return { ops: [], note: o.launch ? undefined : "by the host" };
  const kernel = launches.get(o.launch)?.kernel ?? 0,
    lines = await behind(kernel, sites.get(o.site)?.ptx_line ?? -1),
    page = await ofThread(o.launch, o.thread, 0, { record: o.record, lane: o.lane }),
    at = page.ops.findIndex((x) => x.record === o.record && x.lane === o.lane);
  const found = new Map<number, Op>();
  for (let i = at - 1; i >= 0; i--) {
    const x = page.ops[i],
      line = sites.get(x.site)?.ptx_line ?? -1;
    if (
      (x.kind === Kind.Load || x.kind === Kind.Atomic) &&
      !found.has(line) &&
      (!lines || lines.has(line))
    )
      found.set(line, x);
    if (found.size >= 12) break;
  }
  return {
    ops: [...found.values()].reverse(),
    note: found.size
      ? lines
        ? undefined
        : "loads before it: its PTX is not in the file"
      : "from parameters and constants",
  };
}

export function SlicePane({
  pane,
  index,
  active,
}: {
  pane: Extract<Pane, { kind: "slice" }>;
  index: number;
  active: boolean;
}) {
  const root = useAnswer<{ ops: any[] }>(
      () => ask("operation", { record: pane.record, lane: pane.lane }),
      [pane.record, pane.lane],
    ),
    first = root.value?.ops[0] && opFrom(root.value.ops[0]);
  const [known, setKnown] = useState(new Map<string, Branch>()),
    [busy, setBusy] = useState(false),
    [error, setError] = useState<string>(),
    open = new Set(pane.open ? pane.open.split(",") : ["r"]);
  const opAt = (path: string): Op | undefined =>
    path === "r"
      ? first
      : (() => {
          const cut = path.lastIndexOf("_");
          return known.get(path.slice(0, cut))?.ops[Number(path.slice(cut + 1))];
        })();
  const keep = (to: Set<string>) =>
    replace(index, { ...pane, open: [...to].slice(0, 400).join(",") || "-" }, false);
  // Branches that are open and not known yet, from the root on.
  useEffect(() => {
    if (!first) return;
    let gone = false;
    void (async () => {
      const next = new Map(known);
      let more = false;
      for (const path of [...open].sort((a, b) => a.length - b.length)) {
        const o =
          path === "r"
            ? first
            : next.get(path.slice(0, path.lastIndexOf("_")))?.ops[
                Number(path.slice(path.lastIndexOf("_") + 1))
              ];
        if (!o || next.has(path)) continue;
        try {
          next.set(path, await cameFrom(o));
          more = true;
        } catch (e) {
          if (!gone) setError(errorText(e));
          return;
        }
        if (gone) return;
      }
      if (more) setKnown(next);
    })();
    return () => {
      gone = true;
    };
  }, [pane.open, !first, pane.record]);
  useEffect(() => setKnown(new Map()), [pane.record, pane.lane]);
  const toggle = (path: string) => {
    const to = new Set(open);
    if (to.has(path))
      [...to].forEach((p) => {
        if (p === path || p.startsWith(`${path}_`)) to.delete(p);
      });
    else to.add(path);
    keep(to);
  };
  const deeper = async () => {
    // opens all that is in sight, one level more
    setBusy(true);
    const to = new Set(open);
    for (const [path, b] of known)
      if (open.has(path)) b.ops.slice(0, 6).forEach((_, i) => to.add(`${path}_${i}`));
    keep(to);
    setBusy(false);
  };
  const line = (o: Op) =>
    `${o.launch ? `${launchOf(o)} thread ${o.thread}` : launchOf(o)}: ${kindName[o.kind]} ${opElement(o)}${o.value !== null ? ` ${o.kind === Kind.Load ? "→" : "="} ${opValue(o)}` : ""}${mainPlace(o.site) ? ` (line ${mainPlace(o.site)![1]})` : ""}`;
  const asText = (path: string, depth: number): string => {
    const o = opAt(path),
      b = open.has(path) ? known.get(path) : undefined;
    return !o
      ? ""
      : `${"  ".repeat(depth)}${line(o)}\n${b?.note ? `${"  ".repeat(depth + 1)}${b.note}\n` : ""}${(b?.ops ?? []).map((_, i) => asText(`${path}_${i}`, depth + 1)).join("")}`;
  };
  // The address itself stays here: it lets in who has it.
  const save = () => {
    const a = document.createElement("a"),
      url = URL.createObjectURL(
        new Blob(
          [`Behind the address of the page of this run: ${location.hash}\n\n${asText("r", 0)}`],
          { type: "text/plain" },
        ),
      );
    a.href = url;
    a.download = "where-it-came-from.txt";
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  const node = (path: string, above: string[]): ComponentChild => {
    const o = opAt(path);
    if (!o) return null;
    const b = open.has(path) ? known.get(path) : undefined,
      again = above.includes(key(o)),
      shut = !open.has(path);
    return (
      <li role="treeitem" aria-expanded={!shut}>
        <span class="branch">
          <button
            type="button"
            class="fold"
            disabled={again}
            aria-label={shut ? "open this branch" : "fold this branch"}
            onClick={() => toggle(path)}
          >
            {again ? "↻" : shut ? "▸" : "▾"}
          </button>
          <button
            type="button"
            class="link"
            onClick={() =>
              o.launch
                ? follow(index, {
                    kind: "thread",
                    launch: o.launch,
                    thread: o.thread,
                    at: { record: o.record, lane: o.lane },
                  })
                : follow(index, {
                    kind: "step",
                    step: o.step,
                    buffer: o.buffer,
                    offset: o.offset,
                    bytes: o.bytes,
                  })
            }
          >
            <span class={`kind k${o.kind}`}>{kindName[o.kind]}</span> <b>{opElement(o)}</b>{" "}
            {o.value !== null ? (
              <>
                {o.kind === Kind.Load ? "→" : "="} {opValue(o)}
              </>
            ) : (
              ""
            )}{" "}
            <span class="dim">
              {o.launch ? `${launchOf(o)} thread ${o.thread}` : launchOf(o)}
              {mainPlace(o.site) ? `, line ${mainPlace(o.site)![1]}` : ""}
            </span>
          </button>
        </span>
        {!shut &&
          !again &&
          (b ? (
            <>
              {b.note && <div class={`note ${/never/.test(b.note) ? "bad" : ""}`}>{b.note}</div>}
              {b.ops.length > 0 && (
                <ul role="group">
                  {b.ops.map((_, i) => node(`${path}_${i}`, [...above, key(o)]))}
                </ul>
              )}
            </>
          ) : (
            <div class="note">…</div>
          ))}
      </li>
    );
  };
  return (
    <PaneFrame
      index={index}
      kind="slice"
      active={active}
      title={
        <>
          <span class="what">came from</span> {first ? `${opElement(first)}` : "…"}
        </>
      }
      sub="who wrote what was read, and what that thread had read before"
      tools={
        <>
          <Button
            icon="plus"
            label="Open one level more (+)"
            disabled={busy}
            onClick={() => void deeper()}
          />
          <Button icon="minus" label="Fold all (-)" onClick={() => keep(new Set(["r"]))} />
          <Button icon="save" label="Save the tree as text" onClick={save} />
        </>
      }
    >
      {(root.error ?? error) ? (
        <Failure text={root.error ?? error!} />
      ) : !first ? (
        <Empty>reading…</Empty>
      ) : (
        <div class="scroll">
          <ul class="slicetree" role="tree" aria-label="where the value came from">
            {node("r", [])}
          </ul>
        </div>
      )}
    </PaneFrame>
  );
}
