// Keys of the whole page: what each one does in the active pane.
import { Flow } from "../flow/flowstep";
import { useEffect } from "preact/hooks";
import { Finding } from "../run/api";
import { Ref } from "../picture/dots";
import { findingPane } from "../run/findingpane";
import { moveTime, openCalculator, openFlow, openProfile, openRuns } from "./opening";
import { activePane, close, paneText, start, trail } from "../parts/trail";

export interface KeyContext {
  panesBox: Ref<HTMLElement>;
  search: Ref<HTMLInputElement>;
  findings: Finding[];
  flow: Flow;
  theme: string;
  choosePane(i: number): void;
  turnTheme(): void;
  setHelp(help: boolean | ((help: boolean) => boolean)): void;
}
type Actions = Record<string, () => void>;

const isControl = (e: HTMLElement) => /^(BUTTON|A)$/.test(e.tagName);

// Boxes to tick and sliders take no letters: those stay keys of the page.
function takesKey(target: HTMLElement, key: string): boolean {
  const kind = (target as HTMLInputElement).type;
  const ticks = kind === "checkbox" && key !== " ";
  const slides = kind === "range" && !/^(Arrow|Page|Home|End)/.test(key);
  return /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !ticks && !slides;
}

// The next row of a pane, or its picture, gets the keys.
function moveRow(section: HTMLElement | null | undefined, by: number) {
  const dots = section?.querySelector<HTMLElement>(".canvas");
  if (dots) {
    dots.focus();
    return;
  }
  const rows = [...(section?.querySelectorAll<HTMLElement>(".op") ?? [])];
  const at = rows.findIndex((r) => r === document.activeElement);
  const mark = at >= 0 ? at : rows.findIndex((r) => r.classList.contains("selected"));
  const next = rows[Math.max(0, Math.min(rows.length - 1, mark < 0 ? 0 : mark + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
// A list of operations scrolls by pages, or to an end; then the row there gets the keys.
const listMoves: Record<string, (e: HTMLElement) => number> = {
  Home: () => 0,
  End: (e) => e.scrollHeight,
  PageUp: (e) => e.scrollTop - e.clientHeight + 30,
  PageDown: (e) => e.scrollTop + e.clientHeight - 30,
};
function moveList(section: HTMLElement | null | undefined, key: string) {
  const list = section?.querySelector<HTMLElement>(".list");
  if (!list) return;
  list.scrollTop = listMoves[key](list);
  const toLast = key === "End" || key === "PageDown";
  const focusRow = () => {
    const { top, bottom } = list.getBoundingClientRect();
    const seen = [...list.querySelectorAll<HTMLElement>(".op")].filter((r) => {
      const at = r.getBoundingClientRect();
      return at.top >= top - 1 && at.bottom <= bottom + 1;
    });
    seen.at(toLast ? -1 : 0)?.focus({ preventScroll: true });
  };
  requestAnimationFrame(() => requestAnimationFrame(focusRow)); // when its rows are drawn
}
function moveFinding(findings: Finding[], by: number) {
  const i = findings.findIndex(
    (f) => trail()[0] && paneText(findingPane(f)) === paneText(trail()[0]),
  );
  const n = findings[Math.max(0, Math.min(findings.length - 1, i + by))];
  if (n) start(findingPane(n));
}
const playOrStop = () =>
  document
    .querySelector<HTMLElement>(
      '.timebar button[aria-label^="Play"], .timebar button[aria-label^="Stop"]',
    )
    ?.click();

function paneActions({ panesBox }: KeyContext, target: HTMLElement): Actions {
  const section = panesBox.current?.querySelector<HTMLElement>(
    `section[data-pane="${activePane()}"]`,
  );
  const isElement = trail()[activePane()]?.kind === "element";
  const press = (label: string) => () =>
    section?.querySelector<HTMLElement>(`button[aria-label^="${label}"]`)?.click();
  const chosenRow = () =>
    document.activeElement?.classList.contains("op")
      ? (document.activeElement as HTMLElement)
      : section?.querySelector<HTMLElement>(".op.selected");
  return {
    ArrowDown: () => moveRow(section, 1),
    j: () => moveRow(section, 1),
    ArrowUp: () => moveRow(section, -1),
    k: () => moveRow(section, -1),
    ...Object.fromEntries(Object.keys(listMoves).map((k) => [k, () => moveList(section, k)])),
    K: press("Keep this pane"),
    "<": press("Move this pane to the left"),
    ">": press("Move this pane to the right"),
    Enter: () => {
      if (!isControl(target)) chosenRow()?.click();
    },
    w: () => chosenRow()?.querySelector<HTMLElement>(".go.from")?.click(),
    r: () => chosenRow()?.querySelector<HTMLElement>(".go.race")?.click(),
    o: press("Where this came from"),
    v: press("Compare"),
    "[": press(isElement ? "The element before" : "The thread before"),
    "]": press(isElement ? "The next element" : "The next thread"),
    "{": press("The write before"),
    "}": press("The next write"),
    Backspace: () => close(activePane()),
    s: press("Source"),
    x: press("PTX"),
    b: press("The buffer as a picture"),
    "+": press("Larger"),
    "-": press("Smaller"),
  };
}

function pageActions(c: KeyContext): Actions {
  return {
    ArrowLeft: () => c.choosePane(activePane() - 1),
    h: () => c.choosePane(activePane() - 1),
    ArrowRight: () => c.choosePane(activePane() + 1),
    l: () => c.choosePane(activePane() + 1),
    f: () => document.querySelector<HTMLElement>(".rail .flowbox")?.focus(),
    F: openFlow,
    P: openProfile,
    D: openRuns,
    ",": () => moveTime(c.flow.steps, -1),
    ".": () => moveTime(c.flow.steps, 1),
    " ": playOrStop,
    c: () => openCalculator(c.choosePane),
    n: () => moveFinding(c.findings, 1),
    p: () => moveFinding(c.findings, -1),
    g: () => c.search.current?.focus(),
    "/": () => c.search.current?.focus(),
    t: c.turnTheme,
    "?": () => c.setHelp((h) => !h),
    Escape: () => c.setHelp(false),
  };
}

export function usePageKeys(context: KeyContext) {
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (takesKey(target, e.key)) {
        if (e.key === "Escape") target.blur();
        return;
      }
      const act = { ...paneActions(context, target), ...pageActions(context) }[e.key];
      if (!act || ((e.key === "Enter" || e.key === " ") && isControl(target))) return;
      e.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [context.findings, context.theme, context.flow]);
}
