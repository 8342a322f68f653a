#!/usr/bin/env bash
# timeout: 240
# From the picture of one buffer to that of another of unlike elements, in a browser.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/shapes" tests/viewer/shapes.cu > \
  "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"; exit 1; }
"$WARPGRIND" --device=cpu --workers=1 --record -q -o "$TEST_DIR/run.wg" "$TEST_DIR/shapes" > \
  "$TEST_DIR/out" 2>&1 || { cat "$TEST_DIR/out"; echo "FAIL recording"; exit 1; }
serve "$TEST_DIR/run.wg" || exit 1
node tests/viewer/shapes.mjs "$URL" "$TEST_DIR"
end_server
