#!/usr/bin/env bash
# Kernels of which one block is executed on the host: those without races in shared memory are known
# as such, and no other is.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -O3 -ptx -arch=compute_80 -o "$TEST_DIR/rehearsal.ptx" \
  tests/racecheck/rehearsal.cu || { echo "FAIL nvcc"; exit 1; }
. tests/lib/session.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall $san -pthread -Isrc -o "$TEST_DIR/rehearsal" \
  tests/racecheck/rehearsal.c "${SESSION_OBJS[@]}" \
  2> "$TEST_DIR/cc" || { echo "FAIL compile"; cat "$TEST_DIR/cc"; exit 1; }
ASAN_OPTIONS=detect_leaks=0 timeout 120 "$TEST_DIR/rehearsal" "$TEST_DIR/rehearsal.ptx" ||
  echo "FAIL exit code $?"
