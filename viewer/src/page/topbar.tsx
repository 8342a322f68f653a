// The bar at the top of the page: the run, the search, and buttons for the whole run.
import { Flow } from "../flow/flowstep";
import { useMemo, useState } from "preact/hooks";
import { Buffer, RunInfo } from "../run/api";
import { Comparison } from "../compare/compare";
import { Ref } from "../picture/dots";
import { counted, fileName, many } from "../run/format";
import { goTo, longerNames, suggestions, understood } from "./goto";
import { openCalculator, openFlow, openProfile, openRuns } from "./opening";
import { Button } from "../parts/parts";

const factsOf = (run: RunInfo) =>
  [
    run.meta.device && `device ${run.meta.device}`,
    run.meta.tools
      ?.split(",")
      .map((x) => (x === "record" || x === "trace" ? "recorded" : x))
      .join(", "),
    counted(run.launches, "launch", "launches"),
    run.recorded ? counted(run.operations ?? 0, "operation") : "",
    run.meta.complete === "no" &&
      (run.live ? "still running" : "not finished: what was known when Warpgrind was ended"),
  ]
    .filter(Boolean)
    .join(" · ");

interface SearchProps {
  search: Ref<HTMLInputElement>;
  list: Buffer[];
  flow: Flow;
}
function Search({ search, list, flow }: SearchProps) {
  const [where, setWhere] = useState("");
  const go = async () => {
    const text = search.current?.value ?? "";
    const tryName = (name: string) => goTo(name, flow).catch(() => false);
    const longer = longerNames(text);
    const found = (await tryName(text)) || (longer.length === 1 && (await tryName(longer[0])));
    if (found) {
      setWhere("");
      search.current?.blur();
    } else {
      search.current?.setCustomValidity(
        longer.length > 1
          ? `which one: ${longer.join(", ")}?`
          : `nothing of that name is here. It can be ${understood}`,
      );
      search.current?.reportValidity();
      search.current?.select();
    }
  };
  return (
    <form
      class="search"
      onSubmit={(e) => {
        e.preventDefault();
        void go();
      }}
    >
      <input
        ref={search}
        value={where}
        placeholder="2:4012 or b[4013]"
        aria-label={`go to ${understood}`}
        title={`go to ${understood}`}
        spellcheck={false}
        list="names"
        autocomplete="off"
        onInput={(e) => {
          e.currentTarget.setCustomValidity("");
          setWhere(e.currentTarget.value);
        }}
      />
      <datalist id="names">
        {suggestions(where, list, flow).map((n) => (
          <option value={n} />
        ))}
      </datalist>
    </form>
  );
}

interface BarProps extends SearchProps {
  run?: RunInfo;
  comparison?: Comparison;
  choosePane(i: number): void;
  turnTheme(): void;
  turnHelp(): void;
}
export function TopBar({ run, comparison, ...p }: BarProps) {
  const facts = useMemo(() => run && factsOf(run), [run]);
  return (
    <header class="bar">
      <h1>
        <span class="logo" aria-hidden="true" />
        {run ? fileName(run.meta.program ?? run.file) : "…"}
      </h1>
      <span class="facts dim">{facts}</span>
      <Search search={p.search} list={p.list} flow={p.flow} />
      <Button icon="flow" label="The flow of the whole run (F)" onClick={openFlow} />
      {comparison && (
        <Button icon="twins" label="Compare the two runs (D)" onClick={openRuns}>
          {comparison.different ? `${many(comparison.different)} differ` : "compare"}
        </Button>
      )}
      {run?.meta.tools?.split(",").includes("profile") && (
        <Button icon="profile" label="What the profile says (P)" onClick={openProfile} />
      )}
      <Button
        icon="calculator"
        label="Calculator (c)"
        onClick={() => openCalculator(p.choosePane)}
      />
      <Button icon="sun" label="Light or dark (t)" onClick={p.turnTheme} />
      <Button icon="help" label="Keys (?)" onClick={p.turnHelp} />
    </header>
  );
}
