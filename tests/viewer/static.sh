#!/usr/bin/env bash
# timeout: 400
# A page without a server shows the same walk, from the disk; what is too large is refused.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
. tests/lib/check.sh
for program in node chromium; do
  command -v $program > /dev/null || { echo "$program is not installed"; exit 77; }
done
record merge_sort --tool=memcheck,initcheck --launch-count=3 || exit 0
check writes timeout 300 "$WARPGRIND" view --static "$TEST_DIR/page" "$TEST_DIR/merge_sort.wg"
check small test "$(du -sm "$TEST_DIR/page" | cut -f1)" -lt 60
node tests/viewer/static.mjs "file://$TEST_DIR/page/index.html"
check no_file test "$(code "$WARPGRIND" view --static "$TEST_DIR/other" "$TEST_DIR/none.wg")" = 125
check no_folder test \
  "$(code "$WARPGRIND" view --static "$TEST_DIR/none/page" "$TEST_DIR/merge_sort.wg")" = 125
