#!/usr/bin/env bash
# warpgrind --tool=count on CUDA programs: the memory traffic of their lines equals its formulas.
# timeout: 300
set -u
cd "$ROOT" || exit 1
command -v nvcc >/dev/null || { echo "skip: nvcc is not installed"; exit 77; }
run() {
  local name=$1; shift
  nvcc -arch=sm_80 -lineinfo "$@" -o "$TEST_DIR/$name" "tests/count/programs/$name.cu" ||
    { echo "FAIL $name: does not compile"; return; }
  "$WARPGRIND" --device="${COUNT_DEVICE:-cpu}" --tool=count -q --json="$TEST_DIR/$name.json" \
    "$TEST_DIR/$name" > "$TEST_DIR/$name.out" 2>&1 && grep -qx cudaSuccess "$TEST_DIR/$name.out" ||
    { echo "FAIL $name: does not run"; cat "$TEST_DIR/$name.out"; return; }
  python3 tests/count/count.py "tests/count/programs/$name.cu" "$TEST_DIR/$name.json"
}
run traffic
[ "${COUNT_PROGRAMS:-}" = traffic ] || run dynamic -rdc=true -lcudadevrt
