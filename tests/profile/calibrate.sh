#!/usr/bin/env bash
# timeout: 300
# warpgrind profile --calibrate: its kernels assemble, what it has kept is what a run on a GPU is
# compared with, and a file that is damaged is not used.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/gpumode/lib.sh
d=$TEST_DIR
WARPGRIND_REAL_DRIVER=$d/none "$WARPGRIND" profile --calibrate > "$d/out" 2>&1
check no_driver [ $? = 125 ]
refused() { "$WARPGRIND" profile "${@:2}" > "$d/out" 2>&1; [ $? = 125 ] && has "$d/out" "$1"; }
check program_given refused "--calibrate needs no program" --calibrate ./program
check program_missing refused "program is missing"
command -v nvcc > /dev/null || { echo "skip calibrate: nvcc is not installed"; exit 0; }
$CC -std=gnu11 -Isrc -o "$d/code" tests/profile/calibrate.c \
  src/tools/profile/report_calibrate_code.c "$BUILD"/obj/base/*.o -lm -pthread || exit 1
"$d/code" > "$d/code.ptx"
for arch in sm_75 sm_90 sm_120; do
  check "assembles_$arch" ptxas -arch=$arch -o "$d/code.cubin" "$d/code.ptx"
done

shared_runtime
tests/lib/nvcc -w -O2 -g -lineinfo -cudart=shared -arch=compute_75 -o "$d/work" \
  tests/profile/cupti/work.cu > "$d/nvcc" 2>&1 || { cat "$d/nvcc"; exit 1; }
export WARPGRIND_STATE_DIR=$d/state
mkdir -p "$d/state"
kept() {  # some peaks
  local value=10 name
  echo "device a Test GPU"
  sed -n 's/^PEAK([A-Z_]*, *"\([a-z_]*\)".*/\1/p' src/tools/profile/peaks.def |
    while read -r name; do echo "$name $value"; value=$((value * 2)); done
}
kept > "$d/state/peaks"
"$WARPGRIND" --device=gpu --tool=profile -o "$d/run.wg" "$d/work" > "$d/live" 2>&1
check used grep -q "of a Test GPU" "$d/live"
rm "$d/state/peaks"
"$WARPGRIND" report "$d/run.wg" > "$d/again" 2>&1
check kept_in_the_run grep -q "of a Test GPU" "$d/again"
kept | sed 's/^memory .*/memory -1/' > "$d/state/peaks"
"$WARPGRIND" --device=gpu --tool=profile "$d/work" > "$d/damaged" 2>&1
check damaged grep -q "of an H200" "$d/damaged"
