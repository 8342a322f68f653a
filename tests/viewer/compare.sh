#!/usr/bin/env bash
# timeout: 240
# Two runs, two steps and two threads side by side in a browser: warpgrind diff --view.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
. tests/lib/check.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/compare" tests/viewer/compare.cu \
  > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"; exit 1; }
record_into() {                                              # FILE [arguments of the program]
  local file=$1; shift
  "$WARPGRIND" --device=cpu --workers=1 --record -q -o "$TEST_DIR/$file" "$TEST_DIR/compare" "$@" \
    > "$TEST_DIR/out" 2> "$TEST_DIR/err" || { cat "$TEST_DIR/err"; echo "FAIL recording"; exit 1; }
}
record_into a.wg
record_into b.wg odd
: > "$TEST_DIR/url"
env -u DISPLAY -u WAYLAND_DISPLAY "$WARPGRIND" diff --view "$TEST_DIR/a.wg" "$TEST_DIR/b.wg" > \
  "$TEST_DIR/url" 2> "$TEST_DIR/server.err" &
SERVER=$!
for ((i = 0; i < 1200; i++)); do [ -s "$TEST_DIR/url" ] && break; sleep 0.05; done
node tests/viewer/compare.mjs "$(head -n 1 "$TEST_DIR/url")" "$TEST_DIR"
end_server
# The report in words, and the page of one run, are as before.
"$WARPGRIND" diff "$TEST_DIR/a.wg" "$TEST_DIR/b.wg" > "$TEST_DIR/out" 2>&1
check diff_differs test $? = 1
check diff_says grep -q "launch 2 of blur" "$TEST_DIR/out"
serve "$TEST_DIR/a.wg" || exit 1
check one_run test "$(curl -s "${URL}api/compare_state")" = "{}"
check no_other_run test "$(curl -s -o /dev/null -w '%{http_code}' "${URL}other/api/run")" = 404
end_server
