#!/usr/bin/env bash
# quick: yes
# timeout: 300
# wg_record, wg_record_begin and wg_record_end, on the host and in device code; and which launches
# are chosen.
set -u
. tests/record/common
make_show
build marks || exit
record cpu marks all
check result test "$(cat "$work/all.out")" = "3 2 3 4"
show() { "$work/show" "$work/all.wg" "$@" | cut -d' ' -f3,5- | tr '\n' ' '; }
check values-even test "$(show 1 2 2)" = "value = 00000004 value = 4000000000000000 value = "\
"0000020000000000 value = fffffffe store buffer0+8 = 00000002 "
check values-odd test "$(show 1 3 3)" = "value = 00000006 value = 3fc00000 value = "\
"4008000000000000 value = 0000030000000000 value = fffffffd store buffer0+12 = 00000003 "
check ended test -z "$(show 2)$(show 5)"
check part test "$(show 3 5 5)" = "store buffer0+148 = 00000002 "
check part-again test "$(show 3 4 4)" = "store buffer0+144 = 00000002 store buffer0+400 = 00000004 "
check begun test "$(show 4 5 5)" = "store buffer0+20 = 00000002 "
check recorded test "$(sql all "SELECT group_concat(recorded, '') FROM step WHERE kind='launch'")" \
  = 100100
check unknown test "$(sql all "SELECT group_concat(offset || '=' || known, ' ') FROM "\
"contents((SELECT max(id) FROM allocation)) WHERE offset IN (0, 128, 256, 384, 400)")" = "\
""0=2 128=1 256=2 384=2 400=1"      # what the last launch did besides what is recorded
check unwritten test \
  "$(sql all "SELECT count(*) FROM unwritten((SELECT max(id) FROM allocation))")" = 0

record cpu marks marked --record=marked
check marked test \
  "$(sql marked "SELECT group_concat(recorded, '') FROM step WHERE kind='launch'")" = 000100
check marked-part cmp <("$work/show" "$work/marked.wg" 3) <("$work/show" "$work/all.wg" 3)
record cpu marks kernel --kernel=part
check kernel test "$("$work/show" "$work/kernel.wg" | cut -d' ' -f1 | sort -u | tr '\n' ' ')" = \
  "3 6 "
record cpu marks launches --launch-skip=1 --launch-count=2
check launches test "$("$work/show" "$work/launches.wg" | cut -d' ' -f1 | sort -u | tr '\n' ' ')" \
  = "3 "
# without Warpgrind nothing is executed: machine code of the same size
size_of() { nvcc -w -O3 -Iinclude "$@" -arch=sm_75 -cubin -o "$work/marks.cubin" \
  tests/record/programs/marks.cu && readelf -SW "$work/marks.cubin" |
  awk '$2 ~ /^.text/ { print $2, $6 }'; }
check nothing-left test "$(size_of)" = "$(size_of -DNO_MARKS)"
