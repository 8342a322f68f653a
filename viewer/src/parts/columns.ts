// Widths of the columns of lists of operations: as wide as the longest text, as far as there is
// room. The rows are drawn one by one, so that none knows of the others.
import { useMemo } from "preact/hooks";
import { Op } from "../run/api";
import { Ops } from "./hooks";

// Pixels of a letter: names and values stand in letters of one width, other texts in narrower ones.
const LETTER = { element: 7.95, value: 7.7, when: 7.4 };
type Column = keyof typeof LETTER;

// For the style of a table: --element, --value, --when. of: the texts of an operation
export function useColumns(
  ops: Ops,
  of: Partial<Record<Column, (o: Op) => string>>,
  on: unknown[] = [],
): Record<string, string> {
  return useMemo(() => {
    const all = [...ops.pages.values()].flat();
    const widths: Record<string, string> = {};
    for (const column of Object.keys(of) as Column[]) {
      let letters = 1;
      for (const o of all) letters = Math.max(letters, of[column]!(o).length);
      widths[`--${column}`] = `${Math.ceil(letters * LETTER[column]) + 2}px`;
    }
    return widths;
  }, [ops.count, ops.pages.size, ops.loaded, ...on]);
}
