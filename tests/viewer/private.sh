#!/usr/bin/env bash
# timeout: 240
# The viewer shows a run to its user alone: which sources it reads, what others on the machine can
# see, and that nobody can hold it up.
set -u
cd "$ROOT" || exit 1
mkdir -p "$TEST_DIR/project"
cp examples/merge_sort/merge_sort.cu "$TEST_DIR/project/"
sed "s|\"merge_sort.cu\"|\"$TEST_DIR/project/merge_sort.cu\"|" \
  examples/merge_sort/ptx/merge_sort.ptx > "$TEST_DIR/sort.ptx"
$CC -std=gnu11 -g -O1 -o "$TEST_DIR/sort" examples/merge_sort/merge_sort_host.c -ldl -lm || exit 1
export WARPGRIND_STATE_DIR="$TEST_DIR/state/of/warpgrind"
"$WARPGRIND" --device=cpu --workers=1 --record --no-sources --launch-count=1 --tool=none -q -o \
  "$TEST_DIR/run.wg" "$TEST_DIR/sort" "$TEST_DIR/sort.ptx" > /dev/null 2>&1
"$WARPGRIND" --device=cpu --workers=1 --record=inputs --no-sources --launch-count=1 -q -o \
  "$TEST_DIR/inputs.wg" "$TEST_DIR/sort" "$TEST_DIR/sort.ptx" > /dev/null 2>&1
python3 tests/viewer/private.py "$WARPGRIND" "$TEST_DIR"
