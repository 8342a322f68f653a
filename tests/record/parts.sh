#!/usr/bin/env bash
# timeout: 100
# A load whose bytes several ordered writes wrote: its value is put together from the last write of
# each byte, and nothing says that the writes are unordered.
set -u
. tests/record/common
build parts || exit
record "${RECORD_DEVICE:-cpu}" parts run
check result test "$(cat "$work/run.out")" = "4 no error"
loaded() { sql run "SELECT value FROM access WHERE kind = 'load' AND launch = $1 AND thread = $2"; }
writers() {
  sql run "SELECT group_concat(w.bytes || ' ' || w.ambiguous, ', ') FROM (SELECT record, lane FROM
    access WHERE kind = 'load' AND launch = $1 AND thread = $2) a, writer(a.record, a.lane) w"
}
# element 12 of the first copy, 13 to 15 of the second; 16 and 17 of the second, the rest of the
# first; one copy alone
check copies-value test "$(loaded 1 3)" = 0xc0400000c0000000bf80000041400000
check copies test "$(writers 1 3)" = "12 0, 16 0"
check copies-end test "$(loaded 1 4)" = 0x4198000041900000c0a00000c0800000
check copy test "$(writers 1 5)" = "16 0"
check stores-value test "$(loaded 2 3)" = 0x40c0000040a000004080000040400000
check stores test "$(writers 2 3)" = "16 0, 4 0"
