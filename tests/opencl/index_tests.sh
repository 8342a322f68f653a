#!/usr/bin/env bash
# Indices outside of arrays are reported as often as tests/opencl/index_tests.cl says, whatever runs
# the kernel and whichever tools run with memcheck.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build examples/opencl/example.c example
# "// 102" at the end of line 17: 102 times there
awk 'match($0, /\/\/ [0-9]+$/) { print NR, substr($0, RSTART + 3) }' tests/opencl/index_tests.cl \
  > "$TEST_DIR/expected"
compare() {
  sed -nE 's/^==[0-9]+== ([0-9]+) times: oob-index at [^:]*:([0-9]+) in .*/\2 \1/p' \
    "$TEST_DIR/err" | sort -n | diff "$TEST_DIR/expected" -
}
run() {
  local name=$1
  shift
  timeout 100 "$WARPGRIND" --device=cpu --color=never "$@" "$TEST_DIR/example" \
    tests/opencl/index_tests.cl > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  check "$name" compare
}
run interpreted --jit=off
run compiled --jit=always
run with_initcheck --tool=memcheck,initcheck
run with_all_tools --tool=all --jit=always
WARPGRIND_REGIONS=no run one_by_one --jit=off
check nothing_lost has "$TEST_DIR/err" "ERROR SUMMARY: 1245 errors from 10 places"
