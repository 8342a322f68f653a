#!/usr/bin/env bash
# quick: yes
# src/closed with a fake of NVIDIA's library: what is patched and how often, and what is said where
# that fails. tests/closed/library.*.expected
set -u
$CC -shared -fPIC -o "$TEST_DIR/libsanitizer-public.so" tests/closed/fake_sanitizer.c || exit 1
san=
[ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
$CC -std=gnu11 -g -Wall $san -pthread -Isrc -o "$TEST_DIR/library" tests/closed/library.c \
  "$BUILD"/obj/closed/*.o \
  "$BUILD"/obj/base/*.o -ldl || exit 1
code=0
check() {
  FAKE_FAILS=$2 "$TEST_DIR/library" "$TEST_DIR/${3:-libsanitizer-public.so}" > "$TEST_DIR/$1" 2>&1
  local expected=tests/closed/library.$1.expected
  [ "${BLESS:-0}" = 1 ] && cp "$TEST_DIR/$1" "$expected"
  if diff -u "$expected" "$TEST_DIR/$1"; then echo "ok $1"; else echo "FAIL $1"; code=1; fi
}
check all ''
check subscribed s
check no_patches a
check no_instruction i
check old_library n
check no_module m
check missing '' nowhere.so
exit $code
