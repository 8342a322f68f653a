#!/usr/bin/env bash
# Sub-buffers: their ends and their flags count, not those of the whole buffer.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/sub_buffer.c sub_buffer
run() {
  timeout 60 "$WARPGRIND" --device=cpu --color=never "$@" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
for tool in memcheck memcheck,initcheck,racecheck,synccheck; do
  run --tool=$tool "$TEST_DIR/sub_buffer"
  check "exit_code_$tool" test $? = 99
  check "end_$tool" eval 'grep -A1 "outside of an allocation (oob-write): 4 bytes" "$TEST_DIR/err" |
    grep -q "program.cl:3 in fill"'
  check "part_$tool" has "$TEST_DIR/err" "outside of the sub-buffer that the kernel got"
  check "flags_$tool" eval 'grep -A1 "may not write (no-access): 4 bytes" "$TEST_DIR/err" |
    grep -q "program.cl:3 in fill"'
  check "all_$tool" has "$TEST_DIR/err" "ERROR SUMMARY: 5 errors from 2 places"
  check "result_$tool" has "$TEST_DIR/out" "0 1 127"
  run --tool=$tool "$TEST_DIR/sub_buffer" right
  check "right_$tool" test $? = 0
  check "silent_$tool" has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors from 0 places"
done
