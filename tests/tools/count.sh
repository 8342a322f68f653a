#!/usr/bin/env bash
# timeout: 300
# What is easily forgotten, with --tool=count: programs whose counts are known in closed form, run
# on the virtual device.
. tests/lib/check.sh
. tests/lib/annotations.sh
d=$TEST_DIR
command -v python3 > "$d/log" || { echo "skip count: no python3"; exit 0; }

compile() {
  $CC -std=gnu11 -g -O1 -Wall -Wno-unused-function -Isrc -Itests/driver -pthread -o "$d/$1" \
    "tests/tools/$1.c" -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined -ldl -lm
}
# run NAME OPTIONS…: the program under count; its output and report are kept
run() {
  local name=$1; shift
  rm -f "$d/$name.json"
  # shellcheck disable=SC2046
  "$WARPGRIND" --device=cpu --tool="${tool:-count}" --error-exitcode=0 -q \
    --log-file="$d/$name.log" --json="$d/$name.json" $(setting options "tests/tools/$name.c") "$@" \
    -- "$d/$name" > "$d/$name.out" 2> "$d/$name.err" || { cat "$d/$name".{out,err,log}; return 1; }
}
counts() { run "$@" && python3 tests/tools/expected_counts.py "$d/$1.out" "$d/$1.json"; }
only_counts() { python3 -c 'import json,sys; r=json.load(open(sys.argv[1]))
print(json.dumps([r.get("counts"), r["coverage"]], sort_keys=True))' "$1"; }

for file in tests/tools/*.c; do
  name=$(basename "$file" .c)
  grep -q finish_counted "$file" || continue
  compile "$name" || { echo "FAIL $name: does not compile"; continue; }
  check "$name" counts "$name"
  check "$name-one-worker" counts "$name" --workers=1
  check "$name-seed" counts "$name" --workers=4 --seed=11
  tool=all check "$name-all" counts "$name"              # tools do not count each other
done

# Without a tool the same programs print the same, and nothing is counted.
for name in contexts modules calls params graphs special; do
  cp "$d/$name.out" "$d/$name.with"
  # shellcheck disable=SC2046
  "$WARPGRIND" --device=cpu --tool=none -q --json="$d/none.json" \
    $(setting options "tests/tools/$name.c") -- "$d/$name" > "$d/$name.out" 2> "$d/$name.err"
  check "$name-none" cmp "$d/$name.out" "$d/$name.with"
  check "$name-none-counts-nothing" eval '! grep -q "\"counts\"" "$d/none.json"'
done

# What can be asked is the same with and without.
compile attributes || echo "FAIL attributes: does not compile"
for tool in none count; do
  "$WARPGRIND" --device=cpu --tool=$tool -q -- "$d/attributes" > "$d/attributes.$tool" 2> \
    "$d/attributes.err" || echo "FAIL attributes-$tool"
done
check attributes diff "$d/attributes.none" "$d/attributes.count"

# Kernels launched by kernels, one of them from the host too; a device that is reset by the runtime.
if command -v nvcc > "$d/log" 2>&1; then
  nvcc -arch=compute_90 -rdc=true -o "$d/runtime" tests/tools/runtime_programs.cc -x cu \
    -lcudadevrt 2> "$d/log" || { cat "$d/log"; echo "FAIL runtime: does not compile"; }
  counts_of_runtime() {
    "$WARPGRIND" --device=cpu --tool=count -q --log-file="$d/runtime.log" --json="$d/runtime.json" \
      "$@" -- "$d/runtime" > "$d/runtime.out" 2> "$d/runtime.err" ||
      { cat "$d"/runtime.{out,err,log}; return 1; }
    python3 tests/tools/expected_counts.py "$d/runtime.out" "$d/runtime.json"
  }
  check runtime counts_of_runtime
  check runtime-seed counts_of_runtime --workers=4 --seed=3
else echo "skip runtime: no nvcc"; fi
exit 0
