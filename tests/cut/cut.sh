#!/usr/bin/env bash
# timeout: 300
# Recordings that end before the program: a limit, a file that cannot grow, a full disk, a launch
# that hangs, _exit. What was recorded until then is known and true, what came later is not called
# recorded, and diff takes neither for a difference.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
$CC -std=gnu11 -g -O1 -Wall -Isrc -o "$TEST_DIR/ladder" tests/cut/ladder.c \
  -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined || exit 1
cd "$TEST_DIR" || exit 1
w="$WARPGRIND --device=cpu --tool=none"
sql() { "$WARPGRIND" sql "$1" "${2//$'\n'/ }" | tail -n +2; }
recorded() {
  sql "$1" "SELECT count(*), sum(recorded), sum(committed) FROM step WHERE kind = 'launch'"
}
# The first launch that is not recorded, and the buffer.
first_cut() { sql "$1" "SELECT min(s.id) FROM step s WHERE kind = 'launch' AND committed = 0"; }
buffer() { sql "$1" "SELECT id FROM allocation WHERE size = ${2:-4096} LIMIT 1"; }
# known FILE STEP: 1: all bytes are known, 2: none is
known() { sql "$1" "SELECT group_concat(DISTINCT known) FROM contents($(buffer "$1"), $2, 0, 64)"; }
# cut NAME: the file FILE.wg ends early; the last launch before that is known, the first behind it
# is not
cut() {
  local file=$1.wg first
  first=$(first_cut "$file")
  check "$1-cut" [ -n "$first" ]
  check "$1-known" [ \
    "$(known "$file" "$(sql "$file" "SELECT max(id) FROM step WHERE id < $first")")" = 1 ]
  check "$1-unknown" [ "$(known "$file" "$first")" = 2 ]
  check "$1-at-the-end" [ "$(known "$file" 0)" = 2 ]
  check "$1-one-file" [ "$(echo "$file"*)" = "$file" ]
  check "$1-report" [ "$(code "$WARPGRIND" report "$file")" = 0 ]
  check "$1-report-says" has err 'recording was cut short: of '
  check "$1-diff" [ "$(code "$WARPGRIND" diff "$file" whole.wg)" = 3 ]
  check "$1-diff-says" has out 'recording was cut short: what launch '
  check "$1-diff-same" has out 'before that nothing differs'
  check "$1-race" [ \
    "$(code "$WARPGRIND" sql "$file" \
    "SELECT * FROM race((SELECT l.number FROM step s JOIN launch l ON l.id = s.launch
       WHERE s.id = $first))")" = 125 ]
  check "$1-race-says" grep -q 'launch [0-9]* is not recorded' err
}

check whole [ "$(code $w --record -o whole.wg ./ladder 3000 1024)" = 0 ]
check whole-recorded [ "$(recorded whole.wg)" = "3000	3000	3000" ]
check whole-known [ "$(known whole.wg 0)" = 1 ]
cp whole.wg again.wg
check same [ "$(code "$WARPGRIND" diff whole.wg again.wg)" = 0 ]

# a limit
check limit [ "$(code $w --record --record-disk=2 -o limit.wg ./ladder 3000 1024)" = 0 ]
check limit-says has err 'recording stopped: the limit of'
cut limit

# a file that may not grow: the command ends with 125, and the file says why
check size [ "$( (ulimit -Sf 3000; code $w --record -o size.wg ./ladder 3000 1024) )" = 125 ]
check size-says grep -q 'cannot write the run file' err
check size-program has out ready
check size-report [ "$(code "$WARPGRIND" report size.wg)" = 0 ]
check size-report-says grep -q \
  'not finished: cannot write the run file.* It holds what was known at 2' err
# 2: nothing was committed yet
check size-diff grep -q "^[23]$" <(code "$WARPGRIND" diff size.wg whole.wg)

# a launch that hangs, and a program that is killed then: all but that launch is recorded
$w --record -o hang.wg ./ladder 500 1024 1 hang > ready 2> err &
pid=$!
wait_for grep -q ready ready
hung() {
  [ "$(sql hang.wg "SELECT count(*) FROM step WHERE kind = 'launch'" 2> /dev/null)" = 501 ]
}
wait_for hung
kill -KILL "$(cat /proc/$pid/task/$pid/children)"
wait $pid 2> /dev/null
check hang-recorded [ "$(recorded hang.wg)" = "501	500	500" ]
check hang-access [ \
  "$(sql hang.wg "SELECT count(*) > 0 FROM access WHERE launch_id =
    (SELECT max(id) FROM launch)")" = \
  1 ]
check exit-recorded [ "$(code $w --record -o exit.wg ./ladder 500 1024 2 abort; recorded exit.wg)" \
  = "3
500	500	500" ]

# --record=inputs: pages
check inputs [ "$(code $w --record=inputs --inputs-rate=1000000 -o inputs.wg ./ladder 300 1024;
  sql inputs.wg \
  "SELECT count(*), sum(recorded), sum(committed) FROM step WHERE kind = 'inputs'")" = "0
300	300	300" ]
check inputs-limit [ "$(code $w --record=inputs --inputs-rate=1000000 --record-disk=1 -o few.wg \
  ./ladder 3000 65536)" = 0 ]
last=$(sql few.wg \
  "SELECT max(n.number) FROM step s JOIN launch n ON n.id = s.launch WHERE s.kind = 'inputs'")
check inputs-expand [ "$(code "$WARPGRIND" expand few.wg --launch="$last" --device=cpu -o \
  more.wg)" = 125 ]
check inputs-expand-says has err \
  "what launch $last read is not in the file: recording was cut short"

# a disk that is full
small=$TEST_DIR/small
mkdir "$small"
if mount -t tmpfs -o size=48m tmpfs "$small" 2> /dev/null; then
  trap 'umount "$small"' EXIT
  check disk [ "$(code $w --record -o small/disk.wg ./ladder 6000 4096)" = 0 ]
  check disk-says has err 'recording stopped: little more than'
  cp small/disk.wg disk.wg
  check disk-one-file [ "$(echo small/disk.wg*)" = small/disk.wg ]
  check disk-some [ \
    "$(sql disk.wg \
    "SELECT sum(recorded) > 0, sum(committed = 0) > 0 FROM step WHERE kind = 'launch'")" = "1	1" ]
  check disk-finished [ "$(sql disk.wg "SELECT value FROM meta WHERE key = 'complete'")" = yes ]
  rm small/disk.wg
  # Filled by somebody else while the program runs.
  $w --tool=memcheck --host-stacks=no -o small/full.wg ./ladder 200000 64 > ready 2> err &
  pid=$!
  wait_for [ -s small/full.wg ]
  head -c 60m /dev/zero > small/other 2> /dev/null
  wait $pid
  check full [ $? = 125 ]
  check full-says has err 'database or disk is full'
  check full-report [ "$(code "$WARPGRIND" report small/full.wg)" = 0 ]
  check full-report-says grep -q 'not finished: cannot write the run file.*disk is full' err
else
  echo "skip disk: no file system can be mounted here"
fi
