#!/usr/bin/env bash
# timeout: 300
# Tensor copies are recorded tile by tile, with what the driver was asked to put into their maps;
# both devices say the same, memory after the launch is known, and what is read of a tile leads
# back to the element of the tensor.
set -u
. tests/record/common
. tests/lib/annotations.sh
make_show
whole tensor 6
"$work/show" "$work/all.wg" > "$work/all.txt"

# moves NAME LAUNCH LABEL KIND MEMORY: what stands on standard input, of thread 0
moves() {
  local line
  line=$(line_of "$3" tests/record/programs/tensor.cu)
  cat > "$work/want"
  "$work/show" "$work/all.wg" "$2" 0 0 |
    awk -v l="$line" -v k="$4" '$3 == k && $4 == l { $1 = $2 = $3 = $4 = ""; print }' | grep "$5" |
    sed 's/^ *//' > "$work/got"
  if diff "$work/want" "$work/got"; then echo "ok $1"; else echo "FAIL $1"; fi
}
# at (8, 1), with a swizzle: the halves of each line of 32 bytes change places
moves lines 2 tile load buffer <<X
buffer0+176 = 42400000423c00004238000042340000
buffer0+192 = 42500000424c00004248000042440000
buffer0+320 = 42a8000042a6000042a4000042a20000
buffer0+336 = 42b0000042ae000042ac000042aa0000
buffer0+464 = 42f0000042ee000042ec000042ea0000
buffer0+480 = 42f8000042f6000042f4000042f20000
buffer0+608 = 431c0000431b0000431a000043190000
buffer0+624 = 43200000431f0000431e0000431d0000
X
moves swizzled 2 tile store shared <<X
shared+144 = 42400000423c00004238000042340000
shared+128 = 42500000424c00004248000042440000
shared+176 = 42a8000042a6000042a4000042a20000
shared+160 = 42b0000042ae000042ac000042aa0000
shared+208 = 42f0000042ee000042ec000042ea0000
shared+192 = 42f8000042f6000042f4000042f20000
shared+240 = 431c0000431b0000431a000043190000
shared+224 = 43200000431f0000431e0000431d0000
X
# at (-4, 6): half of each line and two lines are outside
moves edge 3 tile load buffer <<X
buffer0+864 = 435c0000435b0000435a000043590000
buffer0+1008 = 43800000437f0000437e0000437d0000
X
moves edge-filled 3 tile store shared <<X
shared+128 = 00000000000000000000000000000000
shared+144 = 435c0000435b0000435a000043590000
shared+160 = 00000000000000000000000000000000
shared+176 = 43800000437f0000437e0000437d0000
shared+192 = 00000000000000000000000000000000
shared+208 = 00000000000000000000000000000000
shared+224 = 00000000000000000000000000000000
shared+240 = 00000000000000000000000000000000
X
# at (28, -2): the last two elements of each line, which is no multiple of 16 bytes, and two lines
moves end 4 tile load buffer <<X
buffer0+112 = 4200000041f8000041f0000041e80000
buffer0+128 = 00
buffer0+129 = 00
buffer0+130 = 04
buffer0+131 = 42
buffer0+132 = 00
buffer0+133 = 00
buffer0+134 = 08
buffer0+135 = 42
buffer0+256 = 42880000428600004284000042820000
buffer0+272 = 00
buffer0+273 = 00
buffer0+274 = 8a
buffer0+275 = 42
buffer0+276 = 00
buffer0+277 = 00
buffer0+278 = 8c
buffer0+279 = 42
X
moves end-filled 4 tile store shared <<X
shared+128 = 00000000000000000000000000000000
shared+144 = 00000000000000000000000000000000
shared+160 = 00000000000000000000000000000000
shared+176 = 00000000000000000000000000000000
shared+192 = 4200000041f8000041f0000041e80000
shared+208 = 00000000000000004208000042040000
shared+224 = 42880000428600004284000042820000
shared+240 = 0000000000000000428c0000428a0000
X
check edge-back test "$("$work/show" "$work/all.wg" 3 0 0 | grep -c 'store .* buffer1')" = 4
check end-back test "$("$work/show" "$work/all.wg" 4 0 0 | grep -c 'store .* buffer1')" = 36
moves cube 6 cube load buffer <<X
buffer0+896 = 43640000436300004362000043610000
buffer0+1040 = 43840000438380004383000043828000
X

# memory after each launch is what the program has
hash_of() {
  sql all "SELECT value FROM contents((SELECT min(id) FROM (SELECT id FROM allocation WHERE kind =
    'device' ORDER BY id LIMIT 1 OFFSET 1)),
           (SELECT s.id FROM step s JOIN launch l ON l.id = s.launch AND s.kind = 'launch'
             WHERE l.number = $1), 0, 1152)" |
    awk 'BEGIN { h = 1 } $1 == "" { h = -1 } { if (h >= 0) h = (h * 31 + $1) % 4294967296 }
      END { printf "%08x\n", h }'
}
for n in 1 2 3 4 5; do
  check "contents-$n" test "$(hash_of $n)" = "$(sed -n "${n}p" "$work/all.out")"
done

# who wrote what the threads read of the tile: the copy, and nobody else can have
check certain test "$(sql all "SELECT group_concat(DISTINCT w.thread || ' ' || w.ambiguous) FROM
  access a JOIN launch l ON l.id = a.launch_id, writer(a.record, a.lane) w
                     WHERE l.number < 6 AND a.kind = 'load' AND a.space = 'shared' AND a.bytes = \
                       4")" = "0 0"

# a map that is no parameter: a launch that is not recorded
RECORD_ARGS=pointer record cpu tensor pointer
check pointer test \
  "$(sql pointer "SELECT group_concat(recorded, '') FROM step WHERE kind = 'launch'")" = 1111110
check pointer-said grep -q "does not see what its cp.async.bulk.tensor" "$work/pointer.err"

# the code that a GPU gets says the same
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/libcuda-standin.so" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
RECORD_NVCC=-cudart=shared build tensor -gencode arch=compute_90,code=compute_90
LD_LIBRARY_PATH=$BUILD/tests/cudart WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so \
  WARPGRIND_CACHE_DIR=$work/cache record gpu tensor standin
"$work/show" "$work/standin.wg" > "$work/standin.txt"
check standin cmp "$work/all.txt" "$work/standin.txt"
check standin-result test "$plain" = "$(cat "$work/standin.out")"
timeout -k 5 100 "$WARPGRIND" --device=cpu --tool=memcheck,racecheck,initcheck,synccheck --record \
  -o "$work/tools.wg" "$work/tensor" > "$work/tools.out" 2> "$work/tools.err"
"$work/show" "$work/tools.wg" > "$work/tools.txt"
check with-tools cmp "$work/all.txt" "$work/tools.txt"
check with-tools-result test "$plain" = "$(cat "$work/tools.out")"
