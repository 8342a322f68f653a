#!/usr/bin/env bash
# Built-ins of vectors, pointers and work-groups, for all types and widths, against references.
# timeout: 280
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/opencl.sh
timeout 270 "$WARPGRIND" --device=cpu --tool=none -q python3 -B tests/opencl/values.py \
  > "$TEST_DIR/out" 2> "$TEST_DIR/err"
check none_differs [ $? = 0 ]
cat "$TEST_DIR/out" "$TEST_DIR/err"
check all_tested grep -q '^[0-9]* overloads, 0 differ' "$TEST_DIR/out"
