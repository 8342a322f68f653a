#!/usr/bin/env bash
# Options of the driver's compiler, from fatbins and from programs.
set -u
cd "$ROOT" || exit 1
# shellcheck disable=SC2046
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined -pthread -Isrc -I"$BUILD/gen" \
  -o "$TEST_DIR/options" tests/gpumode/modules_options.c src/gpu/modules/options.c \
    src/gpu/modules/cache_hash.c $(ls src/base/*.c) -lrt || { echo "FAIL build"; exit 1; }
ASAN_OPTIONS=detect_leaks=0 "$TEST_DIR/options"
