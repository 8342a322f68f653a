#!/bin/bash
# What a kernel can reach: device memory, and nothing else of its process. See docs/vgpu.md.
set -eu
. tests/lib/check.sh
program=$TEST_DIR/attack
$CC -std=gnu11 -g -O1 -Wall -Isrc -Itests -pthread -o "$program" tests/vgpu/reach/attack.c \
  -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined -ldl -lm
cd "$TEST_DIR"                          # the PTX of a kernel that failed is kept there
attack() {
  timeout 100 "$WARPGRIND" --device=cpu -q --log-file="$TEST_DIR/log" "$@" > "$TEST_DIR/out" 2> \
    "$TEST_DIR/err"
}
holds() { attack "$@" || return; tail -n 1 "$TEST_DIR/out" | grep -qx 'all checks passed'; }
attacks=$ROOT/tests/vgpu/reach/attacks.ptx
for workers in 1 4; do
  if holds --tool=none --workers=$workers "$program" "$attacks"; then echo "ok none_$workers"
  else echo "FAIL none_$workers"; grep -a . "$TEST_DIR/out" | cut -c1-200 | tail -n 20; fi
done
for size in 0 1 2; do
  attack --tool=none "$program" "$attacks" size$size && code=0 || code=$?
  check "too_large_$size" [ $code = 125 ]
done
for tool in memcheck racecheck; do
  if holds --tool=$tool --error-exitcode=0 "$program" "$attacks" checked; then echo "ok $tool"
  else echo "FAIL $tool"; grep -a . "$TEST_DIR/out" | cut -c1-200 | tail -n 20; fi
done
# From a run file: expand runs the launch in a process of its own.
for kernel in heap_freed own_names child_twice; do
  attack --tool=none --record=inputs -o in.wg "$program" "$attacks" $kernel
  check "expanded_$kernel" timeout 100 "$WARPGRIND" expand in.wg --device=cpu --launch=1 -o out.wg
done
