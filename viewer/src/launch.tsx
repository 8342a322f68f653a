// A launch: what it was given, who launched it, what was found in it. And a finding that is not about a thread.
import { Finding, Kind, LaunchInfo, Op, ask, buffers, isStatic, racesOf } from "./api";
import { bufferName, bytesOf, duration, launchName, many, opElement, partsText, scalarText, streamNames, streamOf, threadCount, triple, valueHex } from "./format";
import { useAnswer } from "./hooks";
import { Button, Empty, Failure, FindingCard, HostStack, PaneFrame } from "./parts";
import { memoryPane } from "./thread";
import { Pane, follow } from "./trail";
import { Type, leaves, typeNamed, types } from "./types";

// A parameter as its type says; without one its bytes.
function parameterValue(hex: string | undefined, bytes: number, t: Type | undefined) {
  if (!hex) return "?";
  const d = bytesOf(hex.toLowerCase()), typed = t?.known && t.bytes === bytes && d.byteLength === bytes ? t : undefined;
  if (!typed) return <span title="its type is not known">{bytes > 8 ? `${bytes} bytes: ${hex.toLowerCase().slice(0, 24)}${hex.length > 24 ? "…" : ""}` : valueHex(hex.toLowerCase())}</span>;
  if (typed.parts.length === 1 && !typed.parts[0].path) return <span title={valueHex(hex.toLowerCase())}>{partsText(d, typed, 0)}</span>;
  return <span class="fields">{leaves(typed, 32).map(l => <span><span class="dim">{l.path}</span> {scalarText(d, l.offset, l.scalar)}</span>)}</span>;
}

function goThread(index: number, f: { launch: number; thread: number }) { follow(index, { kind: "thread", launch: f.launch, thread: f.thread }); }

