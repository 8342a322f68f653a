// A list of which only the rows in sight exist. Rows have one height; what is not loaded yet is asked for page by page.
import { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const LIMIT = 8_000_000;           // browsers cannot make an element much higher than this

interface Props {
  count: number; height: number; focus?: number; className?: string; label: string;
  row(index: number): ComponentChildren;
  seen?(first: number, last: number): void;
}

export function List({ count, height, focus, className, label, row, seen }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const whole = count * height, shown = Math.min(whole, LIMIT);
  const scale = shown > view.height ? Math.max(1, (whole - view.height) / Math.max(1, shown - view.height)) : 1;
  const top = view.top * scale;
  const first = Math.max(0, Math.floor(top / height) - 6), last = Math.min(count, Math.ceil((top + view.height) / height) + 6);

  useLayoutEffect(() => {
    const e = box.current!;
    const measure = () => setView(v => v.top === e.scrollTop && v.height === e.clientHeight ? v : { top: e.scrollTop, height: e.clientHeight || 600 });
    measure();
    const o = new ResizeObserver(measure);
    o.observe(e);
    return () => o.disconnect();
  }, []);
  useLayoutEffect(() => {
    const e = box.current!;
    if (focus === undefined || focus < 0) return;
    const at = focus * height / scale;
    if (at < e.scrollTop + height || at > e.scrollTop + e.clientHeight - 2 * height) e.scrollTop = Math.max(0, at - e.clientHeight / 3);
  }, [focus, count > (focus ?? 0)]);
  useEffect(() => { seen?.(first, last); }, [first, last, count]);

  const rows: JSX.Element[] = [];
  for (let i = first; i < last; i++) rows.push(<div key={i} class="row" role="listitem" style={{ height: `${height}px`, top: `${i * height - top + view.top}px` }}>{row(i)}</div>);
  return <div ref={box} class={`list ${className ?? ""}`} role="list" aria-label={label} tabIndex={-1} onScroll={e => setView({ top: e.currentTarget.scrollTop, height: e.currentTarget.clientHeight })}>
    <div class="whole" style={{ height: `${shown}px` }}>{rows}</div>
  </div>;
}
