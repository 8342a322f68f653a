// The lines of a source file, with counts of all threads and operations of the chosen thread.
import { Kind, Op, sites } from "../run/api";
import { doneText, resultSign } from "../run/atomic";
import { counted, many, opElement } from "../run/format";
import { Ops } from "../parts/hooks";
import { memoryPane } from "../thread/memorypane";
import { coloured } from "./sourcecolours";
import { countText, LineCount, short } from "./sourcecounts";
import { Pane } from "../parts/trail";

// Data that all lines share.
export interface SourceLines {
  lines: string[];
  chosen: number;
  counts: Map<number, LineCount>;
  most: number;
  byLine: Map<number, Op[]>;
  inside: boolean[]; // whether a line begins inside of a comment
  marks: Map<number, number>; // lines with sites, and whether those have findings
  go(p: Pane): void;
  hover(line: number): void;
}

// The operations of the thread's pages, by their lines in a file.
export function opsByLine(ops: Ops, file: number): Map<number, Op[]> {
  const byLine = new Map<number, Op[]>();
  for (const page of ops.pages.values())
    for (const o of page)
      for (const p of sites.get(o.site)?.places ?? []) {
        if (p[0] !== file) continue;
        const list = byLine.get(p[1]) ?? [];
        if (list[list.length - 1] !== o) list.push(o);
        byLine.set(p[1], list);
      }
  return byLine;
}

const opText = (o: Op) =>
  o.kind === Kind.Sync ? "sync" : `${opElement(o)} ${resultSign(o)} ${doneText(o)}`;

// The thread's operations in a line: the first ones, and how many there are.
function Did({ ops, go }: { ops: Op[]; go(p: Pane): void }) {
  return (
    <span class="did">
      <span class="chips">
        {ops.slice(0, 3).map((o) => (
          <button
            type="button"
            class={`seen k${o.kind}`}
            onClick={() => {
              const p = memoryPane(o);
              if (p) go(p);
            }}
          >
            {opText(o)}
          </button>
        ))}
      </span>
      {ops.length > 1 && (
        <span
          class="dim"
          title={
            `${counted(ops.length, "operation")} of the thread in this line: ` +
            "the mouse over the line shows them"
          }
        >
          {many(ops.length)}×
        </span>
      )}
    </span>
  );
}

function Tally({ count: c, most }: { count: LineCount | undefined; most: number }) {
  const share = c && `${Math.round((100 * c.operations) / most)}%`;
  return (
    <span
      class="tally"
      title={c ? countText(c) : undefined}
      style={share ? ({ "--share": share } as any) : undefined}
    >
      {c ? short(c.operations) : ""}
      {c && c.divergent > 0 && <i class="diverges" />}
    </span>
  );
}

export function SourceLine({ i, of }: { i: number; of: SourceLines }) {
  const n = i + 1;
  const here = of.byLine.get(n) ?? [];
  const mark = of.marks.get(n) ? "bad" : of.marks.has(n) ? "site" : "";
  return (
    <div
      class={`codeline ${n === of.chosen ? "selected" : ""}`}
      onMouseEnter={() => of.hover(n)}
      onMouseLeave={() => of.hover(0)}
    >
      <span class={`gutter ${mark}`}>{n}</span>
      <Tally count={of.counts.get(n)} most={of.most} />
      <code>{coloured(of.lines[i].replace(/\t/g, "    "), of.inside[i])}</code>
      {here.length > 0 && <Did ops={here} go={of.go} />}
    </div>
  );
}

// All operations of the thread in the line under the mouse, not only the first ones.
export function HoverValues({ line, thread, ops }: { line: number; thread: number; ops: Op[] }) {
  if (!ops.length) return <></>;
  return (
    <div class="hovervalues" role="status">
      <b>
        line {line}, thread {thread}
      </b>
      {ops.slice(0, 12).map((o) => (
        <span>{opText(o)}</span>
      ))}
      {ops.length > 12 && <span class="dim">and {many(ops.length - 12)} more</span>}
    </div>
  );
}
