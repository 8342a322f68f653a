#!/usr/bin/env bash
# timeout: 900
# Thrust's sort, scan, reduction and unique have no races, alone or with other tools. The compiler's
# options are those of tests/gpu/identity.sh, so that the program is compiled once.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -O3 -lineinfo -gencode arch=compute_90,code=compute_90 -I tests/gpu/programs -o \
  "$TEST_DIR/sort_scan" tests/gpu/programs/sort_scan.cu -std=c++17 || exit 1
silent() {
  "$WARPGRIND" --device=cpu --tool="$1" "$TEST_DIR/sort_scan" > "$TEST_DIR/$1.out" 2> \
    "$TEST_DIR/$1.err" && has "$TEST_DIR/$1.err" "ERROR SUMMARY: 0 errors"
}
for tool in none racecheck; do check $tool silent $tool; done
check same_output cmp "$TEST_DIR/none.out" "$TEST_DIR/racecheck.out"
