#!/usr/bin/env bash
# quick: yes
# The checksum of pages of any length (checksum.c).
set -u
. tests/lib/check.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" lib-store lib-base > \
  "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
san=
[ "$SAN" = 0 ] || san="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -O1 -Wall -Wextra $san -Isrc -o "$TEST_DIR/checksum" tests/runfile/checksum.c \
  "$BUILD/obj/libstore.a" "$BUILD/obj/libbase.a" -lsqlite3 -pthread ||
  { echo "FAIL checksum: does not compile"; exit 1; }
check checksum "$TEST_DIR/checksum"
