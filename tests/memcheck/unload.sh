#!/usr/bin/env bash
# Findings of modules and contexts that are gone when the report is written.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
nvcc -w -O2 -lineinfo -arch=compute_75 -ptx -o "$TEST_DIR/kernel.ptx" \
  tests/memcheck/unload/kernel.cu || exit 1
$CC -std=gnu11 -g -Isrc -o "$TEST_DIR/host" tests/memcheck/unload/host.c -L"$BUILD/lib" \
  -l:libcuda.so.1 -Wl,--allow-shlib-undefined || exit 1
run() {
  "$WARPGRIND" --device=cpu --devices=2 --tool=memcheck --leak-check=full "$TEST_DIR/host" \
    "$TEST_DIR/kernel.ptx" "$1" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
bad() {
  run 1; [ $? = 99 ] && has "$TEST_DIR/err" "unload/kernel.cu:4" &&
    has "$TEST_DIR/err" "kernel past_the_end" && has "$TEST_DIR/err" "ERROR SUMMARY: 3 errors" &&
    ! grep -q "leak" "$TEST_DIR/err"
}
check "kernel and line are named" bad
good() { run 0 && has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors"; }
check "silent" good
