#!/usr/bin/env bash
# quick: yes
# What the server answers about a recorded merge sort, what it refuses, and what it says about files
# that are damaged.
set -u
cd "$ROOT" || exit 1
. tests/viewer/lib.sh
. tests/lib/check.sh
record merge_sort --tool=memcheck,initcheck,racecheck || exit 0
serve "$TEST_DIR/merge_sort.wg" || exit 1
python3 tests/viewer/api.py "$URL"
end_server
check ends_in_order test $? = 0

# Files that are no runs, or not whole ones: a sentence, no crash.
refused() {                                                  # NAME FILE WORDS
  timeout 20 "$WARPGRIND" view --no-browser "$2" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
  if [ $? = 125 ] && grep -q "$3" "$TEST_DIR/err"; then
    echo "ok $1"
  else
    cat "$TEST_DIR/err"; echo "FAIL $1"
  fi
}
refused no_file "$TEST_DIR/none.wg" "no such file"
head -c 100 /dev/urandom > "$TEST_DIR/noise.wg"
refused no_run_file "$TEST_DIR/noise.wg" "not a run file"
: > "$TEST_DIR/empty.wg"
refused empty_file "$TEST_DIR/empty.wg" "not a run file"
size=$(stat -c %s "$TEST_DIR/merge_sort.wg")
python3 tests/viewer/damage.py "$WARPGRIND" "$TEST_DIR/merge_sort.wg" "$size" "$TEST_DIR"
