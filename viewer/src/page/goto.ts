// Text typed into the line at the top: finds the place that it names, and suggests completions.
import { Flow, kernelName } from "../flow/flowstep";
import { ask, Buffer, buffers, launches } from "../run/api";
import { bufferPane } from "../run/bufferpane";
import { isPlace, resolve } from "../run/expression";
import { bufferName } from "../run/format";
import { activePane, start, trail } from "../parts/trail";
import { variableBytes, variables, variablesOfKernel, variableType } from "../run/types";

// The input that the line at the top understands: 2:4012 is thread 4012 of launch 2, 2 the launch,
// b[4013] an element, b the buffer, shade the first launch of a kernel.
export const understood =
  "a thread (2:4012), an element (b[4013], s[3], p[3].vel.x, rows[2][5]), a launch (2), " +
  "a buffer (b) or a kernel";
// Opens a variable of a kernel, such as s[3] in shared memory: of the block in the active pane, or
// of the first launch of a kernel that has such a variable.
export function goToVariable(text: string, flow: Flow): boolean {
  const m = /^\s*([A-Za-z_]\w*)((?:\[\d+\])*)\s*$/.exec(text),
    here = trail()[activePane()],
    launchHere = here && "launch" in here ? here.launch : 0;
  if (!m) return false;
  const fits = variables.filter((v) => v.name === m[1] && v.address !== undefined);
  const v = fits.find((x) => x.kernel === launches.get(launchHere)?.kernel) ?? fits[0];
  if (!v) return false;
  const launch =
      launches.get(launchHere)?.kernel === v.kernel
        ? launchHere
        : (flow.steps.find((x) => x.kind === "launch" && x.kernel === v.kernel && x.recorded)
            ?.launch ?? 0),
    l = launches.get(launch),
    per = l ? l.block[0] * l.block[1] * l.block[2] : 0;
  const thread = here && here.kind === "thread" && here.launch === launch ? here.thread : 0,
    block =
      here && (here.kind === "memory" || here.kind === "phase") && here.launch === launch
        ? here.block
        : per
          ? Math.floor(thread / per)
          : 0;
  const t = variableType(v),
    dims = (v.dims ?? "")
      .split(",")
      .map(Number)
      .filter((n) => n > 0),
    index = [...m[2].matchAll(/\d+/g)].map(Number);
  if (!launch) return false;
  const space = v.space === "shared" ? 1 : 2,
    own = space === 2 && per ? thread % per : 0;
  const open = () => {
    if (!index.length && variableBytes(v, launches.get(launch)) > t.bytes) {
      start({
        kind: "phase",
        launch,
        space,
        block,
        thread: own,
        variable: variablesOfKernel(v.kernel).indexOf(v),
        phase: 0,
      });
      return;
    }
    let element = 0;
    index.forEach((n, i) => {
      element = i ? element * (dims[i] || 1) + n : n;
    });
    start({
      kind: "memory",
      launch,
      space,
      block,
      thread: own,
      address: v.address! + element * t.bytes,
      bytes: t.bytes,
    });
  };
  if (l) open();
  else
    void ask("launch", { id: launch }).then(
      (j: any) => {
        if (j.launch) launches.set(launch, j.launch);
        open();
      },
      () => {},
    );
  return true;
}
export async function goTo(text: string, flow: Flow): Promise<boolean> {
  const t = /^\s*#?(\d+)(?:\s*[:. ]\s*(\d+))?\s*$/.exec(text),
    name = text.replace(/\s+/g, "");
  const launch =
    t && flow.steps.find((x) => x.launch && x.kind === "launch" && x.number === Number(t[1]));
  if (launch) {
    if (t[2] === undefined) start({ kind: "launch", launch: launch.launch });
    else if (Number(t[2]) < launch.blocks * launch.threads)
      start({ kind: "thread", launch: launch.launch, thread: Number(t[2]) });
    else return false;
    return true;
  }
  const named = (n: string) => [...buffers.values()].find((x) => bufferName(x) === n),
    b = named(name);
  if (b) {
    start(bufferPane(b.id));
    return true;
  }
  // Names of the program come before those that a kernel has for its parameters.
  const place = /[[.*>]/.test(name) ? await resolve(name) : undefined,
    own = isPlace(place) && name.startsWith(bufferName(buffers.get(place.buffer)));
  if (!own && goToVariable(text, flow)) return true;
  if (isPlace(place)) {
    start({ kind: "element", buffer: place.buffer, offset: place.offset, bytes: place.bytes });
    return true;
  }
  const kernel =
    name &&
    flow.steps.find(
      (x) => x.launch && x.kind === "launch" && kernelName(flow.kernels[x.kernel]) === name,
    );
  if (kernel) start({ kind: "launch", launch: kernel.launch });
  return !!kernel;
}

// A buffer that is a field of a struct is known by the field's name, too: cells[882] is
// grid.cells[882], if there is no other.
export function longerNames(text: string): string[] {
  const name = text.replace(/\s+/g, "");
  const head = /^[A-Za-z_]\w*/.exec(name)?.[0];
  if (!head) return [];
  return [...buffers.values()]
    .filter((b) => !b.own && bufferName(b).endsWith(`.${head}`))
    .map((b) => bufferName(b) + name.slice(head.length))
    .slice(0, 4);
}

// Names that begin with what is typed: buffers, variables of kernels, kernels.
export function suggestions(text: string, list: Buffer[], flow: Flow): string[] {
  const typed = text.trim().toLowerCase(),
    out = new Set<string>();
  if (!/^[a-z_]/.test(typed)) return [];
  for (const n of longerNames(text)) out.add(n);
  for (const all of [
    list.map((b) => bufferName(b)),
    variables.map((v) => v.name),
    Object.values(flow.kernels).map(kernelName),
  ])
    for (const n of all) {
      if (out.size >= 12) return [...out];
      if (n.toLowerCase().startsWith(typed) && n.toLowerCase() !== typed) out.add(n);
    }
  return [...out];
}
