// Facts about all steps for the two flow charts. They are computed while the steps are read, a
// slice at a time, so that no task of the page takes long.
import type { FlowStep } from "../run/api";

// Steps in a row that repeat: from, how many steps make a turn, how many turns.
export interface Loop {
  first: number;
  length: number;
  turns: number;
}
export interface Lane {
  label: string;
  device: number;
}
export interface FlowIndex {
  names: string[];
  lanes: Lane[];
  laneOf: number[];
  uses: Map<number, [step: number, how: number][]>;
  loops: Loop[];
  order: number[];
  given: boolean; // some launch got a buffer that it did not touch, as far as is known
}

const SLICE = 5; // milliseconds
const ORDERED = 40; // a chart on the left has no room for more
// Continues in a new task of the browser.
export const pause = () =>
  new Promise<void>((done) => {
    const c = new MessageChannel();
    c.port1.onmessage = () => {
      c.port1.close();
      done();
    };
    c.port2.postMessage(0);
  });
// Lets the page draw and answer keys when a slice is over.
export function slicer() {
  let began = performance.now();
  return async () => {
    if (performance.now() - began > SLICE) {
      await pause();
      began = performance.now();
    }
  };
}

export function loopAt(names: string[], i: number): Loop | undefined {
  const most = 12;
  let best: Loop | undefined;
  for (let n = 1; n <= most && i + 2 * n <= names.length; n++) {
    let turns = 1;
    while (i + (turns + 1) * n <= names.length) {
      let same = true;
      for (let k = 0; k < n && same; k++) same = names[i + k] === names[i + turns * n + k];
      if (!same) break;
      turns++;
    }
    if (turns >= 3 && (!best || turns * n > best.turns * best.length))
      best = { first: i, length: n, turns };
  }
  return best;
}

export class FlowIndexer {
  private readonly at = new Map<string, number>();
  private readonly streams = new Map<string, number>();
  private readonly weights: number[] = [];
  readonly index: FlowIndex = {
    names: [],
    lanes: [],
    laneOf: [],
    uses: new Map(),
    loops: [],
    order: [],
    given: false,
  };
  async add(steps: FlowStep[], name: (s: FlowStep) => string) {
    const rest = slicer(),
      x = this.index;
    for (const s of steps) {
      const i = x.names.length,
        device = `${s.process}.${s.device}`,
        key = `${device}.${s.stream}`;
      let lane = this.at.get(key);
      if (lane === undefined) {
        const count = (this.streams.get(device) ?? 0) + 1;
        this.streams.set(device, count);
        this.at.set(key, (lane = x.lanes.length));
        x.lanes.push({
          label: `device ${s.device} ${s.stream ? `stream ${count}` : "default stream"}`,
          device: s.device,
        });
      }
      x.names.push(name(s));
      this.weights.push(s.kind === "launch" ? 1 : 0.2);
      x.laneOf.push(lane);
      for (const [b, how] of s.uses) {
        if (!how) x.given = true;
        const l = x.uses.get(b);
        if (l) l.push([i, how]);
        else x.uses.set(b, [[i, how]]);
      }
      if (!(i & 255)) await rest();
    }
  }
  async finish() {
    await this.findLoops();
    await this.rank();
  }
  // Ranks buffers for a chart without room for all: each next buffer is the one that tells most
  // about steps of which the previous ones tell little.
  private async rank() {
    const rest = slicer(),
      x = this.index,
      told = new Float32Array(x.names.length),
      left = new Set(x.uses.keys()),
      order: number[] = [];
    while (left.size && order.length < ORDERED) {
      let best = -1,
        most = -1;
      for (const b of left) {
        let gain = 0;
        for (const [i] of x.uses.get(b)!) gain += this.weights[i] / (1 + told[i]) ** 2;
        if (gain > most) {
          most = gain;
          best = b;
        }
        await rest();
      }
      for (const [i] of x.uses.get(best)!) told[i]++;
      left.delete(best);
      order.push(best);
    }
    x.order = order;
  }
  private async findLoops() {
    const rest = slicer(),
      x = this.index;
    x.loops = [];
    for (let i = 0; i < x.names.length;) {
      const l = loopAt(x.names, i);
      if (l) {
        x.loops.push(l);
        i += l.turns * l.length;
      } else i++;
      await rest();
    }
  }
}
