#!/usr/bin/env bash
# vload_half of every half number, vstore_half with all rounding modes, against the CPU.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
build tests/opencl/halves.c halves
timeout 100 "$WARPGRIND" --device=cpu --tool=none -q "$TEST_DIR/halves" tests/opencl/halves.cl \
  > "$TEST_DIR/out" 2>&1
check halves [ $? = 0 ]
cat "$TEST_DIR/out"
check all_right grep -qx '0 numbers differ' "$TEST_DIR/out"
