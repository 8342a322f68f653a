#!/usr/bin/env bash
# timeout: 300
# Programs of several processes, and programs that end in other ways than by returning: what was
# counted, and what the report says of the rest.
. tests/lib/check.sh
. tests/lib/annotations.sh
d=$TEST_DIR
command -v python3 > "$d/log" || { echo "skip processes: no python3"; exit 0; }
$CC -std=gnu11 -g -O1 -Wall -Wno-unused-function -Isrc -pthread -o "$d/processes" \
  tests/tools/processes.c -L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined ||
  { echo "FAIL build"; exit 1; }

# run MODE CODE LAUNCHES COUNTED OPTIONS…: the exit code, the launches of all processes, and those
# whose counts are in the report
run() {
  local mode=$1 want=$2 launches=$3 counted=$4 code; shift 4
  rm -f "$d/json"
  # shellcheck disable=SC2086
  (cd "$d" && "$WARPGRIND" --device=cpu --tool=count --json="$d/json" "$@" -- ./processes $mode) > \
    "$d/out" 2> "$d/err"
  code=$?
  if [ $code != "$want" ] || ! python3 - "$d/json" "$launches" "$counted" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
stores = sum(c["stores"] for c in r.get("counts", []) if c["kernel"] == "fill")
print("launches", r["coverage"]["launches"], "stores", stores)
sys.exit(r["coverage"]["launches"] != int(sys.argv[2]) or stores != 64 * int(sys.argv[3]))
PY
  then echo "exit code $code"; cat "$d/out" "$d/err"; return 1; fi
  grep -q "ERROR SUMMARY" "$d/err" || { cat "$d/err"; return 1; }
}
lost() { grep -q 'ended before the counts of device 0 were read: they are lost' "$d/err"; }

check once            run once 0 1 1
check skip_and_count  run "once 10" 0 10 3 --launch-skip=2 --launch-count=3
check kernel          run "once 10" 0 10 10 --kernel='^f.ll$'
check kernel_other    run "once 10" 0 10 0 --kernel=add
check kernel_nothing  grep -q 'NOTHING WAS CHECKED' "$d/err"
check kernel_exclude  run "once 10" 0 10 0 --kernel-exclude=fill
check fork_first      run fork-first 0 6 6
check fork_after      run fork-after 0 2 2
check exec_child      run exec-child 0 5 5
check exec_child_left run exec-child 0 1 1 --trace-children=no
check exec            run exec 0 5 3
check exec_says_so    lost
check exec_clean      run exec-clean 0 5 5
check exec_clean_all  eval '! lost'
check underscore_exit run _exit 0 2 0
check _exit_says_so   lost
check crash           run crash 134 2 0
check crash_says_so   lost
check thread_exit     run thread-exit 0 3 2
check fault           run fault 99 3 2
check fault_finding   grep -q \
  '"kind":"launch-failure".*"kernel":"bad".*"block":\[[0-2],0,0\].*"launch":3.*"address":"0x10"' \
  "$d/json"
check fault_kept      grep -q 'illegal global address 0x10' "$d/err"
check fault_none      [ "$(cd "$d" && code "$WARPGRIND" --device=cpu --tool=none -- ./processes \
  fault)" = 0 ]
check fault_none_said grep -q 'illegal global address 0x10' "$d/err"

# Faults of code with a line table have its place, inline chain included.
if command -v nvcc > "$d/log" 2>&1; then
  nvcc -arch=compute_75 -lineinfo -o "$d/faults" tests/tools/faults.cc -x cu 2> "$d/log" ||
    { cat "$d/log"; echo "FAIL faults: does not compile"; }
  fault() {
    "$WARPGRIND" --device=cpu --tool=count --json="$d/json" -- "$d/faults" "$1" > "$d/out" 2> \
      "$d/err"
    [ $? = 99 ] && python3 - "$d/json" "$@" <<'PY' || { cat "$d/out" "$d/err"; return 1; }
import json, sys
path, mode, kind, function, line = sys.argv[1:]
f = json.load(open(path))["findings"]
print(f)
places = [f[0]] + f[0].get("inlined_at", [])
sys.exit(not (len(f) == 1 and f[0]["kind"] == kind and f[0]["file"].endswith("faults.cc")
              and f[0]["line"] == int(line) and f[0]["stack"]
              and any(function in p.get("function", "") + p.get("kernel", "") for p in places)))
PY
  }
  at() { line_of "$1" tests/tools/faults.cc; }
  check fault_place    fault address launch-failure store "$(at address)"
  check fault_stack    [ "$(python3 -c 'import json,sys; print([f["function"] for f in
    json.load(open(sys.argv[1]))["findings"][0]["stack"]])' "$d/json")" = "['main']" ]
  check fault_inlined  [ \
    "$(python3 -c \
    'import json,sys; print(json.load(open(sys.argv[1]))["findings"][0]["inlined_at"][0]["line"])' \
    "$d/json")" = "$(at call)" ]
  check fault_assert   fault assert assert check "$(at assert)"
else echo "skip fault_place: no nvcc"; fi

# Ctrl-C, and the ways of those who manage processes.
for signal in SIGINT:130 SIGTERM:143 SIGQUIT:131; do
  name=${signal%:*}
  (cd "$d" && ulimit -c 0 && python3 "$ROOT/tests/tools/interrupt.py" "$name" spinning \
    "$WARPGRIND" --device=cpu --tool=count -- ./processes endless) > "$d/out" 2>&1
  check "$name"        grep -qx "code ${signal#*:}" "$d/out"
  check "$name-report" grep -q 'kernel launches: 3, different kernels: 2' "$d/out"
  check "$name-once"   [ "$(grep -c 'ERROR SUMMARY' "$d/out")" = 1 ]
  grep -q "code ${signal#*:}" "$d/out" || cat "$d/out"
done
exit 0
