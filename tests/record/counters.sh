#!/usr/bin/env bash
# timeout: 200
# Who wrote what an atomic operation found, where thousands touched the same word: those near it
# first, all of them when asked.
set -u
. tests/record/common
build counters || exit
record "${RECORD_DEVICE:-cpu}" counters run
check result test "$(cat "$work/run.out")" = "2048 2048 2048 2048"
base=$(sql run "SELECT address FROM access WHERE kind = 'atomic' AND old_integer = 1000 ORDER BY
  address LIMIT 1")
# what it found, whether to look at all: what the writers found, and the rest of the answer
writer() {
  sql run "SELECT coalesce(group_concat((SELECT old_integer FROM access WHERE record = w.record AND
    lane = w.lane AND kind = 'atomic')), ''), w.kind, w.ambiguous, w.why
           FROM (SELECT record, lane FROM access WHERE kind = 'atomic' AND address = $base AND \
             old_integer = $1) a, writer(a.record, a.lane, $2) w"
}
near=$(writer 1000 0) all=$(writer 1000 1) first=$(writer 0 0)
check near grep -q "^999	atomic	1	very many operations touched it" <<< "$near"
check all grep -q "^999	atomic	0	" <<< "$all"
check first grep -q "^	set	" <<< "$first"
check no-word-of-it test "$(sql run "SELECT count(*) FROM (SELECT record, lane FROM access WHERE
  kind = 'atomic' AND address = $base AND old_integer IN (1, 500, 2047)) a, writer(a.record, a.lane,
  1) w WHERE w.ambiguous")" = 0
