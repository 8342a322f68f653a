#!/usr/bin/env bash
# quick: yes
# The operator that the frames of a framework carry out: tests/report/frameworks.text.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wno-missing-field-initializers $san -pthread -Isrc -o \
  "$TEST_DIR/frameworks" tests/report/frameworks.c "$BUILD"/obj/report/frameworks.o \
  "$BUILD"/obj/base/*.o || { echo "FAIL frameworks: does not compile"; exit 1; }
"$TEST_DIR/frameworks" > "$TEST_DIR/text"
[ "${BLESS:-0}" != 1 ] || cp "$TEST_DIR/text" tests/report/frameworks.text
check text diff -u tests/report/frameworks.text "$TEST_DIR/text"
