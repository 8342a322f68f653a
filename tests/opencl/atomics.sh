#!/usr/bin/env bash
# The atomics of OpenCL C 2.0 and 3.0.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/atomics.c atomics
timeout 100 "$WARPGRIND" --device=cpu --tool=memcheck,racecheck,synccheck "$TEST_DIR/atomics" \
  > "$TEST_DIR/out" 2> "$TEST_DIR/err"
check exit_code test $? = 0
cat "$TEST_DIR/out"
check silent has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors from 0 places"
