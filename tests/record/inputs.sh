#!/usr/bin/env bash
# timeout: 300
# --record=inputs and warpgrind expand: a launch that is run again does what it did, operation for
# operation.
set -u
. tests/record/common
build inputs || exit
. tests/record/inputs_common
record cpu inputs all
timeout -k 5 100 "$WARPGRIND" --device=cpu --record=inputs -o "$work/inputs.wg" "$work/inputs" > \
  "$work/inputs.out" 2> "$work/inputs.err"
# what the source calls parameters, and when launches ran
check parameter-names test "$(sql all "SELECT group_concat(name) FROM parameter p JOIN launch l ON
  l.id = p.launch WHERE l.number IN (1, 6)")" = in,out,n,s,x
check times test "$(sql all "SELECT group_concat(number) FROM timed_launch WHERE begin_ns >=
  asked_ns AND end_ns >= begin_ns")" = 1,2,3,4,5,6,7,8,11,12,13,14,15
check times-in-order test "$(sql all "SELECT count(*) FROM timed_launch a JOIN timed_launch b ON
  b.stream = a.stream AND b.number > a.number WHERE b.begin_ns < a.end_ns")" = 0
check times-of-inputs test "$(sql inputs "SELECT count(*) FROM launch_time")" = 13
check result cmp "$work/all.out" "$work/inputs.out"
check kept test "$(sql inputs "SELECT count(*) FROM step WHERE kind = 'inputs' AND recorded")" = 13
check no-operations test "$(sql inputs "SELECT count(*) FROM trace_chunk")" = 0
# pages that did not change are not kept again: all of it is less than a third of what the launches
# could read
check once test "$(sql inputs "SELECT sum(bytes) < 900000 FROM trace_contents")" = 1
expand inputs cpu every 1..99
check every-ran test "$(sql every "SELECT group_concat(number) FROM launch")" = \
  1,2,3,4,5,6,7,8,11,12,13,14,15
same every 1 2 3 4 5 6 7 8 11 12 13 14 15
for launch in 3 6 8 13 15; do
  expand inputs cpu "launch$launch" "$launch"
  same "launch$launch" "$launch"
done
check says-what test "$(cat "$work/launch3.out")" = "$work/launch3.wg"
check names test \
  "$(sql launch3 "SELECT group_concat(name) FROM allocation WHERE kind = 'variable'")" = \
  counter,factor,history
check from test "$(sql launch3 "SELECT value FROM meta WHERE key = 'expanded_from'")" = \
  "$work/inputs.wg"
check stack test "$(sql launch3 "SELECT count(*) > 0 FROM launch l JOIN frame f ON f.stack = l.stack
  WHERE f.function = 'main'")" = 1
# what memory held before a launch can be asked of the run itself
contents() { sql "$1" "SELECT group_concat(known || ' ' || value) FROM contents((SELECT min(id) FROM
  allocation WHERE kind = 'device'), (SELECT s.id FROM step s JOIN launch l ON l.id = s.launch WHERE
  s.kind = '$2' AND l.number = $3), 4096, 64)"; }
check contents-there test -n "$(contents all launch 4)"
check contents test "$(contents all launch 4)" = "$(contents inputs inputs 5)"
expand inputs cpu other 9
check captured grep -q "launch 9 was captured into a graph" "$work/other.err"
expand inputs cpu other 77
check no-such grep -q "has no launch 77" "$work/other.err"
expand all cpu other 1
check not-kept grep -q "what launch 1 read was not kept" "$work/other.err"
# a part of the launches
timeout -k 5 100 "$WARPGRIND" --device=cpu --record=inputs --kernel=by_structure -o \
  "$work/part.wg" "$work/inputs" > "$work/part.out" 2> "$work/part.err"
check part-kept test "$(sql part "SELECT group_concat(l.number) FROM step s JOIN launch l ON l.id =
  s.launch WHERE s.kind = 'inputs'")" = 6,8,12,14
expand part cpu part8 8
same part8 8
