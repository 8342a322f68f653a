#!/usr/bin/env bash
# Sectors and wavefronts are exact: what the host computes for 18 patterns, five sizes of elements
# and blocks of several shapes.
# timeout: 600
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "skip exact: nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -std=c++17 -O2 -lineinfo -gencode arch=compute_75,code=compute_75 \
  -o "$TEST_DIR/exact" tests/profile/exact.cu || { echo "FAIL exact: does not compile"; exit 1; }
for shape in 64x2 16x8 48x1 20x3; do
  d=$TEST_DIR/$shape
  mkdir -p "$d"
  timeout 300 "$WARPGRIND" --device="${TEST_DEVICE:-cpu}" --tool=profile -q --json="$d/json" \
    --log-file="$d/log" -- "$TEST_DIR/exact" $shape > "$d/out" 2>&1 ||
    { tail -n 3 "$d/out" "$d/log"; echo "FAIL $shape: exit code $?"; continue; }
  python3 tests/profile/exact.py $shape "$d/out" "$d/json"
done
