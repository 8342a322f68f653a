// Above a long thread: which of its operations are shown, and a jump to one of them.
import { buffers, ThreadSearch } from "../run/api";
import { bufferName, many } from "../run/format";

export const LONG = 60; // operations from which on a filter is worth its room
function KindChooser({ search, choose }: { search: ThreadSearch; choose(s: ThreadSearch): void }) {
  return (
    <label>
      show{" "}
      <select
        aria-label="kind of operation"
        value={search.kinds ?? 0}
        onChange={(e) => choose({ ...search, kinds: Number(e.currentTarget.value) || undefined })}
      >
        <option value={0}>all</option>
        <option value={1}>loads</option>
        <option value={2}>stores</option>
        <option value={4}>atomics</option>
        <option value={8}>barriers</option>
        <option value={16}>values</option>
      </select>
    </label>
  );
}
function LineChooser({ search, choose }: { search: ThreadSearch; choose(s: ThreadSearch): void }) {
  return (
    <label>
      line{" "}
      <input
        type="number"
        min={1}
        aria-label="only operations of this line"
        value={search.line ?? ""}
        onChange={(e) => choose({ ...search, line: Number(e.currentTarget.value) || undefined })}
      />
    </label>
  );
}
function BufferChooser({
  search,
  choose,
  buffersUsed,
}: {
  search: ThreadSearch;
  choose(s: ThreadSearch): void;
  buffersUsed: number[];
}) {
  return (
    <label>
      buffer{" "}
      <select
        aria-label="only operations on this buffer"
        value={search.allocation ?? 0}
        onChange={(e) =>
          choose({ ...search, allocation: Number(e.currentTarget.value) || undefined })
        }
      >
        <option value={0}>any</option>
        {buffersUsed.map((b) => (
          <option value={b}>{bufferName(buffers.get(b), b)}</option>
        ))}
      </select>
    </label>
  );
}

export function Filter({
  search,
  choose,
  all,
  fit,
  jump,
  buffersUsed,
}: {
  search: ThreadSearch;
  choose(s: ThreadSearch): void;
  all?: number;
  fit?: number;
  jump(n: number): void;
  buffersUsed: number[];
}) {
  const active = search.kinds || search.line || search.allocation;
  return (
    <form
      class="filterbar"
      onSubmit={(e) => {
        e.preventDefault();
        const n = Number(new FormData(e.currentTarget).get("n"));
        if (Number.isFinite(n)) jump(n);
      }}
    >
      <KindChooser search={search} choose={choose} />
      <LineChooser search={search} choose={choose} />
      {buffersUsed.length > 1 && (
        <BufferChooser search={search} choose={choose} buffersUsed={buffersUsed} />
      )}
      <label>
        go to #{" "}
        <input
          name="n"
          type="number"
          min={0}
          max={all ? all - 1 : undefined}
          aria-label="go to the operation of this number"
        />
      </label>
      <button class="button">go</button>
      <span class="dim">
        {active ? (fit === undefined ? "looking…" : `${many(fit)} of ${many(all ?? 0)}`) : ""}
      </span>
    </form>
  );
}
