#!/usr/bin/env bash
# timeout: 300
# The page of a profiled run: advice, lines with their measures, PTX, pictures; with a server and
# without.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
. tests/lib/check.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -g -O2 -lineinfo -arch=compute_75 -o "$TEST_DIR/profiled" \
  tests/viewer/profiled.cu > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"
  echo "FAIL nvcc"; exit 1; }
"$WARPGRIND" profile --device=cpu -q -o "$TEST_DIR/run.wg" "$TEST_DIR/profiled" > "$TEST_DIR/out" \
  2> "$TEST_DIR/err" || { cat "$TEST_DIR/err"; echo "FAIL profiling"; exit 1; }
serve "$TEST_DIR/run.wg" || exit 1
node tests/viewer/profiled.mjs "$URL" "$TEST_DIR/page.png"
end_server
