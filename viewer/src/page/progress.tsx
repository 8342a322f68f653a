// The line at the top of the page while something takes long.
import { useEffect, useState } from "preact/hooks";
import { isStatic, isWaiting, onWaiting } from "../run/api";
import { useListen } from "../parts/hooks";

const doing: Record<string, string> = {
  thread: "reading the thread's operations",
  element: "reading the element's operations",
  writers: "looking for who wrote it",
  conflicts: "looking for who else touches it",
  races: "looking for races",
  picture: "making the picture",
  contents: "reading contents",
  watch: "making the picture",
  flow: "reading launches",
  findings: "reading findings",
  buffers: "reading buffers",
  calc: "calculating",
};
export function Progress() {
  useListen(onWaiting);
  const [text, set] = useState("");
  const waiting = isWaiting();
  useEffect(() => {
    if (!waiting) {
      set("");
      return;
    }
    let gone = false;
    const look = async () => {
      if (gone || isStatic()) return;
      try {
        const j = await (await fetch("api/progress")).json();
        const oldest = j.working.sort((a: any, b: any) => b.milliseconds - a.milliseconds)[0];
        if (!gone && oldest)
          set(`${doing[oldest.what] ?? oldest.what}: ${(oldest.milliseconds / 1000).toFixed(1)} s`);
      } catch {
        /* the next question will say so */
      }
    };
    const timer = setInterval(look, 500);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [waiting]);
  return (
    <div class={`progress ${waiting ? "on" : ""}`} role="status">
      {text && <span>{text}</span>}
    </div>
  );
}
