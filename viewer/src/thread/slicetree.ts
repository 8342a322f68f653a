// The tree of a value's origin. Paths name its branches ("r", "r_0", "r_0_2"); the open ones are
// part of the page's address.
import { useEffect, useState } from "preact/hooks";
import { Op } from "../run/api";
import { Branch, cameFrom } from "../run/camefrom";
import { doneText, resultSign } from "../run/atomic";
import { errorText, kindName, launchOf, opElement } from "../run/format";
import { mainPlace } from "../parts/parts";
import { Pane, replace } from "../parts/trail";

type SlicePlace = Extract<Pane, { kind: "slice" }>;

// The operation at a path, where the branch above it is known.
function opAt(path: string, first: Op | undefined, known: Map<string, Branch>): Op | undefined {
  if (path === "r") return first;
  const cut = path.lastIndexOf("_");
  return known.get(path.slice(0, cut))?.ops[Number(path.slice(cut + 1))];
}

// Reads branches that are open and not known yet, from the root on.
function useBranches(pane: SlicePlace, first: Op | undefined, open: Set<string>) {
  const [known, setKnown] = useState(new Map<string, Branch>());
  const [error, setError] = useState<string>();
  useEffect(() => {
    if (!first) return;
    let gone = false;
    void (async () => {
      const next = new Map(known);
      let more = false;
      for (const path of [...open].sort((a, b) => a.length - b.length)) {
        const o = opAt(path, first, next);
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
  return { known, error };
}

export function useSliceTree(pane: SlicePlace, index: number, first: Op | undefined) {
  const open = new Set(pane.open ? pane.open.split(",") : ["r"]);
  const { known, error } = useBranches(pane, first, open);
  const [busy, setBusy] = useState(false);
  const keep = (to: Set<string>) =>
    replace(index, { ...pane, open: [...to].slice(0, 400).join(",") || "-" }, false);
  return {
    error,
    busy,
    isOpen: (path: string) => open.has(path),
    opAt: (path: string) => opAt(path, first, known),
    branch: (path: string) => (open.has(path) ? known.get(path) : undefined),
    foldAll: () => keep(new Set(["r"])),
    toggle(path: string) {
      const to = new Set(open);
      if (to.has(path))
        [...to].forEach((p) => {
          if (p === path || p.startsWith(`${path}_`)) to.delete(p);
        });
      else to.add(path);
      keep(to);
    },
    // Opens one more level of all visible branches.
    deeper() {
      setBusy(true);
      const to = new Set(open);
      for (const [path, b] of known)
        if (open.has(path)) b.ops.slice(0, 6).forEach((_, i) => to.add(`${path}_${i}`));
      keep(to);
      setBusy(false);
    },
  };
}
export type SliceTree = ReturnType<typeof useSliceTree>;

export const whoText = (o: Op) => (o.launch ? `${launchOf(o)} thread ${o.thread}` : launchOf(o));

function opLine(o: Op) {
  const value = o.value === null ? "" : ` ${resultSign(o)} ${doneText(o)}`;
  const place = mainPlace(o.site);
  const line = place ? ` (line ${place[1]})` : "";
  return `${whoText(o)}: ${kindName[o.kind]} ${opElement(o)}${value}${line}`;
}

function treeText(tree: SliceTree, path: string, depth: number): string {
  const o = tree.opAt(path);
  const b = tree.branch(path);
  if (!o) return "";
  const note = b?.note ? `${"  ".repeat(depth + 1)}${b.note}\n` : "";
  const below = (b?.ops ?? []).map((_, i) => treeText(tree, `${path}_${i}`, depth + 1));
  return `${"  ".repeat(depth)}${opLine(o)}\n${note}${below.join("")}`;
}

// The file does not contain the page's whole address, because everybody who knows it may enter.
export function saveTree(tree: SliceTree) {
  const a = document.createElement("a");
  const head = `Behind the address of the page of this run: ${location.hash}\n\n`;
  const blob = new Blob([head + treeText(tree, "r", 0)], { type: "text/plain" });
  const url = URL.createObjectURL(blob);
  a.href = url;
  a.download = "where-it-came-from.txt";
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
