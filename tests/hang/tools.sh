#!/usr/bin/env bash
# A loop whose registers stay the same is found with every tool, also those that count in registers
# of their own.
set -u
cd "$ROOT" || exit 1
. tests/lib/steps.sh
host=$(ptxhost) || exit 1
{ printf '//! buffer out u32 32 zero\n//! launch frames grid=1 block=32 out\n//! fault '\
'CUDA_ERROR_LAUNCH_TIMEOUT\n'; cat tests/hang/endless_sum.ptx; } > "$TEST_DIR/kernel.ptx"
for tool in none count memcheck initcheck racecheck fpcheck synccheck all; do
  timeout 60 "$WARPGRIND" --device=cpu --tool=$tool --hang-timeout=1 --hang-action=stop "$host" \
    "$TEST_DIR/kernel.ptx" > "$TEST_DIR/$tool" 2>&1
  if grep -q 'a loop that never ends' "$TEST_DIR/$tool"; then
    echo "ok $tool"
  else
    tail -n 5 "$TEST_DIR/$tool"; echo "FAIL $tool"
  fi
done
