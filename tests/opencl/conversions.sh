#!/usr/bin/env bash
# convert_T for all pairs of types and rounding modes, against the CPU's conversions.
# timeout: 120
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/conversions.c conversions
timeout 100 "$WARPGRIND" --device=cpu --tool=none -q "$TEST_DIR/conversions" \
  tests/opencl/conversions.cl > "$TEST_DIR/out" 2>&1
check conversions [ $? = 0 ]
cat "$TEST_DIR/out"
check all_pairs grep -qx '100 pairs of types, 0 differ' "$TEST_DIR/out"
