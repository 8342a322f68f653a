#!/usr/bin/env bash
# timeout: 400
# Copies and sets against launches on another stream, from a recording: the race that racecheck
# finds in the same run (told by the launch, by the copy, or by each of them once where they meet
# while both run), of the same kind, and none where an event, the host or a common stream orders
# them, or where they access other bytes. A file without what orders steps says so, and has none of
# them.
set -u
cd "$ROOT" || exit 1
device=${TEST_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
tests/lib/nvcc -w -g -O3 -lineinfo -gencode arch=compute_75,code=compute_75 -o "$TEST_DIR/copies" \
  tests/racecheck/copies.cu || { echo "FAIL nvcc"; exit 1; }
run=$TEST_DIR/run.wg
ask() { "$WARPGRIND" sql "$run" "$1" 2>> "$TEST_DIR/notes" | tail -n +2; }

copies() {
  local what=$1 order=$2 code want=0 races=0 found ours kinds sides
  [ "$order" = none ] && want=99 races=1
  rm -f "$run" "$TEST_DIR/notes"
  timeout 60 "$WARPGRIND" --device="$device" --tool=racecheck --record -o "$run" \
    "$TEST_DIR/copies" "$what" "$order" > "$TEST_DIR/out" 2> "$TEST_DIR/err"; code=$?
  found=$(ask "select count(*) from race") \
    ours=$(ask "select count(*) from finding where kind = 'race-host'") \
    kinds=$(ask "select distinct kind from race")
  # who tells it
  sides=$(ask "select count(distinct kernel = 0) from finding where kind = 'race-host'")
  if [ $code = $want ] && [ "$found" = $races ] && [ "$ours" = "$sides" ] &&
    [ $((ours > 0)) = $races ] && { [ $races = 0 ] || [ "$kinds" = race-host ]
    } && [ ! -s "$TEST_DIR/notes" ]; then echo "ok $what $order"
  else tail -n 5 "$TEST_DIR/err"; ask "select * from race"; echo "FAIL $what $order: exit code "\
"$code, racecheck finds $ours, the recording has $found of $kinds"; fi
}

copies waited host
for what in ${RACECHECK_COPIES:-read write set later first rows pinned copies free}; do
  for order in none event host stream; do copies $what $order; done
  case $what in rows | pinned | copies | free | later) copies $what apart ;; esac
done

# An older file.
copies read none > /dev/null
python3 -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.executescript("drop table step_after; drop table benign_race; pragma user_version=4")' "$run"
tests/lib/seal "$run"
rm -f "$TEST_DIR/notes"
found=$(ask "select count(*) from race")
if [ "$found" = 0 ] && grep -q "older Warpgrind" "$TEST_DIR/notes"; then
  echo "ok older file"
else
  cat "$TEST_DIR/notes"; echo "FAIL older file: $found races"
fi
