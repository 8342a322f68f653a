// The origin of a value as a tree: the write of a read value, the earlier reads of the writing
// thread, and so on. Branches are opened one by one and folded again; the tree can be saved as
// text.
import { ask, key, Op, op as opFrom } from "../run/api";
import { doneText, resultSign } from "../run/atomic";
import { kindName, opElement } from "../run/format";
import { useAnswer } from "../parts/hooks";
import { Button, Empty, Failure, mainPlace, PaneFrame } from "../parts/parts";
import { saveTree, SliceTree, useSliceTree, whoText } from "./slicetree";
import { follow, Pane } from "../parts/trail";

function openOp(index: number, o: Op) {
  const { launch, thread, record, lane, step, buffer, offset, bytes } = o;
  if (launch) follow(index, { kind: "thread", launch, thread, at: { record, lane } });
  else follow(index, { kind: "step", step, buffer, offset, bytes });
}

function OpLink({ op: o, index }: { op: Op; index: number }) {
  const place = mainPlace(o.site);
  return (
    <button type="button" class="link" onClick={() => openOp(index, o)}>
      <span class={`kind k${o.kind}`}>{kindName[o.kind]}</span> <b>{opElement(o)}</b>{" "}
      {o.value !== null ? (
        <>
          {resultSign(o)} {doneText(o)}
        </>
      ) : (
        ""
      )}{" "}
      <span class="dim">
        {whoText(o)}
        {place ? `, line ${place[1]}` : ""}
      </span>
    </button>
  );
}

// above: the operations on the way from the root, so that a loop is seen.
function Node({
  tree,
  path,
  above,
  index,
}: {
  tree: SliceTree;
  path: string;
  above: string[];
  index: number;
}) {
  const o = tree.opAt(path);
  if (!o) return null;
  const b = tree.branch(path);
  const again = above.includes(key(o));
  const shut = !tree.isOpen(path);
  return (
    <li role="treeitem" aria-expanded={!shut}>
      <span class="branch">
        <button
          type="button"
          class="fold"
          disabled={again}
          aria-label={shut ? "open this branch" : "fold this branch"}
          onClick={() => tree.toggle(path)}
        >
          {again ? "↻" : shut ? "▸" : "▾"}
        </button>
        <OpLink op={o} index={index} />
      </span>
      {!shut &&
        !again &&
        (b ? (
          <>
            {b.note && <div class={`note ${/never/.test(b.note) ? "bad" : ""}`}>{b.note}</div>}
            {b.ops.length > 0 && (
              <ul role="group">
                {b.ops.map((_, i) => (
                  <Node
                    tree={tree}
                    path={`${path}_${i}`}
                    above={[...above, key(o)]}
                    index={index}
                  />
                ))}
              </ul>
            )}
          </>
        ) : (
          <div class="note">…</div>
        ))}
    </li>
  );
}

export function SlicePane({
  pane,
  index,
  active,
}: {
  pane: Extract<Pane, { kind: "slice" }>;
  index: number;
  active: boolean;
}) {
  const root = useAnswer<{ ops: any[] }>(
    () => ask("operation", { record: pane.record, lane: pane.lane }),
    [pane.record, pane.lane],
  );
  const first = root.value?.ops[0] && opFrom(root.value.ops[0]);
  const tree = useSliceTree(pane, index, first);
  const error = root.error ?? tree.error;
  return (
    <PaneFrame
      index={index}
      kind="slice"
      active={active}
      title={
        <>
          <span class="what">came from</span> {first ? `${opElement(first)}` : "…"}
        </>
      }
      sub="who wrote what was read, and what that thread had read before"
      tools={
        <>
          <Button
            icon="plus"
            label="Open one level more (+)"
            disabled={tree.busy}
            onClick={tree.deeper}
          />
          <Button icon="minus" label="Fold all (-)" onClick={tree.foldAll} />
          <Button icon="save" label="Save the tree as text" onClick={() => saveTree(tree)} />
        </>
      }
    >
      {error ? (
        <Failure text={error} />
      ) : !first ? (
        <Empty>reading…</Empty>
      ) : (
        <div class="scroll">
          <ul class="slicetree" role="tree" aria-label="where the value came from">
            <Node tree={tree} path="r" above={[]} index={index} />
          </ul>
        </div>
      )}
    </PaneFrame>
  );
}
