// The link that opens an editor at a line of the source, and the choice of the editor.
// askForLink: a link of the user's own; undefined: none that may be opened.
import { chooseEditor, editorLink, editors, Icon, keepOwnEditor, ownEditor } from "../parts/parts";

function askForLink(): string | undefined {
  const link = prompt(
    "The link that opens your editor; {path} and {line} are filled in",
    ownEditor(),
  );
  return link && /^[a-z][a-z0-9+.-]*:/i.test(link) && !/^(javascript|data|vbscript):/i.test(link)
    ? link
    : undefined;
}

export function EditorLink({
  path,
  line,
  chosen,
  setChosen,
}: {
  path: string;
  line: number;
  chosen: string;
  setChosen(name: string): void;
}) {
  return (
    <>
      <select
        class="editors"
        aria-label="the editor that links open"
        value={chosen}
        onChange={(e) => {
          const name = e.currentTarget.value;
          if (name === "own") {
            const link = askForLink();
            if (!link) {
              e.currentTarget.value = chosen;
              return;
            }
            keepOwnEditor(link);
          }
          chooseEditor(name);
          setChosen(name);
        }}
      >
        {Object.entries(editors).map(([k, [name]]) => (
          <option value={k}>{name}</option>
        ))}
      </select>
      <a
        class="button"
        href={editorLink(path, line)}
        title={`Open the editor at this line (${editors[chosen][0]})`}
      >
        <Icon name="edit" />
        editor
      </a>
    </>
  );
}
