#!/usr/bin/env bash
# Compares src/runtime/runtime_abi.h with the headers of an installed toolkit, and api.def with the
# functions of its libcudart.
set -u
if ! nvcc=$(command -v nvcc); then
  echo "skip layout: nvcc is not installed"; echo "skip functions: nvcc is not installed"; exit 0
fi
root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
version=$(nvcc --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
build() { $CC -std=gnu11 -w -DVERSION="$version" -Isrc "$@" tests/runtime/abi_layout.c; }
build -o "$TEST_DIR/ours" || exit 1
build -DTOOLKIT -I"$root/include" -o "$TEST_DIR/theirs" || exit 1
"$TEST_DIR/ours" > "$TEST_DIR/ours.txt"
"$TEST_DIR/theirs" > "$TEST_DIR/theirs.txt"
if diff "$TEST_DIR/ours.txt" "$TEST_DIR/theirs.txt"; then
  echo "ok layout"
else
  echo "FAIL layout"
fi

library=$(find "$root/" \( -name 'libcudart.so.1[23]*' -o -name libcudart_static.a \) 2> /dev/null |
  head -n 1)
if [ -z "$library" ]; then echo "skip functions: the toolkit has no libcudart"; exit 0; fi
case $library in *.a) dynamic= ;; *) dynamic=-D ;; esac
nm $dynamic --defined-only "$library" 2> /dev/null |
  awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | grep -E '^(__)?cuda' |
  sort -u > "$TEST_DIR/theirs.txt"
sed -nE "s/^(API|NONE)(_ABI|_$version)?\((.*)\)/\3/p" src/runtime/api.def |
  sort -u > "$TEST_DIR/ours.txt"
missing=$(comm -23 "$TEST_DIR/theirs.txt" "$TEST_DIR/ours.txt")
if [ -s "$TEST_DIR/theirs.txt" ] && [ -z "$missing" ]; then
  echo "ok functions"
else
  echo "FAIL functions"; echo "not in api.def: $missing"
fi
