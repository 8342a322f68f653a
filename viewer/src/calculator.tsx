// The calculator: C expressions with the functions of the device.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, isStatic } from "./api";
import { useAnswer } from "./hooks";
import { errorText } from "./format";
import { Failure, PaneFrame } from "./parts";
import { withRecorded } from "./expression";
import { onTime, timeStep } from "./time";
import { useListen } from "./hooks";
import { Pane, replace } from "./trail";

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
  const text = BigInt(r.hex!).toString(2).padStart(r.bits!, "0"),
    f = fields[r.type!];
  return (
    <div class="bits" aria-label="bits">
      {[...text].map((c, i) => (
        <i
          class={`${!f ? "" : i === 0 ? "sign" : i <= f[0] ? "exponent" : "fraction"} ${(r.bits! - i) % 8 === 0 && i ? "group" : ""}`}
        >
          {c}
        </i>
      ))}
    </div>
  );
}

export function CalculatorPane({
  pane,
  index,
  active,
}: {
  pane: Extract<Pane, { kind: "calculator" }>;
  index: number;
  active: boolean;
}) {
  const [text, setText] = useState(pane.expression),
    [result, set] = useState<Result>(),
    [filter, setFilter] = useState(""),
    [used, setUsed] = useState<string[]>([]);
  useListen(onTime);
  // Letters are for the expression, not for shortcuts, as soon as the pane is there.
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (active) input.current?.focus();
  }, [active]);
  const list = useAnswer<{ functions: [string, string, string][] }>(
    () => (isStatic() ? undefined : ask("calc")),
    [],
  );
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
          {result?.error ? (
            <p class="mistake">{result.error}</p>
          ) : (
            result && (
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
            )
          )}
          <h3>Try</h3>
          <div class="tries">
            {examples.map((e) => (
              <button type="button" class="link" onClick={() => setText(e)}>
                {e}
              </button>
            ))}
          </div>
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
              {(list.value?.functions ?? [])
                .filter((f) => (f[0] + f[2]).toLowerCase().includes(filter.toLowerCase()))
                .map((f) => (
                  <tr>
                    <td>
                      <button type="button" class="link" onClick={() => setText(`${f[0]}(`)}>
                        {f[0]}
                      </button>
                    </td>
                    <td>
                      <div>{f[2]}</div>
                      <div class="dim">{[...f[1]].map((c) => letters[c]).join(", ")}</div>
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
    </PaneFrame>
  );
}
