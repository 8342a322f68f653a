#!/usr/bin/env bash
# timeout: 240
# The walk of the paper (docs/tutorial.md) in a browser without a window.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
for program in node chromium; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
record merge_sort --tool=memcheck,initcheck || exit 0
serve "$TEST_DIR/merge_sort.wg" || exit 1
mkdir -p "$TEST_DIR/pictures"
node tests/viewer/walk.mjs "$URL" "$TEST_DIR/pictures"
end_server
