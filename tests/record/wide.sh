#!/usr/bin/env bash
# timeout: 300
# Operations of a warp together and copies are recorded in pieces, with what memory holds; results stay what they are, and where memcheck leaves one out nothing is touched.
set -u
. tests/record/common
make_show
build wide -gencode arch=compute_90,code=compute_90 || exit
plain=$(timeout 60 "$WARPGRIND" --device=cpu --tool=none -q -- "$work/wide")
record cpu wide all
check result test "$plain" = "$(cat "$work/all.out")"
check recorded test "$(sql all "SELECT count(*), sum(recorded) FROM step WHERE kind = 'launch'")" = $'3\t3'
of() { "$work/show" "$work/all.wg" "$1" "$2" "$2" | cut -d' ' -f3,5- | grep -v '^sync'; }
# expects NAME LAUNCH THREAD: what stands on standard input
expects() {
  cat > "$work/want"
  if of "$2" "$3" | diff "$work/want" - > "$work/diff"; then echo "ok $1"; else cat "$work/diff"; echo "FAIL $1"; fi
}
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
timeout -k 5 60 "$WARPGRIND" --device=cpu --tool=memcheck --record -o "$work/beyond.wg" "$work/wide" beyond > "$work/beyond.out" 2> "$work/beyond.err"
check beyond test $? = 99
check beyond-found grep -q "oob-write" "$work/beyond.err"
check beyond-untouched test "$("$WARPGRIND" sql "$work/beyond.wg" "SELECT count(*) FROM access WHERE launch = 1 AND kind = 'store'" | tail -n 1)" = 0
