#!/usr/bin/env bash
# timeout: 300
# The programs of count.sh in GPU mode, with the virtual device behind it as the real driver: both
# devices count the same.
set -u
. tests/lib/check.sh
command -v python3 > "$TEST_DIR/log" || { echo "skip gpu_mode: no python3"; exit 0; }
. tests/gpumode/lib.sh
d=$TEST_DIR
export WARPGRIND_DEVICES=2

counts() {
  local name=$1; shift
  $CC -std=gnu11 -g -O1 -Wall -Wno-unused-function -Isrc -Itests/driver -pthread -o "$d/$name" \
    "tests/tools/$name.c" -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined -ldl -lm &&
    "$WARPGRIND" --device=gpu --tool=count -q --log-file="$d/$name.log" --json="$d/$name.json" -- \
      "$d/$name" > "$d/$name.out" 2> "$d/$name.err" || { cat "$d/$name".{out,err,log}; return 1; }
  python3 tests/tools/expected_counts.py "$d/$name.out" "$d/$name.json" "$@"
}
for file in tests/tools/*.c; do
  name=$(basename "$file" .c)
  grep -q finish_counted "$file" || continue
  case $name in calls) check "$name" counts "$name" total ;; *) check "$name" counts "$name" ;; esac
done
exit 0
