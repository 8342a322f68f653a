#!/usr/bin/env bash
# memcheck's finding behind an interrupt has the line, the thread and the block, on the virtual
# device and in GPU mode, where only blocks with callers are entered again.
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
program=$TEST_DIR/behind_call
build() {  # OPTION…
  tests/lib/nvcc -std=c++17 -arch=sm_75 -lineinfo -Iinclude "$@" -o "$program" \
    tests/interrupts/behind_call.cu || { echo "FAIL build"; exit 1; }
}
line=$(grep -n 'label: outside' tests/interrupts/behind_call.cu | cut -d: -f1)
finds() {  # NAME DEVICE
  check "$1.exit_code" [ "$(code "$WARPGRIND" --device="$2" --tool=memcheck "$program")" = 99 ]
  check "$1.line" has "$TEST_DIR/err" "tests/interrupts/behind_call.cu:$line"
  check "$1.block" has "$TEST_DIR/err" "thread (5,0,0) of block (4,3,3), kernel resumed kernel"
}
build
finds "${TEST_DEVICE:-cpu}" "${TEST_DEVICE:-cpu}"
[ "${TEST_DEVICE:-cpu}" = cpu ] || exit 0
. tests/gpumode/lib.sh
shared_runtime
build -cudart=shared
finds standin gpu
