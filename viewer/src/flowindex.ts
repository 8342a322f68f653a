// What the two flow charts need to know about all steps: worked out while the steps are read, a slice at a time, so that no task of the page takes long.
import type { FlowStep } from "./api";

// Steps in a row that repeat: from, how many steps make a turn, how many turns.
export interface Loop { first: number; length: number; turns: number }
export interface Lane { label: string; device: number }
export interface FlowIndex { names: string[]; lanes: Lane[]; laneOf: number[]; uses: Map<number, [step: number, how: number][]>; loops: Loop[] }

const SLICE = 8;          // milliseconds
const pause = () => new Promise<void>(done => { const c = new MessageChannel(); c.port1.onmessage = () => { c.port1.close(); done(); }; c.port2.postMessage(0); });
// Lets the page draw and answer keys, where a slice is over.
export function slicer() { let began = performance.now(); return async () => { if (performance.now() - began > SLICE) { await pause(); began = performance.now(); } }; }

export function loopAt(names: string[], i: number): Loop | undefined {
  const most = 12;
  let best: Loop | undefined;
  for (let n = 1; n <= most && i + 2 * n <= names.length; n++) {
    let turns = 1;
    while (i + (turns + 1) * n <= names.length) { let same = true; for (let k = 0; k < n && same; k++) same = names[i + k] === names[i + turns * n + k]; if (!same) break; turns++; }
    if (turns >= 3 && (!best || turns * n > best.turns * best.length)) best = { first: i, length: n, turns };
  }
  return best;
}

export class FlowIndexer {
  private readonly at = new Map<string, number>();
  private readonly streams = new Map<string, number>();
  readonly index: FlowIndex = { names: [], lanes: [], laneOf: [], uses: new Map(), loops: [] };
  async add(steps: FlowStep[], name: (s: FlowStep) => string) {
    const rest = slicer(), x = this.index;
    for (const s of steps) {
      const i = x.names.length, device = `${s.process}.${s.device}`, key = `${device}.${s.stream}`;
      let lane = this.at.get(key);
      if (lane === undefined) {
        const count = (this.streams.get(device) ?? 0) + 1;
        this.streams.set(device, count);
        this.at.set(key, lane = x.lanes.length);
        x.lanes.push({ label: `device ${s.device} ${s.stream ? `stream ${count}` : "default stream"}`, device: s.device });
      }
      x.names.push(name(s));
      x.laneOf.push(lane);
      for (const [b, how] of s.uses) { const l = x.uses.get(b); if (l) l.push([i, how]); else x.uses.set(b, [[i, how]]); }
      if (!(i & 255)) await rest();
    }
  }
  async findLoops() {
    const rest = slicer(), x = this.index;
    x.loops = [];
    for (let i = 0; i < x.names.length;) { const l = loopAt(x.names, i); if (l) { x.loops.push(l); i += l.turns * l.length; } else i++; await rest(); }
  }
}
