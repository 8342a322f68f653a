#!/usr/bin/env bash
# timeout: 240
# The launch pane: bank conflicts, what a block or a thread touched, and a launch that is recorded
# in full from the page.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
. tests/lib/check.sh
for program in node chromium nvcc; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
tests/lib/nvcc -w -g -O3 -lineinfo -arch=compute_75 -o "$TEST_DIR/launches" \
  tests/viewer/launches.cu > "$TEST_DIR/nvcc.log" 2>&1 || { cat "$TEST_DIR/nvcc.log"
  echo "FAIL nvcc"; exit 1; }
"$WARPGRIND" --device=cpu --workers=1 --record -q -o "$TEST_DIR/run.wg" "$TEST_DIR/launches" > \
  "$TEST_DIR/out" 2> "$TEST_DIR/err" || { cat "$TEST_DIR/err"; echo "FAIL recording"; exit 1; }
serve "$TEST_DIR/run.wg" || exit 1
node tests/viewer/launches.mjs "$URL" whole "$TEST_DIR"
end_server
"$WARPGRIND" --device=cpu --workers=1 --record=inputs -q -o "$TEST_DIR/inputs.wg" \
  "$TEST_DIR/launches" > "$TEST_DIR/out" 2> "$TEST_DIR/err" || { cat "$TEST_DIR/err"
  echo "FAIL recording inputs"; exit 1; }
serve "$TEST_DIR/inputs.wg" || exit 1
node tests/viewer/launches.mjs "$URL" inputs "$TEST_DIR"
check expanded test -s "$TEST_DIR/inputs-launch3.wg"
# Only numbers are taken, and only from the page itself.
asked() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
check not_a_number test "$(asked "${URL}api/expand?launch=3%3Btouch%20x")" = 400
check two_parameters test "$(asked "${URL}api/expand?launch=3&o=x")" = 400
check other_site test "$(asked -H 'Sec-Fetch-Site: cross-site' "${URL}api/expand?launch=1")" = 403
check without_token test "$(asked "$(echo "$URL" | cut -d/ -f1-3)/api/expand?launch=1")" = 403
check nothing_made test ! -e "$TEST_DIR/inputs-launch1.wg"
end_server
