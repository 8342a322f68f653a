#!/usr/bin/env bash
# No comma operator saves braces: one statement a line. clang finds them; GCC has no such warning.
# Heads of loops may have one.
set -u
command -v clang > /dev/null || { echo "skip commas: clang is not installed"; exit 77; }
flags=(-fsyntax-only -Wno-everything -Wcomma -std=gnu11 -D_GNU_SOURCE -DWARPGRIND_LIBRARY
  -DWARPGRIND_VERSION='""' -Isrc -I"$BUILD/gen" -Iinclude)
found=$(find src -name '*.c' -print0 | xargs -0 -P2 -n16 clang "${flags[@]}" 2>&1 |
  grep 'misuse of comma' | sort -u)
[ -z "$found" ] || { echo "statements joined by a comma:"; echo "$found"; exit 1; }
