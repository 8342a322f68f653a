#!/usr/bin/env bash
# Occupancy is what the toolkit's cuda_occupancy.h computes, on all architectures.
set -u
cd "$ROOT" || exit 1
nvcc=$(command -v nvcc) || { echo "skip occupancy: nvcc is not installed"; exit 77; }
include=$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include
[ -f "$include/cuda_occupancy.h" ] || { echo "skip occupancy: no cuda_occupancy.h"; exit 77; }
$CC -std=gnu11 -O1 -w -Isrc -I"$include" -o "$TEST_DIR/test" tests/profile/occupancy_test.c ||
  { echo "FAIL occupancy: does not compile"; exit 1; }
"$TEST_DIR/test"
