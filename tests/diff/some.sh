#!/usr/bin/env bash
# quick: yes
# --hash=some and --hash=N in GPU mode: launches that are written over are left out, the others are
# hashed as with --hash=every, and diff names the range. On the virtual device all are hashed.
# timeout: 600
set -u
. tests/diff/lib.sh
built loop planes streams || { echo "FAIL build"; exit 1; }
hashed each.wg loop && DIFF_HASH=9 hashed nine.wg loop && DIFF_HASH=some hashed some.wg loop &&
  DIFF_DEVICE=cpu hashed there.wg loop; result "runs"
compared 0 each.wg there.wg && said "40 are the same, 0 differ"; result "all of them"
if [ "$DIFF_DEVICE" = gpu ]; then
  left=$(ask nine.wg "SELECT count(*) FROM buffer_hash WHERE state =
    'it was not hashed: later work overwrote it'")
  [ "$(ask nine.wg "SELECT group_concat(launch) FROM buffer_hash WHERE state IS NULL")" = \
    9,18,20,27,36,39,40 ] && [ "$left" = 33 ]
    result "every ninth, what leaves the device, and the last"
  compared 0 nine.wg there.wg && said "7 are the same, 0 differ, 33 were not hashed" &&
    compared 0 there.wg nine.wg && said "33 were not hashed"
    result "their hashes are those of the virtual device"
  compared 0 some.wg there.wg && compared 0 nine.wg some.wg; result "as many as cost little"
  [ "$(ask some.wg "SELECT count(*) FROM buffer_hash WHERE launch IN (20, 39, 40) AND hash IS NOT
    NULL")" = 3 ]; result "what leaves the device is always hashed"
  DIFF_HASH=9 hashed changed.wg loop change=13 && compared 1 nine.wg changed.wg &&
    said "the first launch whose outputs were found to differ is launch 18 of blend(" &&
    said "one of the launches 2 to 18"; result "a range"
  DIFF_HASH=9 hashed later.wg loop change=23 && compared 1 nine.wg later.wg \
    "--json=$TEST_DIR/d.json" && said "found to differ is launch 27 of blend(" &&
    said "one of the launches 11 to 27" && grep -q '"not_hashed_since":11' "$TEST_DIR/d.json"
    result "a range that ends where a buffer was the same"
  DIFF_HASH=9 hashed last.wg loop change=40 && compared 1 nine.wg last.wg &&
    said "launch 40 of blend(" && said "one of the launches 38 to 40"; result "the last one"
  hashed exact.wg loop change=23 && compared 1 each.wg exact.wg &&
    said "the first launch whose outputs differ is launch 23 of blend(" &&
    not_said "one of the launches"; result "the exact one with --hash=every"
  # parts of buffers, and memory of the launch's own that is freed
  for n in 2 3 some; do
    DIFF_HASH=$n OPTIONS=--kernel-exclude=through hashed planes$n.wg planes
  done
  OPTIONS=--kernel-exclude=through DIFF_DEVICE=cpu hashed planes.wg planes
  compared 0 planes2.wg planes.wg && compared 0 planes3.wg planes.wg && compared 0 planessome.wg \
    planes.wg && [ "$(ask planes3.wg "SELECT count(state) BETWEEN 1 AND 12 FROM buffer_hash")" = 1 \
    ]; result "parts of buffers, some of them"
else
  compared 0 nine.wg there.wg && said "40 are the same" && compared 0 some.wg there.wg &&
    said "40 are the same"; result "the virtual device hashes each of them"
fi
# Other streams come when buffers wait: those they write to are not looked at any more, the others
# are, and nothing of it is wrong.
hashed later.wg streams later && DIFF_HASH=100 hashed waits.wg streams later &&
  compared 0 later.wg waits.wg &&
  [ "$(ask waits.wg "SELECT count(*), count(hash) >= 5 FROM buffer_hash")" = "7	1" ]
  result "streams that come later"
"$WARPGRIND" --hash=often -o "$TEST_DIR/x.wg" "$TEST_DIR/loop" > "$TEST_DIR/said" 2>&1
  [ $? = 125 ] && said "expected some, every or a number"; result "a word that means nothing"
