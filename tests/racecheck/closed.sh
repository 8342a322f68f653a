#!/usr/bin/env bash
# quick: yes
# What racecheck says of closed kernels, with a device that is faked.
set -u
cd "$ROOT" || exit 1
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall $san -pthread -Isrc -o "$TEST_DIR/closed" tests/racecheck/closed.c \
  "$BUILD"/obj/base/*.o || { echo "FAIL compile"; exit 1; }
ASAN_OPTIONS=detect_leaks=0 "$TEST_DIR/closed"
