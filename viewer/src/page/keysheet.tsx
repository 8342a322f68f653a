// The list of keys that the page understands.
import { understood } from "./goto";

const keys: [string, string][] = [
  ["↑ ↓", "choose an operation"],
  ["Home End", "the first operation, the last one"],
  ["PgUp PgDn", "operations a page further up, down"],
  ["Enter", "follow it: to its element, or to the thread"],
  ["w", "to the thread that wrote the value"],
  ["r", "to a thread that races for the element"],
  ["← →", "to the pane beside"],
  ["[ ]", "the thread or element before, after"],
  ["{ }", "of an element: the write before, the next one"],
  ["Backspace", "close the pane"],
  ["K", "keep the pane when something else is followed"],
  ["< >", "move the pane"],
  ["s", "source"],
  ["x", "PTX beside the source"],
  ["b", "the buffer as a picture"],
  ["+ -", "picture larger, smaller"],
  ["f", "to the flow chart"],
  ["F", "the flow of the whole run, on a page of its own"],
  [", .", "time: the step before, the next one"],
  ["Space", "time: play, stop"],
  ["o", "where the value came from, as a tree"],
  ["v", "compare: with another thread, with another step"],
  ["P", "what the profile says"],
  ["D", "what differs between two runs"],
  ["c", "calculator"],
  ["n p", "next, previous finding"],
  ["g or /", `go to ${understood}`],
  ["t", "light, dark"],
  ["?", "this list"],
];

export const KeySheet = ({ close }: { close(): void }) => (
  <div class="overlay" onClick={close}>
    <div class="keysheet" role="dialog" aria-label="keys">
      <h2>Keys</h2>
      <dl>
        {keys.map(([k, v]) => (
          <div>
            <dt>{k.split(" ").map((x) => (x === "or" ? " or " : <kbd>{x}</kbd>))}</dt>
            <dd>{v}</dd>
          </div>
        ))}
      </dl>
    </div>
  </div>
);
