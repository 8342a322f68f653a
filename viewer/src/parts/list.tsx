// A list of which only the rows in sight exist. Rows have one height; what is not loaded yet is
// asked for page by page.
import { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Ref } from "../picture/dots";

const LIMIT = 8_000_000; // browsers cannot make an element much higher than this

interface Props {
  count: number;
  height: number;
  focus?: number;
  className?: string;
  label: string;
  row(index: number): ComponentChildren;
  seen?(first: number, last: number): void;
}

// Where the list is scrolled to. top: in pixels of all rows; bar: where the scroll bar is.
interface View {
  top: number;
  height: number;
  bar: number;
}

// Which rows are in sight, and how to come to others.
function useScroll({ count, height }: Props, box: Ref<HTMLDivElement>) {
  const [view, setView] = useState<View>({ top: 0, height: 600, bar: 0 });
  const whole = count * height;
  const shown = Math.min(whole, LIMIT);
  const scale =
    shown > view.height ? Math.max(1, (whole - view.height) / Math.max(1, shown - view.height)) : 1;
  const top = Math.max(0, Math.min(view.top, whole - view.height));
  // A very long list is higher than its element: a pixel of the scroll bar is many. The wheel and
  // keys move by pixels all the same, and the bar follows.
  const goTo = (to: number) => {
    const e = box.current!;
    const next = Math.max(0, Math.min(to, whole - e.clientHeight));
    e.scrollTop = next / scale;
    setView({ top: next, height: e.clientHeight || 600, bar: e.scrollTop });
  };
  const onScroll = () => {
    const e = box.current;
    if (!e) return; // the event came after the list had gone
    const by = e.scrollTop - view.bar;
    const seen = { height: e.clientHeight || 600, bar: e.scrollTop };
    if (scale === 1) setView({ top: e.scrollTop, ...seen });
    else if (Math.abs(by) < 0.5) return;
    else if (Math.abs(by) < 1.5 * view.height) goTo(top + by);
    else setView({ top: e.scrollTop * scale, ...seen });
  };
  return { view, setView, shown, scale, top, goTo, onScroll };
}

// The row with the focus is brought into sight when it changes, and stays there when the list
// becomes lower.
function useFocus(
  { count, height, focus }: Props,
  box: Ref<HTMLDivElement>,
  { view, setView, scale, top, goTo }: ReturnType<typeof useScroll>,
) {
  const keepFocus = useRef(() => {});
  keepFocus.current = () => {
    const e = box.current;
    const at = (focus ?? -1) * height;
    if (e && at >= top && at + height <= top + view.height && at + height > top + e.clientHeight)
      goTo(at - e.clientHeight / 3);
  };
  useLayoutEffect(() => {
    const e = box.current!;
    const measure = () =>
      setView((v) => (v.height === e.clientHeight ? v : { ...v, height: e.clientHeight || 600 }));
    const o = new ResizeObserver(() => {
      keepFocus.current();
      measure();
    }); // it also measures at once, when the page is laid out
    o.observe(e);
    return () => o.disconnect();
  }, []);
  useLayoutEffect(() => {
    const e = box.current!;
    if (focus === undefined || focus < 0) return;
    const at = focus * height;
    if (at < top + height || at > top + e.clientHeight - 2 * height) goTo(at - e.clientHeight / 3);
  }, [focus, count > (focus ?? 0), scale > 1 ? count : 0]);
}

export function List(props: Props) {
  const { count, height, row } = props;
  const box = useRef<HTMLDivElement>(null);
  const scroll = useScroll(props, box);
  const { view, top } = scroll;
  const first = Math.max(0, Math.floor(top / height) - 6);
  const last = Math.min(count, Math.ceil((top + view.height) / height) + 6);
  useFocus(props, box, scroll);
  useEffect(() => {
    props.seen?.(first, last);
  }, [first, last, count]);

  const rows: JSX.Element[] = [];
  for (let i = first; i < last; i++)
    rows.push(
      <div
        key={i}
        class="row"
        role="listitem"
        style={{ height: `${height}px`, top: `${i * height - top + view.bar}px` }}
      >
        {row(i)}
      </div>,
    );
  return (
    <div
      ref={box}
      class={`list ${props.className ?? ""}`}
      role="list"
      aria-label={props.label}
      tabIndex={-1}
      onScroll={scroll.onScroll}
    >
      <div class="whole" style={{ height: `${scroll.shown}px` }}>
        {rows}
      </div>
    </div>
  );
}
