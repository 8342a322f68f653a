#!/usr/bin/env bash
# Allocations of every kind are in the run file, with the line that made them and, where they were
# freed, that it was so.
. tests/lib/check.sh
. tests/lib/annotations.sh
d=$TEST_DIR
$CC -std=gnu11 -g -O1 -Wall -Wno-unused-function -Isrc -pthread -o "$d/memory" \
  tests/tools/memory.c -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined ||
  { echo "FAIL build"; exit 1; }
line() { grep -n "$1" tests/tools/memory.c | head -n 1 | cut -d: -f1; }
for tool in none count; do
  "$WARPGRIND" --device=cpu --tool=$tool -q -o "$d/$tool.wg" -- "$d/memory" > "$d/out" 2> "$d/err" \
    || { cat "$d/out" "$d/err"; echo "FAIL run-$tool"; continue; }
  "$WARPGRIND" sql "$d/$tool.wg" "select a.size, a.kind, a.name, a.freed, f.function, f.line from
    allocation a left join frame f on f.stack = a.stack and f.depth = 0 order by a.id" |
    tail -n +2 | tr '\t' ' ' | sed 's/ load [0-9]*$/ load/' > "$d/got"
  cat > "$d/want" <<EOF
1000 device  0 device_memory $(line_of device_memory tests/tools/memory.c)
1006 variable table 1 load
1001 managed  1 main $(line 'cuMemAllocManaged')
1002 pinned  0 main $(line 'cuMemHostAlloc')
1536 device  0 main $(line 'cuMemAllocPitch')
1003 pool  1 main $(line 'cuMemAllocAsync')
4096 registered  1 main $(line 'cuMemHostRegister')
1004 array  0 main $(line 'cuArray3DCreate')
$(sed -n 's/^virtual //p' "$d/out") virtual  0 main $(line 'cuMemMap')
EOF
  check "$tool" diff "$d/got" "$d/want"
  # Where it was freed, and the address as the program saw it.
  check "$tool-free" [ "$("$WARPGRIND" sql "$d/$tool.wg" "select f.line from allocation a join frame
    f on f.stack = a.free_stack and f.depth = 0 where a.size = 1001" | tail -n 1)" = "$(line \
    'cuMemFree_v2(q)')" ]
  check "$tool-address" [ \
    "$("$WARPGRIND" sql "$d/$tool.wg" \
    "select printf('0x%x', base) from allocation where size = 1000" |
    tail -n 1)" = "$(sed -n 's/^device //p' "$d/out")" ]
done
exit 0
