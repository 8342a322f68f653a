#!/usr/bin/env bash
# timeout: 300
# What happens often or takes long: all occurrences of a store outside of a buffer, a thread of
# three million operations, a search for races that is stopped and goes on.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
. tests/lib/check.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/long" tests/viewer/long.cu > \
  "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"; exit 1; }
"$WARPGRIND" --device=cpu --workers=1 --record -q -o "$TEST_DIR/long.wg" "$TEST_DIR/long" > \
  "$TEST_DIR/out" 2> "$TEST_DIR/err"
code=$?
[ $code = 99 ] || { cat "$TEST_DIR/err"; echo "FAIL recording: $code"; exit 1; }
sql() { "$WARPGRIND" sql "$TEST_DIR/long.wg" "$1" | tail -n +2; }
check refused_stores test "$(sql "select count(*), min(thread), max(thread) from access where
  launch = 1 and kind = 'refused'" | tr '\t' ' ')" = "32 64 95"
check refused_value test "$(sql "select integer from access where launch = 1 and kind = 'refused'
  and thread = 70")" = 140
# What was not stored is not in memory: s[4] to s[15] are those of threads 0 to 11.
check refused_shared test "$(sql "select count(*), min(thread), max(thread) from access where
  launch = 2 and kind = 'refused' and space = 'shared'" | tr '\t' ' ')" = "8 12 19"
serve "$TEST_DIR/long.wg" || exit 1
node tests/viewer/long.mjs "$URL"
end_server
