#!/usr/bin/env bash
# What the page says of a module's variables before a kernel has touched them.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/variables" \
  tests/viewer/variables.cu > "$TEST_DIR/nvcc.log" 2>&1 ||
  { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"; exit 1; }
"$WARPGRIND" --device=cpu --record -q -o "$TEST_DIR/run.wg" "$TEST_DIR/variables" > \
  "$TEST_DIR/out" 2>&1 || { cat "$TEST_DIR/out"; echo "FAIL recording"; exit 1; }
serve "$TEST_DIR/run.wg" || exit 1
python3 tests/viewer/variables.py "$URL"
end_server
