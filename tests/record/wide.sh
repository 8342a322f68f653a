#!/usr/bin/env bash
# timeout: 300
# Operations of a warp together and copies are recorded in pieces, with what memory holds; results
# stay what they are, and where memcheck leaves one out nothing is touched.
set -u
. tests/record/common
make_show
whole wide 3
expects tile-first 1 0 <<X
load buffer0+0 = 0000460045004400420040003c000000
load buffer1+0 = 40003c0000004400420040003c000000
store buffer2+0 = 42ba000042aa000042b80000429e0000
store buffer2+512 = 42bc000042b4000042ca000042b80000
X
expects tile-last 1 31 <<X
load buffer0+736 = 4400420040003c000000460045004400
load buffer1+496 = 00004400420040003c00000044004200
store buffer2+496 = 429e000042a2000042ba000042aa0000
store buffer2+1008 = 42b8000042e2000042bc000042b40000
X
expects matrix-row 2 5 <<X
load buffer3+20 ~ 000003ed
store shared+20 = 000003ed
load shared+80 = 000003ff000003fe000003fd000003fc
store shared+208 = 00000400000003ff000003fe000003fd
load shared+148 = 000003ee
store buffer4+20 = 000003ee
X
expects matrix-no-row 2 9 <<X
load buffer3+36 ~ 000003f1
store shared+36 = 000003f1
load shared+164 = 000003f2
store buffer4+36 = 000003f2
X
expects copy 3 4 <<X
load buffer3+64 = 000003fb000003fa000003f9000003f8
store shared+64 = 000003fb000003fa000003f9000003f8
load shared+64 = 000003fb000003fa000003f9000003f8
store buffer4+64 = 000003fb000003fa000003f9000003f8
X
timeout -k 5 60 "$WARPGRIND" --device=cpu --tool=memcheck --record -o "$work/beyond.wg" \
  "$work/wide" beyond > "$work/beyond.out" 2> "$work/beyond.err"
check beyond test $? = 99
check beyond-found grep -q "oob-write" "$work/beyond.err"
check beyond-untouched test \
  "$("$WARPGRIND" sql "$work/beyond.wg" \
  "SELECT count(*) FROM access WHERE launch = 1 AND kind = 'store'" | tail -n 1)" = 0
