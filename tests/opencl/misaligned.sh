#!/usr/bin/env bash
# Misaligned loads: memcheck reports them and then performs them; without it the launch fails.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build examples/opencl/example.c example
run() {
  timeout 60 "$WARPGRIND" --device=cpu --color=never "$@" "$TEST_DIR/example" \
    tests/opencl/misaligned.cl > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
run --tool=memcheck
check exit_code test $? = 99
check performed has "$TEST_DIR/out" "2 bytes 1, 4 bytes 1, 8 bytes 1"
check reported has "$TEST_DIR/err" "ERROR SUMMARY: 3 errors from 3 places"
run --tool=none
check launch_fails has "$TEST_DIR/err" "clEnqueueReadBuffer: error -5"
check named has "$TEST_DIR/err" "misaligned.cl:9, work-group (0,0,0), work-item (0,0,0)"
