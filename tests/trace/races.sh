#!/usr/bin/env bash
# timeout: 300
# Races of a recorded run are those that racecheck finds: the programs of tests/racecheck.
set -u
cd "$ROOT" || exit 1
device=${TRACE_DEVICE:-cpu} arch=${TRACE_ARCH:-75}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
one() {
  local name=$1 f=tests/racecheck/programs/$1.cu d=$TEST_DIR/$1; shift
  mkdir -p "$d"
  nvcc -w -O3 --extended-lambda -lineinfo -DARCH="$arch" -gencode "arch=compute_$arch,code=compute_$arch" -o "$d/program" "$f" > "$d/nvcc" 2>&1 || { cat "$d/nvcc"; echo "FAIL $name: nvcc"; return; }
  timeout 120 "$WARPGRIND" --device="$device" --tool=none --record -o "$d/run.wg" "$d/program" > "$d/out" 2>&1 || { tail -n 5 "$d/out"; echo "FAIL $name: does not run"; return; }
  python3 tests/trace/races.py "$WARPGRIND" "$d/run.wg" "$f" "$@" > "$d/wrong" 2>&1
  if [ -s "$d/wrong" ]; then cat "$d/wrong"; echo "FAIL $name: other races"; else echo "ok $name"; fi
}
one block &
one block_ok &
[ "$device" != cpu ] || wait
one grid &
one grid_ok &
[ "$device" != cpu ] || wait
one own &
one own_ok &
one matrix_ok &
wait
