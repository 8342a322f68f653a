#!/usr/bin/env bash
# timeout: 240
# Where a value came from as a tree, conditions over recorded values, panes that are kept and moved,
# values under the mouse.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/compare" tests/viewer/compare.cu \
  > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"; exit 1; }
"$WARPGRIND" --device=cpu --workers=1 --record -q -o "$TEST_DIR/run.wg" "$TEST_DIR/compare" odd > \
  "$TEST_DIR/out" 2> "$TEST_DIR/err" || { cat "$TEST_DIR/err"; echo "FAIL recording"; exit 1; }
serve "$TEST_DIR/run.wg" || exit 1
node tests/viewer/paths.mjs "$URL" "$TEST_DIR"
end_server
