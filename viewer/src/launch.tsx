// A launch: what it was given, who launched it, what was found in it. And a finding that is not about a thread.
import { useEffect, useState } from "preact/hooks";
import { Finding, Kind, LaunchInfo, Op, ask, buffers, racesOf } from "./api";
import { bufferName, duration, launchName, learnParameter, many, opElement, streamNames, streamOf, threadCount, triple, valueHex } from "./format";
import { useAnswer } from "./hooks";
import { Button, Empty, Failure, FindingCard, HostStack, PaneFrame } from "./parts";
import { Pane, follow } from "./trail";

function parameterValue(hex: string | undefined, bytes: number) {
  if (!hex) return "?";
  if (bytes > 8) return `${bytes} bytes: ${hex.toLowerCase().slice(0, 24)}${hex.length > 24 ? "…" : ""}`;
  const d = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < bytes; i++) d.setUint8(i, parseInt(hex.substr(2 * i, 2), 16));
  const whole = bytes === 8 ? String(d.getBigInt64(0, true)) : bytes === 4 ? String(d.getInt32(0, true)) : String(d.getUint16(0, true));
  const real = bytes === 4 ? d.getFloat32(0, true) : bytes === 8 ? d.getFloat64(0, true) : NaN;
  const sensible = Math.abs(real) > 1e-6 && Math.abs(real) < 1e9 && Math.abs(Number(whole)) > 1 << 20;
  return sensible ? `${Number(real.toPrecision(7))} (as bits ${valueHex(hex.toLowerCase())})` : `${whole}${Math.abs(Number(whole)) > 9 ? ` (${valueHex(hex.toLowerCase())})` : ""}`;
}

function goThread(index: number, f: { launch: number; thread: number }) { follow(index, { kind: "thread", launch: f.launch, thread: f.thread }); }

export function LaunchPane({ pane, index, active, findings }: { pane: Extract<Pane, { kind: "launch" }>; index: number; active: boolean; findings: Finding[] }) {
  const info = useAnswer<LaunchInfo>(() => ask("launch", { id: pane.launch }), [pane.launch]), [wanted, want] = useState(false);
  const races = useAnswer(() => wanted ? racesOf(pane.launch) : undefined, [wanted, pane.launch]);
  // One side of a race: a thread, of this launch or of another one that nothing orders, or a copy or set.
  const racer = (o: Op) => o.launch === 0 ? <>a {o.kind === Kind.Set ? "set" : "copy"}</> :
    <button type="button" class="link" onClick={() => follow(index, { kind: "thread", launch: o.launch, thread: o.thread, at: o })}>{o.launch === pane.launch ? "" : `launch ${o.launch}, `}thread {o.thread}</button>;
  useEffect(() => { info.value?.parameters.forEach(p => p.allocation && learnParameter(p.allocation, p.points_to)); }, [info.value]);
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
        <td>{p.allocation ? <button type="button" class="link" onClick={() => follow(index, { kind: "buffer", buffer: p.allocation, step: l.step, width: 0 })}>{bufferName(buffers.get(p.allocation), p.allocation)}</button> : parameterValue(p.value, p.bytes)}
          {p.points_to && <span class="dim"> {p.points_to}*</span>}</td></tr>)}</tbody></table>}
      <h3>Launched</h3>
      <HostStack stack={info.value.stack} />
      <h3>Findings</h3>
      {mine.length === 0 ? <p class="dim">none in this launch</p> : <div class="cards">{mine.map(f => <div class="withgo"><FindingCard finding={f} />{f.thread !== undefined && <button type="button" class="link" onClick={() => follow(index, { kind: "thread", launch: f.launch, thread: f.thread!, at: f.address ? { address: f.address, write: /write|race/.test(f.kind) } : undefined, finding: f.id })}>thread {f.thread}</button>}</div>)}</div>}
      <h3>Races, from the recording</h3>
      {!wanted ? <Button label="Look for races in this launch" onClick={() => want(true)}>look for them</Button> : races.error ? <Failure text={races.error} /> : !races.value ? <p class="dim">looking…</p> : races.value.list.length === 0 ? <p class="dim">none</p> :
        <table><tbody>{races.value.list.map(r => <tr><td>{opElement(r.first)}</td><td>{racer(r.first)} and {racer(r.second)}</td><td class="dim">{r.kind}</td><td class="dim">{r.count > 1 ? `${r.count} times` : ""}</td></tr>)}</tbody></table>}
      {wanted && races.value?.note && <p class="dim">{races.value.note}</p>}
    </div>}
  </PaneFrame>;
}

export function FindingPane({ pane, index, active, findings }: { pane: Extract<Pane, { kind: "finding" }>; index: number; active: boolean; findings: Finding[] }) {
  const f = findings.find(x => x.id === pane.finding);
  return <PaneFrame index={index} kind="finding" active={active} title={<><span class="what">finding</span> {f?.kind ?? pane.finding}</>}>
    {f ? <div class="scroll"><div class="cards"><FindingCard finding={f} open /></div>
      {f.allocation > 0 && <p><Button icon="picture" label="The buffer as a picture" onClick={() => follow(index, { kind: "buffer", buffer: f.allocation, step: 0, width: 0 })}>{bufferName(buffers.get(f.allocation), f.allocation)} as a picture</Button></p>}</div> : <Failure text="there is no such finding in this run" />}
  </PaneFrame>;
}
