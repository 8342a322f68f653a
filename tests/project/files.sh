#!/usr/bin/env bash
# quick: yes
# docs/files.md is what tools/gen-files makes of the comments at the head of the files, and comments
# of src/ name files that exist.
set -u
cd "$ROOT" || exit 1
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }
if tools/gen-files > "$TEST_DIR/files.md" && cmp -s "$TEST_DIR/files.md" docs/files.md; then
  echo "ok files"
else
  diff "$TEST_DIR/files.md" docs/files.md | head -n 10
  echo "FAIL files: docs/files.md is out of date; make it anew: tools/gen-files > docs/files.md"
fi
python3 - << 'P'
import glob
import os
import re

bad = []
paths = {p for p in glob.glob('**/*', recursive=True) if os.path.isfile(p)}
names = {os.path.basename(p) for p in paths}
for path in sorted(glob.glob('src/**/*.[ch]', recursive=True)):
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        comment = line.partition('//')[2]
        place = f'{path}:{number}'
        heading = re.match(r' --- ([\w/]+\.c)\b', comment)
        if heading:
            name = heading[1]
            if not {os.path.dirname(path) + '/' + name, 'src/' + name} & paths:
                bad.append(f'{place}: {name} is not in this folder')
        for name in re.findall(r'(?<![\w./$%{<-])([a-z_0-9/]+\.(?:c|def|py|sh))\b(?![\w(*])',
                               comment):
            base = os.path.basename(name)
            if base in names and ('/' not in name or any(p.endswith('/' + name) or p == name
                                                         for p in paths)):
                continue
            if not name.startswith(('/', '_', 'folder/')):
                bad.append(f'{place}: no file is called {name}')
for line in bad:
    print(line)
print('FAIL named files' if bad else 'ok named files')
P
