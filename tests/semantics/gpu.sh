#!/bin/bash
# Part of make check-gpu: every arithmetic form on the GPU of this machine and on the virtual
# device.
set -eu
here=tests/semantics
$CC -std=gnu11 -O1 -Wall -o "$TEST_DIR/semantics" $here/*.c -lm -ldl
"$TEST_DIR/semantics" run "$TEST_DIR/gpu.bin" || { echo "skip: no GPU"; exit 77; }
"$WARPGRIND" --device=cpu --tool=none -q -- "$TEST_DIR/semantics" run "$TEST_DIR/cpu.bin"
# Known departures are not failures.
"$TEST_DIR/semantics" compare "$TEST_DIR/gpu.bin" "$TEST_DIR/cpu.bin" 2 > "$TEST_DIR/compare" ||
  true
tail -n 1 "$TEST_DIR/compare"
grep '^DIFFERS' "$TEST_DIR/compare" | sed 's/.* rows: //; s/ ([a-z0-9 ]*)$//' |
  while IFS= read -r form; do
  grep -qxF "# differs $form" $here/golden.txt || { echo "FAIL $form"
    grep -F "  $form:" "$TEST_DIR/compare"; }
done
grep -q '^not ' "$TEST_DIR/compare" && grep '^not ' "$TEST_DIR/compare" | sed 's/^/FAIL /'
echo "ok compare"
