#!/usr/bin/env bash
# quick: yes
# golden/NAME.ptx prints as golden/NAME.expected; bad/NAME.ptx is refused with the text of
# bad/NAME.expected. BLESS=1 (tests/run --bless) rewrites the expected texts.
set -u
cd "$(dirname "$0")" || exit 1
WARPGRIND=$(realpath "${WARPGRIND:-../../build/warpgrind}")
work=$(realpath "${TEST_DIR:-$(mktemp -d)}")

# expect NAME: compares $work/out with NAME.expected
expect() {
  [ "${BLESS:-0}" = 1 ] && cp "$work/out" "$1.expected"
  if diff -u "$1.expected" "$work/out" > "$work/diff" 2>&1; then
    echo "ok $1"
  else
    cat "$work/diff"; echo "FAIL $1"
  fi
}

for file in golden/*.ptx; do
  if ! "$WARPGRIND" ptx "$file" > "$work/out" 2> "$work/err"; then
    cat "$work/err"; echo "FAIL ${file%.ptx}: refused"; continue
  fi
  expect "${file%.ptx}"
  # What is printed prints as itself.
  "$WARPGRIND" ptx "$work/out" 2>&1 | cmp -s - "$work/out" ||
    echo "FAIL ${file%.ptx}: printing is not stable"
done
for file in bad/*.ptx; do
  "$WARPGRIND" ptx --check "$file" > "$work/out" 2>&1
  code=$?
  [ $code = 0 ] && { echo "FAIL ${file%.ptx}: accepted"; continue; }
  [ $code -gt 125 ] && { echo "FAIL ${file%.ptx}: exit code $code"; continue; }
  sed -i 's/^==[0-9]*== //; s/^warpgrind: //' "$work/out"
  expect "${file%.ptx}"
done
