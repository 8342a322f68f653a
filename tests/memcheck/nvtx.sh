#!/usr/bin/env bash
# timeout: 300
# NVTX memory annotations: pieces of a pool are objects.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
nvcc -w -O2 -lineinfo -gencode arch=compute_75,code=compute_75 -o "$TEST_DIR/pool" \
  tests/memcheck/nvtx/pool.cu -ldl > "$TEST_DIR/nvcc" 2>&1 ||
  { grep -q nvToolsExtMem.h "$TEST_DIR/nvcc" && echo "this toolkit has no nvToolsExtMem.h" &&
    exit 77; cat "$TEST_DIR/nvcc"; exit 1; }
run() {
  "$WARPGRIND" --device=cpu --leak-check=full "${@:2}" "$TEST_DIR/pool" "$1" > "$TEST_DIR/out" 2> \
    "$TEST_DIR/err"
}
silent() {
  run good --tool=memcheck && has "$TEST_DIR/out" heard && has "$TEST_DIR/err" "0 errors" &&
    ! grep -q leak "$TEST_DIR/err"
}
check "silent" silent
finds() {
  run "$1" --tool=memcheck; [ $? = 99 ] && has "$TEST_DIR/err" "($2)" &&
    has "$TEST_DIR/err" "ERROR SUMMARY: $3 errors"
}
check "into the next piece" finds neighbour oob-write 1
check "a piece that was given back" finds freed use-after-free 5
check "after a reset" finds reset use-after-free 7
check "after the pool itself is freed" finds open use-after-free 3
none() { run good --tool=none && has "$TEST_DIR/out" "no tool"; }
check "nobody listens without the tool" none
