#!/usr/bin/env bash
# timeout: 300
# Copies that are done later: bulk copies, reductions, stores to other blocks of a cluster. They are
# recorded with what they move, both devices say the same, memory after the launch is known, and
# what is read of a tile in shared memory leads back to the element in global memory that the copy
# read, through mbarriers.
set -u
. tests/record/common
make_show
whole bulk 7
"$work/show" "$work/all.wg" > "$work/all.txt"
check loads test "$(of 1 0 | head -n 4 | tr '\n' ' ')" = "load buffer0+0 = "\
"000003eb000003ea000003e9000003e8 store shared+0 = 000003eb000003ea000003e9000003e8 load "\
"buffer0+16 = 000003ef000003ee000003ed000003ec store shared+16 = 000003ef000003ee000003ed000003ec "
check loads-all test "$(of 1 0 | grep -c '^store shared')" = 16
expects not-the-copying-thread 1 1 <<X
load shared+248 = 00000426
store buffer1+4 = 00000426
X
check stores test "$(of 2 0 | tail -n 1)" = "store buffer1+496 = 00000428000004270000042600000425"
check reduces test "$(of 3 0 | tail -n 2 | tr '\n' ' ')" = "load shared+240 = "\
"00000428000004270000042600000425 atomic buffer1+496 = 00000428000004270000042600000425 "

# memory after a launch is what the program has: element I of out behind launch N, and whether it
# is known
element() {
  sql all "SELECT min(known) || ' ' || coalesce(sum(value << 8 * (offset % 4)), '?') FROM
    contents((SELECT max(id) FROM allocation WHERE kind = 'device'),
           (SELECT s.id FROM step s JOIN launch l ON l.id = s.launch AND s.kind = 'launch' WHERE \
             l.number = $1), 4 * $2, 4)"
}
check contents-before test "$(element 1 64)" = "1 0"
check contents-stored test "$(element 2 64) $(element 2 127)" = "1 1001 1 1064"
check contents-reduced test "$(element 3 63) $(element 3 64)" = "1 1000 2 ?"
check contents-texture test "$(element 7 1)" = "1 1062"
check contents-stages test "$(element 4 0) $(element 4 $((4 * 64 + 10)))" = "1 1063 1 1181"

# leads NAME LAUNCH THREAD: for what the thread read of shared memory, who wrote it, is that
# certain, and who wrote what that copy read: a copy of the host
leads() {
  sql all "SELECT group_concat(a.integer || ' by ' || w.thread || ' ' || w.ambiguous || ' from ' ||
    (s.address - (SELECT min(base) FROM allocation)) || ' ' || h.kind, ', ')
           FROM access a JOIN launch l ON l.id = a.launch_id, writer(a.record, a.lane) w
           JOIN access s ON s.launch = a.launch AND s.thread = w.thread AND s.kind = 'load' AND \
             s.space = 'global' AND s.record = (SELECT max(x.record) FROM access x WHERE x.launch \
             = a.launch AND x.thread = w.thread AND x.record < w.record),
           writer(s.record, s.lane) h WHERE l.number = $2 AND a.thread = $3 AND a.kind = 'load' \
             AND a.space = 'shared'" > "$work/got"
  if diff - "$work/got"; then echo "ok $1"; else echo "FAIL $1"; fi
}
leads back-to-global 1 40 <<X
1023 by 0 0 from 80 copy
X
leads back-through-stages 4 40 <<X
1023 by 64 0 from 80 copy, 1087 by 64 0 from 336 copy, 1151 by 64 0 from 592 copy, \
1215 by 64 0 from 848 copy, 1151 by 64 0 from 592 copy, 1343 by 64 0 from 1360 copy
X
check of-which-turn test "$(sql all "SELECT count(DISTINCT w.record) FROM access a JOIN launch l ON
  l.id = a.launch_id, writer(a.record, a.lane) w WHERE l.number = 4 AND a.thread = 40 AND a.kind =
  'load'")" = 6

# what comes from another block of the cluster is recorded there, and nobody says that nobody wrote
# it
check sent test "$(sql all "SELECT group_concat(DISTINCT a.kind || ' ' || a.integer) FROM access a
  JOIN launch l ON l.id = a.launch_id WHERE l.number = 5 AND a.thread = 9 AND a.space = 'shared' AND
  a.kind <> 'load' AND a.integer > 0")" = "store 16,atomic 9"
check of-another-block test "$(sql all "SELECT group_concat(DISTINCT w.ambiguous || ' ' || w.why)
  FROM access a JOIN launch l ON l.id = a.launch_id, writer(a.record, a.lane) w
  WHERE l.number = 5 AND
  a.kind = 'load' AND a.space = 'shared'")" = \
  "1 another block of the cluster may have written there"

# the same copy where nobody waits for it: it may have been seen, or not
RECORD_ARGS=early record cpu bulk early
certain() { sql "$1" "SELECT group_concat(DISTINCT w.ambiguous) FROM access a JOIN launch l ON l.id
  = a.launch_id, writer(a.record, a.lane) w WHERE l.number = 1 AND a.kind = 'load' AND a.space =
  'shared'"; }
check early test "$(certain all) $(certain early)" = "0 1"

# the code that a GPU gets says the same
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/libcuda-standin.so" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
RECORD_NVCC=-cudart=shared build bulk -gencode arch=compute_90,code=compute_90
LD_LIBRARY_PATH=$BUILD/tests/cudart WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so \
  WARPGRIND_CACHE_DIR=$work/cache record gpu bulk standin
"$work/show" "$work/standin.wg" > "$work/standin.txt"
check standin cmp "$work/all.txt" "$work/standin.txt"
check standin-result test "$plain" = "$(cat "$work/standin.out")"

# where memcheck leaves a copy out nothing is touched
timeout -k 5 60 "$WARPGRIND" --device=cpu --tool=memcheck --record -o "$work/beyond.wg" \
  "$work/bulk" beyond > "$work/beyond.out" 2> "$work/beyond.err"
check beyond test $? = 99
check beyond-found grep -q "oob-read" "$work/beyond.err"
check beyond-untouched test "$("$WARPGRIND" sql "$work/beyond.wg" "SELECT count(*) FROM access a
  JOIN launch l ON l.id = a.launch_id WHERE l.number = 1 AND a.thread = 0 AND a.kind = 'load' AND
  a.space = 'global'" | tail -n 1)" = 0
timeout -k 5 100 "$WARPGRIND" --device=cpu --tool=memcheck,racecheck,initcheck,synccheck --record \
  -o "$work/tools.wg" "$work/bulk" > "$work/tools.out" 2> "$work/tools.err"
"$work/show" "$work/tools.wg" > "$work/tools.txt"
check with-tools cmp "$work/all.txt" "$work/tools.txt"
check with-tools-result test "$plain" = "$(cat "$work/tools.out")"