interface RaceState { done: number; total: number; finished: boolean }
export function LaunchPane({ pane, index, active, findings, races: known, raceState }: { pane: Extract<Pane, { kind: "launch" }>; index: number; active: boolean; findings: Finding[]; races: Map<number, number>; raceState?: RaceState }) {
  const info = useAnswer<LaunchInfo>(() => ask("launch", { id: pane.launch }), [pane.launch]);
  // Known from the search in the background; asked for only when that has found some here, or when there is none.
  const wanted = isStatic() || !!known.get(pane.launch);
  const races = useAnswer(() => wanted ? racesOf(pane.launch) : undefined, [wanted, pane.launch]);
  // One side of a race: a thread, of this launch or of another one that nothing orders, or a copy or set.
  const racer = (o: Op) => o.launch === 0 ? <>a {o.kind === Kind.Set ? "set" : "copy"}</> :
    <button type="button" class="link" onClick={() => follow(index, { kind: "thread", launch: o.launch, thread: o.thread, at: o })}>{o.launch === pane.launch ? "" : `launch ${o.launch}, `}thread {o.thread}</button>;
  const mine = findings.filter(f => f.launch === pane.launch), l = info.value?.launch, total = l ? threadCount(l) : 0;
  return <PaneFrame index={index} kind="launch" active={active} title={<><span class="what">launch</span> {l ? launchName(l) : "…"}</>} sub={l?.readable}>
    {info.error ? <Failure text={info.error} /> : !info.value || !l ? <Empty>reading…</Empty> : <div class="scroll">
      <dl>
        <dt>grid</dt><dd>{triple(l.grid)} blocks of {triple(l.block)}: {many(total)} threads</dd>
        <dt>where</dt><dd title={info.value.stream}>{streamNames.get(streamOf.get(pane.launch) ?? 0) ?? info.value.stream}, device {l.device}{[...buffers.values()].some(b => b.process !== l.process) ? `, process ${l.process}` : ""}{info.value.shared ? `, ${info.value.shared} bytes of dynamic shared memory` : ""}</dd>
        {info.value.begin_ns !== undefined && info.value.end_ns !== undefined && <><dt>ran</dt><dd>{duration(info.value.end_ns - info.value.begin_ns)}, from {duration(Math.max(0, info.value.begin_ns - info.value.time_ns))} after it was asked for</dd></>}
        <dt>thread</dt><dd><form class="inline" onSubmit={e => { e.preventDefault(); const n = Number(new FormData(e.currentTarget).get("n")); if (n >= 0 && n < total) goThread(index, { launch: pane.launch, thread: n }); }}>
          <input name="n" type="number" min={0} max={total - 1} defaultValue="0" aria-label="number of a thread" /><button class="button">open</button></form></dd>
      </dl>
      <h3>Parameters</h3>
      {info.value.parameters.length === 0 ? <p class="dim">not recorded</p> : <table><tbody>{info.value.parameters.map(p => <tr>
        <td class="dim num">{p.number}</td>
        <td>{p.name ?? ""}</td>
        <td>{p.allocation ? <button type="button" class="link" onClick={() => follow(index, { kind: "buffer", buffer: p.allocation, step: l.step, width: 0 })}>{bufferName(buffers.get(p.allocation), p.allocation)}</button> : parameterValue(p.value, p.bytes, (p.type_id ? types.get(p.type_id) : undefined) ?? typeNamed(p.type))}</td><td class="dim">{p.type ?? (p.points_to ? `${p.points_to}*` : "")}{p.type && !p.type_id && p.bytes > 8 ? <span title="compile the host code with -g"> (fields need -g)</span> : ""}</td></tr>)}</tbody></table>}
      <h3>Launched</h3>
      <HostStack stack={info.value.stack} />
      <h3>Findings</h3>
      {mine.length === 0 ? <p class="dim">none in this launch</p> : <div class="cards">{mine.map(f => <div class="withgo"><FindingCard finding={f} />{f.thread !== undefined && <button type="button" class="link" onClick={() => follow(index, { kind: "thread", launch: f.launch, thread: f.thread!, at: f.address ? { address: f.address, write: /write|race/.test(f.kind) } : undefined, finding: f.id })}>thread {f.thread}</button>}</div>)}</div>}
      <h3>Races, from the recording</h3>
      {!wanted ? <p class="dim">{raceState && !raceState.finished ? `looking: ${many(raceState.done)} of ${many(raceState.total)} launches` : "none"}</p> : races.error ? <Failure text={races.error} /> : !races.value ? <p class="dim">looking…</p> : races.value.list.length === 0 ? <p class="dim">none</p> :
        <table><tbody>{races.value.list.map(r => <tr><td>{r.first.space ? <button type="button" class="link" onClick={() => { const p = memoryPane(r.first); if (p) follow(index, p); }}>{opElement(r.first)}</button> : opElement(r.first)}</td><td>{racer(r.first)} and {racer(r.second)}</td><td class="dim">{r.kind}</td><td class="dim">{r.count > 1 ? `${r.count} times` : ""}</td></tr>)}</tbody></table>}
      {wanted && races.value?.note && <p class="dim">{races.value.note}</p>}
    </div>}
  </PaneFrame>;
}

export function FindingPane({ pane, index, active, findings }: { pane: Extract<Pane, { kind: "finding" }>; index: number; active: boolean; findings: Finding[] }) {
  const f = findings.find(x => x.id === pane.finding);
  return <PaneFrame index={index} kind="finding" active={active} title={<><span class="what">finding</span> {f?.kind ?? pane.finding}</>}>
    {f ? <div class="scroll"><div class="cards"><FindingCard finding={f} open go={o => follow(index, { kind: "thread", launch: o.launch, thread: o.thread, at: { record: o.record, lane: o.lane } })} /></div>
      {f.allocation > 0 && <p><Button icon="picture" label="The buffer as a picture" onClick={() => follow(index, { kind: "buffer", buffer: f.allocation, step: 0, width: 0 })}>{bufferName(buffers.get(f.allocation), f.allocation)} as a picture</Button></p>}</div> : <Failure text="there is no such finding in this run" />}
  </PaneFrame>;
}
