#!/usr/bin/env bash
# What the calculator runs on the device assembles.
set -u
. tests/lib/check.sh
command -v ptxas > /dev/null || { echo "ptxas is not installed"; exit 77; }
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" lib-base > "$TEST_DIR/make.log" \
  2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
san=
[ "$SAN" = 0 ] || san="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -Wall -Wextra $san -Isrc -o "$TEST_DIR/calc_ptx" tests/viewer/calc_ptx.c \
  src/view/calc_ptx.c src/view/calc_functions.c src/view/calc_value.c "$BUILD/obj/libbase.a" -lm \
  -pthread || { echo "FAIL calc_ptx: does not compile"; exit 1; }
"$TEST_DIR/calc_ptx" > "$TEST_DIR/all.ptx" 2> "$TEST_DIR/count"
check many test "$(cat "$TEST_DIR/count")" -gt 120
check assembles ptxas -arch=sm_75 -o /dev/null "$TEST_DIR/all.ptx"
