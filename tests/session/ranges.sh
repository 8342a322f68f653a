#!/usr/bin/env bash
# With leaves of four ranges and of many.
set -u
for define in -DWARPGRIND_STRESS=1 -DWARPGRIND_NOTHING; do
  # shellcheck disable=SC2046
  $CC -std=gnu11 -g -O1 -Wall -Isrc -I"$BUILD/gen" $define -o "$TEST_DIR/ranges" \
    -fsanitize=address,undefined -fno-sanitize-recover=undefined tests/session/ranges.c \
    src/session/ranges.c src/session/images.c $(ls src/base/*.c) -pthread -lrt 2> "$TEST_DIR/cc" ||
    { cat "$TEST_DIR/cc"; exit 1; }
  ASAN_OPTIONS=detect_leaks=0 "$TEST_DIR/ranges" | sed "s/ranges/ranges $define/"
done
