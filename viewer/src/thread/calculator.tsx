// The calculator: C expressions with the functions of the device.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, isStatic } from "../run/api";
import { useAnswer } from "../parts/hooks";
import { classes, errorText } from "../run/format";
import { Failure, PaneFrame } from "../parts/parts";
import { withRecorded } from "../run/expression";
import { onTime, timeStep } from "../run/time";
import { useListen } from "../parts/hooks";
import { Pane, replace } from "../parts/trail";

interface Result {
  error?: string;
  type?: string;
  value?: string;
  exact?: string;
  hex?: string;
  bits?: number;
  notes?: string;
  device?: string;
}
const examples = [
  "INT_MIN - 1",
  "__int_as_float(0x7f800001)",
  "__fadd_ru(1.0f, 1e-10f)",
  "__float2half_rn(65519.0f)",
  "__fdividef(1.0f, 2e38f)",
  "__sinf(1e5f)",
  "(int)sqrtf(143.0f * 143.0f)",
  "__byte_perm(0x11223344, 0x55667788, 0x0246)",
];
const letters: Record<string, string> = {
  i: "int",
  u: "unsigned",
  l: "long long",
  v: "unsigned long long",
  h: "half",
  b: "bfloat16",
  f: "float",
  d: "double",
};
const fields: Record<string, [number, number]> = {
  half: [5, 10],
  bfloat16: [8, 7],
  float: [8, 23],
  double: [11, 52],
};

function Bits({ r }: { r: Result }) {
  const text = BigInt(r.hex!).toString(2).padStart(r.bits!, "0");
  const f = fields[r.type!];
  return (
    <div class="bits" aria-label="bits">
      {[...text].map((c, i) => (
        <i
          class={classes(
            f && (i === 0 ? "sign" : i <= f[0] ? "exponent" : "fraction"),
            (r.bits! - i) % 8 === 0 && i > 0 && "group",
          )}
        >
          {c}
        </i>
      ))}
    </div>
  );
}

interface CalculatorProps {
  pane: Extract<Pane, { kind: "calculator" }>;
  index: number;
  active: boolean;
}

// The result of an expression, and the recorded values that it used.
function useResult(text: string, index: number) {
  const [result, set] = useState<Result>();
  const [used, setUsed] = useState<string[]>([]);
  useEffect(() => {
    if (!text.trim()) {
      set(undefined);
      return;
    }
    let gone = false;
    const timer = setTimeout(
      () =>
        withRecorded(text)
          .then((e) => {
            if (!gone) setUsed(e.used);
            return ask<Result>("calc", { expression: e.text });
          })
          .then(
            (r) => {
              if (!gone) {
                set(r);
                replace(index, { kind: "calculator", expression: text }, false);
              }
            },
            (e) => {
              if (!gone) set({ error: errorText(e) });
            },
          ),
      120,
    );
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [text, timeStep()]);
  return { result, used };
}

function ResultText({ result, used }: { result?: Result; used: string[] }) {
  if (!result) return <></>;
  if (result.error) return <p class="mistake">{result.error}</p>;
  return (
    <div class="result">
      <div class="big">
        <span class="what">{result.type}</span> {result.value}
      </div>
      <div class="dim">
        {result.hex}
        {result.exact ? ` · ${result.exact}` : ""}
      </div>
      {used.length > 0 && <p class="dim">recorded: {used.join(", ")}</p>}
      <Bits r={result} />
      {result.notes && <p class="notes">{result.notes}</p>}
      <p class="dim">computed by {result.device}</p>
    </div>
  );
}

type DeviceFunction = [name: string, parameters: string, what: string];
interface FunctionsProps {
  functions: DeviceFunction[];
  choose(text: string): void;
}
function Functions({ functions, choose }: FunctionsProps) {
  const [filter, setFilter] = useState("");
  return (
    <>
      <h3>
        Functions{" "}
        <input
          class="filter"
          placeholder="filter"
          aria-label="filter the functions"
          value={filter}
          onInput={(e) => setFilter(e.currentTarget.value)}
        />
      </h3>
      <table>
        <tbody>
          {functions
            .filter(([name, , what]) => (name + what).toLowerCase().includes(filter.toLowerCase()))
            .map(([name, parameters, what]) => (
              <tr>
                <td>
                  <button type="button" class="link" onClick={() => choose(`${name}(`)}>
                    {name}
                  </button>
                </td>
                <td>
                  <div>{what}</div>
                  <div class="dim">{[...parameters].map((c) => letters[c]).join(", ")}</div>
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </>
  );
}

export function CalculatorPane({ pane, index, active }: CalculatorProps) {
  const [text, setText] = useState(pane.expression);
  useListen(onTime);
  // Letters are for the expression, not for shortcuts, as soon as the pane is there.
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (active) input.current?.focus();
  }, [active]);
  const list = useAnswer<{ functions: DeviceFunction[] }>(
    () => (isStatic() ? undefined : ask("calc")),
    [],
  );
  const { result, used } = useResult(text, index);
  useEffect(() => setText(pane.expression), [pane.expression]);
  return (
    <PaneFrame
      index={index}
      kind="calculator"
      active={active}
      title={<span class="what">calculator</span>}
      sub="C expressions with the device's functions, and recorded values: a[4013], p[3].vel.x"
    >
      {isStatic() ? (
        <Failure text="The calculator needs warpgrind view: this page has no server." />
      ) : (
        <div class="scroll">
          <input
            ref={input}
            class="expression"
            spellcheck={false}
            placeholder="INT_MIN - 1"
            aria-label="expression"
            value={text}
            onInput={(e) => setText(e.currentTarget.value)}
          />
          <ResultText result={result} used={used} />
          <h3>Try</h3>
          <div class="tries">
            {examples.map((e) => (
              <button type="button" class="link" onClick={() => setText(e)}>
                {e}
              </button>
            ))}
          </div>
          <Functions functions={list.value?.functions ?? []} choose={setText} />
        </div>
      )}
    </PaneFrame>
  );
}
