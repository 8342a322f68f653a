#!/usr/bin/env bash
# Images: every type, format and sampler; and a write outside of one is found.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall $san -o "$TEST_DIR/images" tests/opencl/images.c -lOpenCL -lm ||
  { echo "FAIL images: does not compile"; exit 1; }
cd tests/opencl || exit 1
run() {
  timeout 200 "$WARPGRIND" --device=cpu --color=never "$@" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
run --tool=memcheck,initcheck,racecheck,synccheck,fpcheck "$TEST_DIR/images"
check exit_code test $? = 0
grep -E '^(ok|FAIL) ' "$TEST_DIR/out"
check all test "$(grep -c '^ok ' "$TEST_DIR/out")" = 12
check silent has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors from 0 places"
run --tool=memcheck "$TEST_DIR/images" beyond
check beyond test $? = 99
check found has "$TEST_DIR/err" "Index outside of an array (oob-index): index 7"
check line has "$TEST_DIR/err" "images.cl:54 in beyond"
