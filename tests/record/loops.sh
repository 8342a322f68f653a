#!/usr/bin/env bash
# timeout: 600
# Operations that go into one record together on a GPU, folded loops among them: the same questions
# find the same as on the virtual device, where each has its own.
set -u
. tests/record/common
make_show
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/libcuda-standin.so" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$work/make.log" 2>&1 || { cat "$work/make.log"; exit 1; }
RECORD_NVCC=-cudart=shared build loops || exit
export LD_LIBRARY_PATH=$BUILD/tests/cudart WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so \
  WARPGRIND_CACHE_DIR=$work/cache
plain=$(timeout 60 "$WARPGRIND" --device=cpu --tool=none -q -- "$work/loops")
record cpu loops each
record gpu loops folded
check result test "$plain" = "$(cat "$work/folded.out")"
"$work/show" "$work/each.wg" > "$work/each.txt"
"$work/show" "$work/folded.wg" > "$work/folded.txt"
if cmp -s "$work/each.txt" "$work/folded.txt"; then
  echo "ok threads"
else
  diff "$work/each.txt" "$work/folded.txt" | head -n 20; tail -n 3 "$work/folded.err"
    echo "FAIL threads"
fi
check threads-some test "$(wc -l < "$work/each.txt")" -gt 100000
check complete test "$(sql folded "SELECT value FROM meta WHERE key='trace_lost'")" = 0

raw() { sql "$1" "SELECT value FROM meta WHERE key='trace_raw_records'"; }
check fewer-records test $(($(raw folded) * 4)) -lt "$(raw each)"

# rings so small that the device waits for the command
record gpu loops tiny --record-buffer=0
"$work/show" "$work/tiny.wg" > "$work/tiny.txt"
check tiny-rings cmp "$work/each.txt" "$work/tiny.txt"

# other tools, which change loops too
timeout 200 "$WARPGRIND" --device=gpu --tool=memcheck,racecheck,initcheck,synccheck --record -o \
  "$work/tools.wg" -- "$work/loops" > "$work/tools.out" 2> "$work/tools.err"
"$work/show" "$work/tools.wg" > "$work/tools.txt"
check with-tools cmp "$work/each.txt" "$work/tools.txt"
check with-tools-result test "$plain" = "$(cat "$work/tools.out")"

check with-tools-silent grep -q "ERROR SUMMARY: 0 errors" "$work/tools.err"

# elements and writers: for some elements of every buffer, all who touched it; for what each read
# there, who wrote it. Times are not the same, so that what nothing orders is sorted.
ask() {
  sql "$1" "SELECT base, size FROM allocation WHERE kind NOT IN ('pinned', 'registered') ORDER BY
    id" | tr -s ' |' '  ' | while read -r base size; do
    for offset in 0 124 640 1300; do
      [ $((offset + 4)) -le "$size" ] || continue
      echo "element $((offset))"
      sql "$1" "SELECT l.number, thread, kind, line, coalesce(value, '') FROM access a JOIN launch l
        ON l.id = a.launch_id WHERE address = $((base + offset))" | sort
      sql "$1" "SELECT a.thread, a.line, w.launch, w.thread,
        w.kind, coalesce(w.value, '') FROM (SELECT * FROM access WHERE address = $((base + offset))
        AND kind = 'load' LIMIT 20) a, writer(a.record, a.lane) w" | sort
    done
  done
}
ask each > "$work/each.elements"
ask folded > "$work/folded.elements"
check elements test "$(wc -l < "$work/each.elements")" -gt 1000
if cmp -s "$work/each.elements" "$work/folded.elements"; then
  echo "ok writers"
else
  diff "$work/each.elements" "$work/folded.elements" | head -n 20; echo "FAIL writers"
fi
