#!/usr/bin/env bash
# timeout: 600
# Wrong use of interrupts: one sentence that says what is wrong and where (says:), and the error
# that the program gets (prints:).
set -u
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
. tests/lib/steps.sh
arch() { local own; own=$(setting arch); echo "${own:--arch=sm_75 -lineinfo}"; }
right() {  # PROGRAM
  # shellcheck disable=SC2046
  timeout 60 "$WARPGRIND" --device="${TEST_DEVICE:-cpu}" --tool=none -q $(setting options) "$1" > \
    "$TEST_DIR/out" 2> "$TEST_DIR/err"
  local code=$? expected said
  sed -i "s|$ROOT/||g" "$TEST_DIR/err"
  expected=$(setting exit)
  [ "$code" = "${expected:-0}" ] || { echo "exit code $code"; cat "$TEST_DIR/err"; return 1; }
  setting prints | diff - "$TEST_DIR/out" || return 1
  said=$(setting says)
  [ -z "$said" ] || has "$TEST_DIR/err" "$said"
}
all() {  # SUFFIX OPTION…: of tests, and of nvcc
  local suffix=$1 name
  shift
  for TEST_FILE in tests/interrupts/errors/*.cu; do
    name=$(basename "$TEST_FILE" .cu)
    [ -z "${TEST_ONLY:-}" ] || [ "$TEST_ONLY" = "$name" ] || continue
    [ "$suffix${TEST_DEVICE:-cpu}" = cpu ] || [ "$(setting device)" != cpu ] || continue
    # shellcheck disable=SC2046
    tests/lib/nvcc -std=c++17 -Iinclude $(arch) "$@" $(setting nvcc) \
      -o "$TEST_DIR/$name$suffix" "$TEST_FILE" || { echo "FAIL $name.build"; continue; }
    check "$name$suffix" right "$TEST_DIR/$name$suffix"
  done
}
machine_code() {  # OPTION…: without PTX the program runs on a GPU, and is told
  tests/lib/nvcc -std=c++17 -lineinfo -Iinclude -gencode arch=compute_90,code=sm_90 "$@" \
    -o "$TEST_DIR/no_ptx.gpu" tests/interrupts/errors/no_ptx.cu
  "$WARPGRIND" --device=gpu --tool=none -q "$TEST_DIR/no_ptx.gpu" > "$TEST_DIR/out" 2> \
    "$TEST_DIR/err"
  check machine_code_is_named has "$TEST_DIR/err" \
    "code that calls interrupt f (its handler is at tests/interrupts/errors/no_ptx.cu:12) cannot be\
 suspended, and its calls give their defaults: there is no PTX, only machine code for sm_90"
}
all ""
[ "${TEST_DEVICE:-cpu}" = cpu ] || { machine_code; exit 0; }
. tests/gpumode/lib.sh  # once more with the virtual device as the driver
shared_runtime
all .gpu -cudart=shared
machine_code -cudart=shared
