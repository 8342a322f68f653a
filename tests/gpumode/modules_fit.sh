#!/usr/bin/env bash
# Kernels with checks in them: registers, threads, shared memory and occupancy against the
# original's.
set -u
cd "$ROOT" || exit 1
# shellcheck disable=SC2046
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined -pthread -Isrc -I"$BUILD/gen" \
  -o "$TEST_DIR/fit" tests/gpumode/modules_fit.c src/gpu/modules/fit.c \
    $(ls src/base/*.c src/ptx/*.c) -lrt -lm || { echo "FAIL build"; exit 1; }
ASAN_OPTIONS=detect_leaks=0 "$TEST_DIR/fit"
