#!/usr/bin/env bash
# quick: yes
# timeout: 600
# What is recorded on the virtual device, bit by bit: every kind of operation, with its address and
# value, in the order of its thread.
set -u
. tests/record/common
make_show
build operations || exit
plain=$(timeout 60 "$WARPGRIND" --device=cpu --tool=none -q -- "$work/operations")
record cpu operations all
check result test "$plain" = "$(cat "$work/all.out")"
"$work/show" "$work/all.wg" > "$work/all.txt"
show() { "$work/show" "$work/all.wg" "$@"; }
check complete test "$(sql all "SELECT value FROM meta WHERE key='trace_lost'")" = 0

# expects NAME LAUNCH THREAD: what stands on standard input, without launch, thread and line
expects() {
  show "$2" "$3" "$3" | cut -d' ' -f3,5- > "$work/got"
  cat > "$work/want"
  if cmp -s "$work/got" "$work/want"; then
    echo "ok $1"
  else
    diff "$work/want" "$work/got"; echo "FAIL $1"
  fi
}
expects widths 1 3 <<X
store buffer0+3 = 04
store buffer1+6 = 0303
store buffer2+24 = 0000000300000007
store buffer3+48 = 414000004110000040c0000040400000
load buffer4+24 = 0000003100000024
load buffer0+3 = 04
store buffer4+24 = 0000003100000028
X
expects out-of-range 1 71 < /dev/null
expects divergent-0 2 3 <<X
load buffer5+12 ~ 00000009
store buffer6+12 = 0000000a
X
expects divergent-1 2 4 <<X
load buffer5+492 ~ 00003b19
store buffer6+16 = 00003b19
X
expects divergent-none 2 8 < /dev/null
expects key 2 5 <<X
store buffer6+512 = 5a7c3e19
X
expects shared 3 63 <<X
load buffer5+252 ~ 00000f81
store shared+252 = 00000f81
sync
sync
sync
sync
sync
sync
sync
X
show 3 0 0 | cut -d' ' -f3,5- > "$work/got"
check shared-sum grep -qx "store buffer6+0 = 00014d60" "$work/got"
expects atomics 4 7 <<X
atomic buffer6+28 = 00000007 was 00003840
atomic buffer6+156 = 00000002 was 000005f2
atomic buffer2+56 = 000005f200000000 was 0000000700000007
atomic buffer4+0 = 00000001 was 00000001
X
expects far 6 3 <<X
load buffer8+24 = buffer6+12
store buffer6+12 = 00000003
X
check scattered test "$(show 5 | awk '$3 == "store" { n++ } END { print n }')" = 32
check local test "$(show 7 2 2 | grep -c ' local = ')" = 19
check variable test "$(show 8 2 2 | cut -d' ' -f3,6- | tr '\n' ' ')" = \
  "load = 00000003 store = 00000004 "
check steps test "$(sql all "SELECT group_concat(kind || recorded, ' ') FROM step" | tr -d '\n')" \
  = "$(for k in set set set set set set set set set copy copy copy launch launch launch launch \
  copy launch copy launch launch launch copy copy; do printf '%s1 ' $k; done | sed 's/ $//')"
check contents test "$(sql all "SELECT count(*) FROM trace_contents")" = 14
check parameters test "$(sql all "SELECT count(*) FROM parameter p JOIN launch l ON l.id = p.launch
  WHERE l.number = 1 AND p.allocation > 0")" = 5

# the code that a GPU gets says the same
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/libcuda-standin.so" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
RECORD_NVCC=-cudart=shared build operations
LD_LIBRARY_PATH=$BUILD/tests/cudart WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so \
  WARPGRIND_CACHE_DIR=$work/cache record gpu operations standin
"$work/show" "$work/standin.wg" > "$work/standin.txt"
check standin cmp "$work/all.txt" "$work/standin.txt"
check standin-result test "$plain" = "$(cat "$work/standin.out")"

# other tools run along
timeout 100 "$WARPGRIND" --device=cpu --tool=memcheck,racecheck,initcheck,synccheck --record -o \
  "$work/tools.wg" -- "$work/operations" > "$work/tools.out" 2> "$work/tools.err"
"$work/show" "$work/tools.wg" > "$work/tools.txt"
check with-tools cmp "$work/all.txt" "$work/tools.txt"
check with-tools-result test "$plain" = "$(cat "$work/tools.out")"

# --record is the tool record, which --tool=trace names too
for tool in record trace; do
  timeout 100 "$WARPGRIND" --device=cpu --tool=$tool -o "$work/tool.wg" -- "$work/operations" > \
    "$work/tool.out" 2> "$work/tool.err"
  "$work/show" "$work/tool.wg" > "$work/tool.txt"
  check "tool-$tool" cmp "$work/all.txt" "$work/tool.txt"
  check "tool-$tool-name" test "$(sql tool "SELECT value FROM meta WHERE key='tools'")" = record
done

# rings so small that the device waits for the command
build bandwidth
RECORD_ARGS="65536 64" record cpu bandwidth tiny --record-buffer=0
RECORD_ARGS="65536 64" record cpu bandwidth large
check back-pressure test "$(sql tiny "SELECT value FROM meta WHERE key='trace_operations'")" = \
  "$(sql large "SELECT value FROM meta WHERE key='trace_operations'")"
check back-pressure-all test "$(sql tiny "SELECT value FROM meta WHERE key='trace_lost'")" = 0
check back-pressure-result cmp "$work/tiny.out" "$work/large.out"

# chosen threads: operations that one of them takes part in
record cpu operations threads --threads=40,64-65
for k in 40 64 65; do
  check "threads-$k" cmp <("$work/show" "$work/threads.wg" 2 $k $k) <(show 2 $k $k | tr "~" "=")
done
check threads-others test "$("$work/show" "$work/threads.wg" 2 0 31 | wc -l)" = 0
check threads-bad grep -q "expected numbers or ranges" <("$WARPGRIND" --record -o "$work/x.wg" \
  --threads=a true 2>&1)
check needs-file grep -q "needs a file" <("$WARPGRIND" --record true 2>&1)
