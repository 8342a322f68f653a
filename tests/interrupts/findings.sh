#!/usr/bin/env bash
# A failed wg_assert is a finding where a tool runs: with its line, thread and values, in words and
# as JSON. Without a tool it goes to standard error.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
program=$TEST_DIR/findings
tests/lib/nvcc -std=c++17 -arch=sm_75 -lineinfo -Iinclude -Werror all-warnings \
  -Xcompiler -Wall,-Werror -o "$program" \
  tests/interrupts/findings.cu || { echo "FAIL build"; exit 1; }
line=$(grep -n 'label: assertion' tests/interrupts/findings.cu | cut -d: -f1)
device=${TEST_DEVICE:-cpu}
check exit_code [ "$(code "$WARPGRIND" --device="$device" --tool=memcheck \
  --json="$TEST_DIR/json" "$program")" = 99 ]
check words has "$TEST_DIR/err" \
  "assertion failed: a[i] < n; a[i], n = 30, 30; in 2 threads"
check line has "$TEST_DIR/err" "tests/interrupts/findings.cu:$line"
check thread has "$TEST_DIR/err" "thread (30,0,0) of block (0,0,0)"
check json has "$TEST_DIR/json" '"kind":"assert"'
check without_tool [ "$(code "$WARPGRIND" --device="$device" --tool=none -q "$program")" = 0 ]
check said has "$TEST_DIR/err" "assertion failed in 2 threads of kernel kernel(int const*, int)"
