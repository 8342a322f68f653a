#!/bin/bash
# Every arithmetic form on the virtual device, compared with what an H200 computed.
# timeout: 300
set -eu
here=tests/semantics
$CC -std=gnu11 -O1 -Wall -o "$TEST_DIR/semantics" $here/*.c -lm -ldl
"$WARPGRIND" --device=cpu --tool=none -q -- "$TEST_DIR/semantics" check $here/golden.txt \
  $here/golden-approx.bin > "$TEST_DIR/check" || {
  tail -n 40 "$TEST_DIR/check"; echo "FAIL forms: $(tail -n 1 "$TEST_DIR/check")"; exit 1; }
tail -n 1 "$TEST_DIR/check"
echo "ok forms"
"$WARPGRIND" --device=cpu --tool=none -q -- "$TEST_DIR/semantics" diverged $here/golden.txt \
  $here/golden-approx.bin > "$TEST_DIR/check" || {
  tail -n 40 "$TEST_DIR/check"; echo "FAIL diverged: $(tail -n 1 "$TEST_DIR/check")"; exit 1; }
tail -n 1 "$TEST_DIR/check"
echo "ok diverged"
# The test can fail: a wrong golden line must be noticed.
sed 's/^[0-9a-f]*\( add\.u32\)$/0123456789abcdef\1/' $here/golden.txt > "$TEST_DIR/wrong"
if "$WARPGRIND" --device=cpu --tool=none -q -- "$TEST_DIR/semantics" check "$TEST_DIR/wrong" \
  $here/golden-approx.bin > "$TEST_DIR/check"; then
  echo "FAIL notices: a wrong hash of add.u32 was not noticed"; exit 1
fi
grep -q 'DIFFERS from the GPU: add.u32' "$TEST_DIR/check"
echo "ok notices"
