#!/usr/bin/env bash
# Buffers that a kernel uses while the host has them mapped.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/mapped.c mapped
run() {
  timeout 60 "$WARPGRIND" --device=cpu --color=never "$@" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
run --tool=memcheck "$TEST_DIR/mapped"
check exit_code test $? = 99
check reads has "$TEST_DIR/err" "Read from a buffer that kernels may not read (no-access): 4 bytes"
check writes has "$TEST_DIR/err" "Write to a buffer that kernels may not write (no-access): 4 bytes"
check places has "$TEST_DIR/err" "errors from 2 places"
check writing has "$TEST_DIR/err" "copy is enqueued while its argument in is mapped for writing"
run --tool=memcheck "$TEST_DIR/mapped" right
check right test $? = 0
check silent has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors from 0 places"
