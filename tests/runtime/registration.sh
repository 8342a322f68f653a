#!/usr/bin/env bash
# tests/runtime/registration.c against both shared runtimes of ours, and with a static one to
# redirect. Needs no nvcc.
set -u
one() {
  local name=$1; shift
  local exe=$TEST_DIR/$name output
  if $CC -std=gnu11 -g -O1 -w -o "$exe" tests/runtime/registration.c "$@" &&
    output=$("$WARPGRIND" --device=cpu --tool=none -q -- "$exe" 2>&1) &&
    grep -qx 'all checks passed' <<< "$output"; then echo "ok $name"
  else echo "FAIL $name"; echo "${output:-}"; fi
}
one runtime_12 -DVERSION=12 -L"$BUILD/lib/cpu" -l:libcudart.so.12 -Wl,--allow-shlib-undefined
one runtime_13 -DVERSION=13 -L"$BUILD/lib/cpu" -l:libcudart.so.13 -Wl,--allow-shlib-undefined
one static_12 -DVERSION=12 -DSTATIC
one static_13 -DVERSION=13 -DSTATIC
one static_not_pie -DVERSION=13 -DSTATIC -fno-pie -no-pie
one static_no_symbols_but_exported -DVERSION=13 -DSTATIC -rdynamic -s
