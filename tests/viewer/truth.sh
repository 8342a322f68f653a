#!/usr/bin/env bash
# timeout: 500
# What the page says about a run is what was recorded, not a guess: flow, types, shared and local
# memory, sources, watches, the calculator, all occurrences of a finding, long threads, time.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
. tests/lib/check.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
cp tests/viewer/truth.cu "$TEST_DIR/"
tests/lib/nvcc -w -g -O3 -lineinfo -Iinclude -arch=compute_75 -o "$TEST_DIR/truth" \
  "$TEST_DIR/truth.cu" > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"
  exit 1; }
run() {
  "$WARPGRIND" --device=cpu --workers=1 --tool=memcheck,racecheck --record \
    --kernel-exclude=skipped "$@" "$TEST_DIR/truth" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  local code=$?
  [ $code = 99 ] || { cat "$TEST_DIR/err"; echo "FAIL recording: $code"; exit 1; }
}
run -o "$TEST_DIR/truth.wg"
check names_next_command grep -q "warpgrind view .*truth.wg" "$TEST_DIR/err"
run -q --no-sources -o "$TEST_DIR/without.wg"
# The file changes after it was recorded.
sed -i '1i // a line that was not there' "$TEST_DIR/truth.cu"
sql() { "$WARPGRIND" sql "$TEST_DIR/truth.wg" "$1" | tail -n +2; }
check launch_by_number test "$(sql "select count(*) from access where launch = 6 and thread = 0")" \
  -gt 20
check buffer_column test \
  "$(sql "select group_concat(distinct buffer) from access where launch = 4")" = p
check shared_column test "$(sql "select buffer || ' ' || offset from access where launch = 6 and
  thread = 3 and kind = 'store' and space = 'shared' limit 1")" = "s 12"
check one_line test "$(sql "select group_concat(pointer) from allocation where size = 64")" = \
  "b,c,d,small"
serve "$TEST_DIR/truth.wg" || exit 1
node tests/viewer/truth.mjs "$URL" "$TEST_DIR/truth.png"
node tests/viewer/pictures.mjs "$URL"
end_server
serve "$TEST_DIR/without.wg" || exit 1
node tests/viewer/changed.mjs "$URL"
end_server
