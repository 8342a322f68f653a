#!/usr/bin/env bash
# timeout: 300
# Tensor copies are recorded tile by tile, with what the driver was asked to put into their maps; both devices say the same, memory behind the launch is known, and what is read of a tile
# leads back to the element of the tensor.
set -u
. tests/record/common
make_show
whole tensor 6
"$work/show" "$work/all.wg" > "$work/all.txt"

# moves NAME LAUNCH LINE KIND MEMORY: what stands on standard input, of thread 0
moves() {
  cat > "$work/want"
  "$work/show" "$work/all.wg" "$2" 0 0 | awk -v l="$3" -v k="$4" '$3 == k && $4 == l { $1 = $2 = $3 = $4 = ""; print }' | grep "$5" | sed 's/^ *//' > "$work/got"
  if diff "$work/want" "$work/got"; then echo "ok $1"; else echo "FAIL $1"; fi
}
# at (5, 1): addresses that are no multiples of 16, and a swizzle: the halves of each line of 32 bytes change places
moves crooked 2 25 load buffer <<X
buffer0+164 = 4234000042300000422c000042280000
buffer0+180 = 4244000042400000423c000042380000
buffer0+308 = 42a2000042a00000429e0000429c0000
buffer0+324 = 42aa000042a8000042a6000042a40000
buffer0+452 = 42ea000042e8000042e6000042e40000
buffer0+468 = 42f2000042f0000042ee000042ec0000
buffer0+596 = 43190000431800004317000043160000
buffer0+612 = 431d0000431c0000431b0000431a0000
X
moves swizzled 2 25 store shared <<X
shared+1168 = 4234000042300000422c000042280000
shared+1152 = 4244000042400000423c000042380000
shared+1200 = 42a2000042a00000429e0000429c0000
shared+1184 = 42aa000042a8000042a6000042a40000
shared+1232 = 42ea000042e8000042e6000042e40000
shared+1216 = 42f2000042f0000042ee000042ec0000
shared+1264 = 43190000431800004317000043160000
shared+1248 = 431d0000431c0000431b0000431a0000
X
# at (-3, 6): three elements of each line and two lines are outside
moves edge 3 25 load buffer <<X
buffer0+864 = 00
buffer0+865 = 00
buffer0+866 = 59
buffer0+867 = 43
buffer0+868 = 435d0000435c0000435b0000435a0000
buffer0+1008 = 00
buffer0+1009 = 00
buffer0+1010 = 7d
buffer0+1011 = 43
buffer0+1012 = 4380800043800000437f0000437e0000
X
moves edge-filled 3 25 store shared <<X
shared+1152 = 43590000000000000000000000000000
shared+1168 = 435d0000435c0000435b0000435a0000
shared+1184 = 437d0000000000000000000000000000
shared+1200 = 4380800043800000437f0000437e0000
shared+1216 = 00000000000000000000000000000000
shared+1232 = 00000000000000000000000000000000
shared+1248 = 00000000000000000000000000000000
shared+1264 = 00000000000000000000000000000000
X
check edge-back test "$("$work/show" "$work/all.wg" 3 0 0 | grep -c 'store .* buffer1')" = 10
moves cube 6 46 load buffer <<X
buffer0+896 = 43640000436300004362000043610000
buffer0+1040 = 43840000438380004383000043828000
X

# memory behind each launch is what the program has
hash_of() {
  sql all "SELECT value FROM contents((SELECT min(id) FROM (SELECT id FROM allocation WHERE kind = 'device' ORDER BY id LIMIT 1 OFFSET 1)),
           (SELECT s.id FROM step s JOIN launch l ON l.id = s.launch AND s.kind = 'launch' WHERE l.number = $1), 0, 1152)" | awk 'BEGIN { h = 1 } $1 == "" { h = -1 } { if (h >= 0) h = (h * 31 + $1) % 4294967296 } END { printf "%08x\n", h }'
}
for n in 1 2 3 4 5; do check "contents-$n" test "$(hash_of $n)" = "$(sed -n "${n}p" "$work/all.out")"; done

# who wrote what the threads read of the tile: the copy, and nobody else can have
check certain test "$(sql all "SELECT group_concat(DISTINCT w.thread || ' ' || w.ambiguous) FROM access a JOIN launch l ON l.id = a.launch, writer(a.record, a.lane) w
                     WHERE l.number < 6 AND a.kind = 'load' AND a.space = 'shared' AND a.bytes = 4")" = "0 0"

# a map that is no parameter: a launch that is not recorded
RECORD_ARGS=pointer record cpu tensor pointer
check pointer test "$(sql pointer "SELECT group_concat(recorded, '') FROM step WHERE kind = 'launch'")" = 1111110
check pointer-said grep -q "does not see what its cp.async.bulk.tensor" "$work/pointer.err"

# the code that a GPU gets says the same
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/libcuda-standin.so" "$BUILD/tests/cudart/libcudart.so.13" > "$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
RECORD_NVCC=-cudart=shared build tensor -gencode arch=compute_90,code=compute_90
LD_LIBRARY_PATH=$BUILD/tests/cudart WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so WARPGRIND_CACHE_DIR=$work/cache record gpu tensor standin
"$work/show" "$work/standin.wg" > "$work/standin.txt"
check standin cmp "$work/all.txt" "$work/standin.txt"
check standin-result test "$plain" = "$(cat "$work/standin.out")"
timeout -k 5 100 "$WARPGRIND" --device=cpu --tool=memcheck,racecheck,initcheck,synccheck --record -o "$work/tools.wg" "$work/tensor" > "$work/tools.out" 2> "$work/tools.err"
"$work/show" "$work/tools.wg" > "$work/tools.txt"
check with-tools cmp "$work/all.txt" "$work/tools.txt"
check with-tools-result test "$plain" = "$(cat "$work/tools.out")"
