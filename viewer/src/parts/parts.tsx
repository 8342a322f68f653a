// Small pieces that several panes use.
import { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import {
  Finding,
  Kind,
  Op,
  Source,
  ask,
  isStatic,
  launches,
  occurrencesOf,
  sites,
} from "../run/api";
import { classes, fileName, kindName, launchName } from "../run/format";
import {
  Scalar,
  Type,
  allScalars,
  chooseType,
  leaves,
  repeated,
  scalarType,
  typeFromText,
  types,
} from "../run/types";
import { useAnswer } from "./hooks";
import { Pane, activate, close, keepPane, move, trail } from "./trail";

// What the marks of the flow charts mean; given: some launch got a buffer that it did not touch.
export function FlowMarks({ unrecorded, given }: { unrecorded?: boolean; given: boolean }) {
  const marks = [
    ["write", "writes"],
    ["read", "reads"],
    ["bad", "findings"],
    ["race", "races"],
  ];
  if (given) marks.push(["given", "only given"]);
  if (unrecorded) marks.push(["grey", "not recorded"]);
  return (
    <>
      {marks.map(([mark, meaning]) => (
        <>
          <i class={`m-${mark}`} /> {meaning}{" "}
        </>
      ))}
    </>
  );
}

// --- icons: drawn, so that they look the same everywhere ---
const shapes: Record<string, string> = {
  up: "m3 10 5-5 5 5M3 13h10",
  down: "m3 6 5 5 5-5M3 3h10",
  left: "M10 3 5 8l5 5",
  right: "m6 3 5 5-5 5",
  close: "m4 4 8 8M12 4l-8 8",
  source: "M6 4 2 8l4 4M10 4l4 4-4 4",
  picture: "M2 3h12v10H2zM2 11l4-4 3 3 2-2 3 3",
  link: "M7 9a3 3 0 0 0 4 0l2-2a3 3 0 0 0-4-4L8 4M9 7a3 3 0 0 0-4 0L3 9a3 3 0 0 0 4 4l1-1",
  sun:
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4" +
    "M11.6 11.6 13 13M13 3l-1.4 1.4M4.4 11.6 3 13",
  calculator: "M3 1.5h10v13H3zM5 4h6v2H5zM5 9h1M8 9h1M11 9h0M5 12h1M8 12h1M11 12h0",
  help: "M6 6a2 2 0 1 1 3 1.7c-.7.5-1 .8-1 1.8M8 12v.4",
  launch: "M3 4h10v8H3zM6 4v8M10 4v8",
  tree: "M3 3h4M5 3v10M5 8h4M5 13h4M10 8h3M10 13h3",
  twins: "M2 3h5v10H2zM9 3h5v10H9z",
  pin: "M5 2h6M6 2v5l-2 3h8l-2-3V2M8 10v4",
  moveleft: "M7 4 3 8l4 4M3 8h10",
  moveright: "m9 4 4 4-4 4M13 8H3",
  plus: "M8 3v10M3 8h10",
  play: "M5 3v10l8-5z",
  pause: "M5 3v10M11 3v10",
  first: "M4 3v10M12 3 6 8l6 5",
  last: "M12 3v10M4 3l6 5-6 5",
  flow: "M3 3h4v3H3zM9 10h4v3H9zM5 6v5h4M11 3v7",
  save: "M8 2v8M5 7l3 3 3-3M3 13h10",
  fit: "M3 6V3h3M13 6V3h-3M3 10v3h3M13 10v3h-3",
  minus: "M3 8h10",
  edit: "m3 13 1-3 7-7 2 2-7 7zM10 4l2 2",
  profile: "M2 13h12M4 11V8M8 11V3M12 11V6",
  warning: "M8 2 14.5 13.5h-13zM8 6.5v3.5M8 12v.2",
};
export const Icon = ({ name }: { name: string }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={shapes[name]} />
  </svg>
);
export function Button({
  icon,
  label,
  children,
  onClick,
  pressed,
  disabled,
}: {
  icon?: string;
  label: string;
  children?: ComponentChildren;
  onClick(): void;
  pressed?: boolean;
  disabled?: boolean;
}) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      aria-pressed={pressed}
      disabled={disabled}
      class={children ? "button" : "button small"}
      onClick={(e) => {
        e.stopPropagation();
        onClick();
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

// Moves, keeps and closes a pane.
function PaneButtons({ index }: { index: number }) {
  return (
    <>
      {trail().length > 1 && (
        <>
          <Button
            icon="moveleft"
            label="Move this pane to the left (<)"
            disabled={index === 0}
            onClick={() => move(index, -1)}
          />
          <Button
            icon="moveright"
            label="Move this pane to the right (>)"
            disabled={index + 1 >= trail().length}
            onClick={() => move(index, 1)}
          />
        </>
      )}
      <Button
        icon="pin"
        label="Keep this pane when something else is followed (K)"
        pressed={!!trail()[index]?.keep}
        onClick={() => keepPane(index)}
      />
      <Button icon="close" label="Close this pane (Backspace)" onClick={() => close(index)} />
    </>
  );
}

// The right edge of a pane.
function Sizer({ kind }: { kind: Pane["kind"] }) {
  return (
    <div
      class="sizer"
      role="separator"
      aria-orientation="vertical"
      aria-label="width of this pane: drag, or arrow keys"
      tabIndex={0}
      onKeyDown={(e) => {
        const by = e.key === "ArrowLeft" ? -40 : e.key === "ArrowRight" ? 40 : 0;
        if (!by) return;
        e.preventDefault();
        e.stopPropagation();
        const s = e.currentTarget.parentElement!;
        resize(kind, s, s.offsetWidth + by);
      }}
      onPointerDown={(e) => {
        e.preventDefault();
        e.currentTarget.setPointerCapture(e.pointerId);
      }}
      onPointerMove={(e) => {
        if (e.buttons & 1 && e.currentTarget.hasPointerCapture(e.pointerId)) {
          const s = e.currentTarget.parentElement!;
          resize(kind, s, e.clientX - s.getBoundingClientRect().left);
        }
      }}
      onDblClick={() => forget(kind)}
    />
  );
}

export function PaneFrame({
  index,
  kind,
  active,
  title,
  tools,
  sub,
  children,
}: {
  index: number;
  kind: Pane["kind"];
  active: boolean;
  title: ComponentChildren;
  tools?: ComponentChildren;
  sub?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section
      class={`pane ${kind} ${active ? "active" : ""}`}
      data-pane={index}
      style={widthOf(kind)}
      onMouseDown={() => activate(index)}
      onFocusIn={() => activate(index)}
      aria-label={kind}
    >
      <header>
        <div class="title">
          <h2>{title}</h2>
          <span class="tools">
            {tools}
            <PaneButtons index={index} />
          </span>
        </div>
        {sub && <div class="sub">{sub}</div>}
      </header>
      {children}
      <Sizer kind={kind} />
    </section>
  );
}

// Widths of panes that somebody chose, by their kind: kept in this browser.
let widths: Record<string, number> = {};
try {
  widths = JSON.parse(localStorage.getItem("widths") ?? "{}");
} catch {
  /* as usual */
}
function keepWidths() {
  try {
    localStorage.setItem("widths", JSON.stringify(widths));
  } catch {
    /* not kept */
  }
}
function resize(kind: string, section: HTMLElement, to: number) {
  widths[kind] = Math.round(Math.max(280, Math.min(innerWidth - 60, to)));
  section.style.flex = `0 0 ${widths[kind]}px`;
  section.style.maxWidth = "none";
  keepWidths();
}
function forget(kind: string) {
  delete widths[kind];
  keepWidths();
  document.querySelectorAll<HTMLElement>(`.pane.${kind}`).forEach((s) => {
    s.style.flex = s.style.maxWidth = "";
  });
}
const widthOf = (kind: string) =>
  Number.isFinite(widths[kind]) ? { flex: `0 0 ${widths[kind]}px`, maxWidth: "none" } : undefined;

export const Badge = ({
  kind,
  children,
  title,
}: {
  kind: string;
  children: ComponentChildren;
  title?: string;
}) => (
  <span class={`badge ${kind}`} title={title}>
    {children}
  </span>
);
export const KindTag = ({ op }: { op: Op }) => (
  <span class={`kind k${op.kind}`}>
    {op.kind === Kind.Copy && op.lane === 1 ? "copied" : kindName[op.kind]}
  </span>
);
// A thread, of another launch if it says which: "#10 thread 4850"; where there is little room
// "#10:4850", as the line at the top understands it.
export const ThreadText = ({ launch, thread }: { launch?: string; thread: number }) => (
  <>
    {launch && <span class={launch.startsWith("#") ? "" : "whose"}>{launch}</span>}
    <span>
      {launch && <span class="colon">:</span>}
      <span class="word">{launch ? " " : ""}thread </span>
      {thread}
    </span>
  </>
);
// If a name does not fit, its index stays, because it distinguishes neighbours.
export function ElementName({ text }: { text: string }) {
  const at = text.search(/\[|\+/);
  return at <= 0 ? (
    <>{text}</>
  ) : (
    <>
      <span class="base" style={{ maxWidth: `calc(100% - ${text.length - at}ch)` }}>
        {text.slice(0, at)}
      </span>
      {text.slice(at)}
    </>
  );
}
export const Failure = ({ text }: { text: string }) => (
  <div class="failure" role="alert">
    <Icon name="warning" />
    <p>{text}</p>
  </div>
);
export const Empty = ({ children }: { children: ComponentChildren }) => (
  <div class="empty">{children}</div>
);

export function useSource(file: number | undefined) {
  return useAnswer<Source>(
    () => (file === undefined || file < 0 ? undefined : ask<Source>("source", { file })),
    [file],
  );
}
const split = new WeakMap<Source, string[]>();
export function linesOf(s: Source | undefined): string[] {
  if (!s?.text) return [];
  let l = split.get(s);
  if (!l) split.set(s, (l = s.text.replace(/\n$/, "").split("\n")));
  return l;
}

// The place of an operation in the program's own code: the innermost that is not in a toolkit's
// header.
export function mainPlace(site: number) {
  const s = sites.get(site),
    p = s?.places[s.main ?? 0];
  return p && p[1] ? p : undefined;
}

// The other operations that a finding is about, looked for in the recording.
// here: the thread that is looked at
function Occurrences({
  finding,
  go,
  here,
}: {
  finding: Finding;
  go(at: Pane): void;
  here?: { launch: number; thread: number };
}) {
  const found = useAnswer(() => occurrencesOf(finding.id, 0), [finding.id]),
    ops = found.value?.ops ?? [];
  if (!found.value) return <></>;
  let threads: { launch: number; thread: number; at?: { record: number; lane: number } }[] = [
    ...new Map(
      ops.map((o) => [
        `${o.launch}.${o.thread}`,
        { launch: o.launch, thread: o.thread, at: { record: o.record, lane: o.lane } },
      ]),
    ).values(),
  ];
  // If the recording does not show them, the report still knows the lanes of the first warp.
  const byLanes = !threads.length,
    lanes = finding.lanes ?? 0;
  if (byLanes && finding.thread !== undefined) {
    const first = Math.log2(lanes & -lanes) | 0;
    threads = Array.from({ length: 32 }, (_, i) => i)
      .filter((i) => (lanes >>> i) & 1)
      .map((i) => ({ launch: finding.launch, thread: finding.thread! - first + i }));
  }
  if (threads.length < 2 && byLanes) return <></>;
  const at = here ?? finding,
    isHere = (o: { launch: number; thread: number }) =>
      o.thread === at.thread && o.launch === at.launch;
  return (
    <div class="occurrences" aria-label="all occurrences">
      <span class="dim">
        {byLanes && finding.count > threads.length
          ? "of its warp"
          : found.value.more || found.value.stopped
            ? `the first ${threads.length}`
            : threads.length === 1
              ? "1 thread"
              : `${threads.length} threads`}
        :
      </span>
      {threads.slice(0, 200).map((o) => (
        <button
          type="button"
          class={classes("peer", isHere(o) && "here")}
          title={`thread ${o.thread} of ${launchName(launches.get(o.launch), o.launch)}`}
          onClick={() => go({ kind: "thread", ...o })}
        >
          {o.launch !== finding.launch ? `#${launches.get(o.launch)?.number ?? "?"}:` : ""}
          {o.thread}
        </button>
      ))}
    </div>
  );
}

export function FindingCard({
  finding,
  open,
  go,
  here,
}: {
  finding: Finding;
  open?: boolean;
  go?(to: Pane): void;
  here?: { launch: number; thread: number };
}) {
  const [shown, show] = useState(!!open);
  const text = useAnswer<{ text: string }>(
    () => (shown ? ask("finding", { id: finding.id }) : undefined),
    [shown, finding.id],
  );
  return (
    <div class={`card ${finding.severity}`}>
      <button type="button" class="line" aria-expanded={shown} onClick={() => show(!shown)}>
        <span class="dot" />
        <b>{finding.headline}</b>
        <span class="dim">
          {finding.kind}
          {finding.count > 1 ? ` · ${finding.count} times` : ""}
        </span>
      </button>
      {go && finding.count > 1 && !isStatic() && (
        <Occurrences finding={finding} go={go} here={here} />
      )}
      {shown && <pre>{text.error ?? text.value?.text.trim() ?? "…"}</pre>}
    </div>
  );
}

// The editor that links open: kept in this browser.
export const editors: Record<string, [name: string, link: (path: string, line: number) => string]> =
  {
    vscode: ["VS Code", (p, l) => `vscode://file${p}:${l}`],
    jetbrains: ["JetBrains", (p, l) => `idea://open?file=${encodeURIComponent(p)}&line=${l}`],
    emacs: [
      "Emacs",
      (p, l) => `org-protocol://open-source?url=file://${encodeURIComponent(p)}&line=${l}`,
    ],
    vim: ["Vim", (p, l) => `mvim://open?url=file://${encodeURIComponent(p)}&line=${l}`],
    zed: ["Zed", (p, l) => `zed://file${p}:${l}`],
    own: [
      "another …",
      (p, l) =>
        ownEditor()
          .replace(/\{path\}/g, p.split("/").map(encodeURIComponent).join("/"))
          .replace(/\{line\}/g, String(l)),
    ],
  };
// A link of somebody's own: scheme://…{path}…{line}
export function ownEditor(): string {
  try {
    return localStorage.getItem("editor-link") ?? "vscode://file{path}:{line}";
  } catch {
    return "vscode://file{path}:{line}";
  }
}
export function keepOwnEditor(link: string) {
  try {
    localStorage.setItem("editor-link", link);
  } catch {
    /* not kept */
  }
}
export function editorName(): string {
  try {
    const e = localStorage.getItem("editor");
    return e && editors[e] ? e : "vscode";
  } catch {
    return "vscode";
  }
}
export function chooseEditor(name: string) {
  try {
    localStorage.setItem("editor", name);
  } catch {
    /* not kept */
  }
}
export const editorLink = (path: string, line: number) => editors[editorName()][1](path, line);

export const HostStack = ({ stack }: { stack: [string, string, number, boolean][] }) =>
  stack.length === 0 ? (
    <p class="dim">not known</p>
  ) : (
    <table>
      <tbody>
        {stack
          .filter((f) => f[1] || !/^(_start|__libc_start)/.test(f[0]))
          .map((f) => (
            <tr>
              <td>
                {f[0]}
                {f[3] && <span class="dim"> inlined</span>}
              </td>
              <td class="dim">
                {f[1] ? (
                  <a
                    href={editorLink(f[1], f[2])}
                    title={`${f[1]}:${f[2]}, in ${editors[editorName()][0]}`}
                  >
                    {fileName(f[1])}:{f[2]}
                  </a>
                ) : (
                  ""
                )}
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );

export const LaunchLink = ({ id, onClick }: { id: number; onClick(): void }) => (
  <button
    type="button"
    class="link"
    onClick={(e) => {
      e.stopPropagation();
      onClick();
    }}
  >
    {launchName(launches.get(id), id)}
  </button>
);
export const PlaceText = ({ source, line }: { source?: Source; line?: number }) =>
  line ? (
    <>
      {source ? fileName(source.path) : ""}:{line}
    </>
  ) : (
    <>—</>
  );

// Lets people who know better choose the type of a buffer's elements: one of the run's own types,
// or a scalar and how many of them make an element.
export function TypeChooser({ buffer, type }: { buffer: number; type: Type }) {
  const own = [...types].filter(([, t]) => t.parts.length > 1 || t.parts[0].path),
    plain = type.parts.length === 1 && !type.parts[0].path,
    all = leaves(type, 2);
  const scalar: Scalar = type.known ? (all[0]?.scalar ?? "i32") : "u32",
    listed = own.some(([, t]) => t.text === type.text),
    parts = listed || plain ? 1 : Math.round(type.bytes / (all[0]?.bytes ?? 4));
  return (
    <span class="chooser">
      <select
        aria-label="type of the elements"
        value={!type.known ? "" : listed ? type.text : scalar}
        onChange={(e) => {
          const v = e.currentTarget.value,
            t = typeFromText(v);
          if (t) chooseType(buffer, v.startsWith("T") ? t : repeated(v as Scalar, parts));
        }}
      >
        {!type.known && <option value="">bytes</option>}
        {allScalars.map((x) => (
          <option value={x}>{scalarType(x).name}</option>
        ))}
        {own.length > 0 && (
          <optgroup label="of the program">
            {own.slice(0, 200).map(([id, t]) => (
              <option value={`T${id}`}>{t.name}</option>
            ))}
          </optgroup>
        )}
      </select>
      <label title="how many of these make one element, as in a struct">
        ×{" "}
        <input
          type="number"
          min={1}
          max={4096}
          value={parts}
          aria-label="parts of an element"
          disabled={listed}
          onChange={(e) => {
            const n = Math.floor(Number(e.currentTarget.value));
            if (n >= 1 && n <= 4096) chooseType(buffer, repeated(scalar, n));
          }}
        />
      </label>
    </span>
  );
}

export function Copy({ text, label }: { text(): string; label: string }) {
  const [done, set] = useState(false);
  return (
    <Button
      icon="link"
      label={label}
      onClick={() => {
        const by_hand = () => {
          prompt(label, text());
        }; // pages from the disk may not write to the clipboard
        if (!navigator.clipboard) by_hand();
        else
          navigator.clipboard.writeText(text()).then(() => {
            set(true);
            setTimeout(() => set(false), 1200);
          }, by_hand);
      }}
    >
      {done ? "copied" : "link"}
    </Button>
  );
}
