#!/usr/bin/env bash
# profile on a real GPU: the counts of the virtual device, and the same advice.
set -u
cd "$ROOT" || exit 1
TEST_DEVICE=gpu bash tests/profile/exact.sh
TEST_DEVICE=gpu bash tests/profile/planted.sh

# What the GPU can do, and a run that is compared with it; times by CUPTI, where it is installed.
export WARPGRIND_STATE_DIR=$TEST_DIR/state
"$WARPGRIND" profile --calibrate > "$TEST_DIR/peaks" 2>&1 && echo "ok calibrate" ||
  { cat "$TEST_DIR/peaks"; echo "FAIL calibrate"; }
cat "$TEST_DIR/peaks"
device=$(sed -n 's/^device //p' "$WARPGRIND_STATE_DIR/peaks")
nvcc -w -O2 -g -lineinfo -arch=sm_90 -o "$TEST_DIR/work" tests/profile/cupti/work.cu || exit 1
"$WARPGRIND" profile --json="$TEST_DIR/json" "$TEST_DIR/work" > "$TEST_DIR/out" 2>&1
cat "$TEST_DIR/out"
grep -q "of the device, by \(CUPTI\|events\): kernels" "$TEST_DIR/out" && echo "ok timeline" ||
  echo "FAIL timeline"
grep -q "of $device" "$TEST_DIR/out" && echo "ok calibrated" || echo "FAIL calibrated"
nvcc -w -O3 -lineinfo -arch=sm_90 -o "$TEST_DIR/kernels" bench/profile/kernels.cu || exit 1
"$WARPGRIND" profile --profile-stalls "$TEST_DIR/kernels" > "$TEST_DIR/out" 2>&1
grep "its warps wait\|CUPTI" "$TEST_DIR/out"
grep -q "its warps wait" "$TEST_DIR/out" && echo "ok stalls" || echo "FAIL stalls"
