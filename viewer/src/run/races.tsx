// Races of all launches: the server looks for them in the background, from the moment a run is
// opened; the search can be stopped and goes on when asked.
import { useEffect, useState } from "preact/hooks";
import { RunInfo, isStatic } from "./api";
import { many } from "./format";

export interface RaceState {
  done: number;
  total: number;
  finished: boolean;
  stopped?: boolean;
}
export interface RaceSearch {
  races: Map<number, number>;
  state?: RaceState;
  tell(what: "stop" | "resume"): void;
}

export function useRaces(run: RunInfo | undefined): RaceSearch {
  const [races, setRaces] = useState(new Map<number, number>()),
    [state, setState] = useState<RaceState>(),
    [asked, setAsked] = useState(0);
  useEffect(() => {
    if (!run?.recorded || isStatic() || (run.live && run.meta.complete !== "yes")) return;
    let gone = false,
      timer = 0;
    const look = async () => {
      try {
        const j = await (await fetch("api/race_state")).json();
        if (gone) return;
        setState(j);
        setRaces((old) => (j.launches.length === old.size ? old : new Map(j.launches)));
        if (!j.finished) timer = window.setTimeout(look, 700);
      } catch {
        /* the server has ended */
      }
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [run?.recorded, run?.meta.complete, asked]);
  return {
    races,
    state,
    tell: (what) => {
      fetch(`api/race_${what}`).then(
        () => setAsked((n) => n + 1),
        () => {},
      );
    },
  };
}

export function RaceProgress({ search }: { search: RaceSearch }) {
  const s = search.state;
  if (!s || (s.finished && !s.stopped)) return <></>;
  const far = `${many(s.done)} of ${many(s.total)} launches`;
  return (
    <span class="racesearch" role="status">
      {s.stopped ? (
        <>
          the search for races was stopped after {far}{" "}
          <button type="button" class="link" onClick={() => search.tell("resume")}>
            go on
          </button>
        </>
      ) : (
        <>
          looking for races: {far}{" "}
          <button type="button" class="link" onClick={() => search.tell("stop")}>
            stop
          </button>
        </>
      )}
    </span>
  );
}
