#!/usr/bin/env bash
# The OpenCL platform call by call, with all tools: everything works, and nothing is reported.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/api.c api
cd tests/opencl || exit 1
tools=memcheck,initcheck,racecheck,synccheck,fpcheck
timeout 200 "$WARPGRIND" --device=cpu --tool=$tools "$TEST_DIR/api" api.cl > "$TEST_DIR/out" \
  2> "$TEST_DIR/err"
check exit_code test $? = 0
grep -E '^(ok|FAIL) ' "$TEST_DIR/out"
check printf has "$TEST_DIR/out" "work-item 1 of 4: 1.50 end"
check silent has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors from 0 places"
check checked has "$TEST_DIR/err" "launches (100%) of 11 kernels"
# The second run finds what the first has compiled: it works without a compiler.
WARPGRIND_OPENCL_CLANG=/nonexistent timeout 200 "$WARPGRIND" --device=cpu --tool=memcheck \
  "$TEST_DIR/api" api.cl > "$TEST_DIR/out" 2> "$TEST_DIR/err"
check cached eval 'grep -q "^ok arguments$" "$TEST_DIR/out"'
rm -rf "$TEST_DIR/cache"
WARPGRIND_OPENCL_CLANG=/nonexistent timeout 200 "$WARPGRIND" --device=cpu --tool=none \
  "$TEST_DIR/api" api.cl > "$TEST_DIR/out" 2> "$TEST_DIR/err"
check missing_compiler has "$TEST_DIR/err" "apt-get install clang-19 libclc-19"
