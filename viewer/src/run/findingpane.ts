// The pane that shows a finding best.
import { Finding } from "./api";
import { Pane } from "../parts/trail";

export function findingPane(f: Finding): Pane {
  return f.thread === undefined || !f.launch
    ? { kind: "finding", finding: f.id }
    : {
        kind: "thread",
        launch: f.launch,
        thread: f.thread,
        at: f.address ? { address: f.address, write: /write|race/.test(f.kind) } : undefined,
        finding: f.id,
      };
}
