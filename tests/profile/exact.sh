#!/usr/bin/env bash
# Sectors and wavefronts are exact: what the host computes for 22 patterns, five sizes of elements
# and blocks of several shapes, with the instructions of sm_75 and of sm_90.
# timeout: 600
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "skip exact: nvcc is not installed"; exit 77; }
for arch in 75 90; do
  tests/lib/nvcc -w -std=c++17 -O2 -lineinfo -gencode arch=compute_$arch,code=compute_$arch \
    -o "$TEST_DIR/exact$arch" tests/profile/exact.cu ||
    { echo "FAIL exact: does not compile"; exit 1; }
done
runs="64x2-75 16x8-90 20x3-90"
[ "${TEST_SIZE:-}/${TEST_DEVICE:-cpu}" = usual/cpu ] || runs+=" 64x2-90 16x8-75 48x1-90"
for run in $runs; do
  shape=${run%-*} d=$TEST_DIR/$run
  mkdir -p "$d"
  timeout 300 "$WARPGRIND" --device="${TEST_DEVICE:-cpu}" --tool=profile -q --json="$d/json" \
    --log-file="$d/log" -- "$TEST_DIR/exact${run#*-}" $shape > "$d/out" 2>&1 ||
    { tail -n 3 "$d/out" "$d/log"; echo "FAIL $run: exit code $?"; continue; }
  python3 tests/profile/exact.py $run "$d/out" "$d/json"
done
