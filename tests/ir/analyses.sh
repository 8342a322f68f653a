#!/usr/bin/env bash
# The analyses of src/ir, compiled with sanitizers.
# timeout: 300
set -u
cd "$ROOT" || exit 1
# shellcheck disable=SC2046
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined -pthread -Isrc -I"$BUILD/gen" \
  -o "$TEST_DIR/ir_test" tests/ir/ir_test.c $(ls src/ir/*.c src/ptx/*.c src/base/*.c) -lrt ||
    { echo "FAIL build: the test program does not compile"; exit 1; }
ASAN_OPTIONS=detect_leaks=0 "$TEST_DIR/ir_test"
