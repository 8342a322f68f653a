#!/usr/bin/env bash
# timeout: 300
# Random launches and sets on several streams: races between them are all that nothing orders, and
# no others.
set -u
cd "$ROOT" || exit 1
device=${TEST_DEVICE:-cpu}
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
# shellcheck disable=SC2086
tests/lib/nvcc -w -std=c++17 ${TEST_NVCC:-} -gencode arch=compute_75,code=compute_75 -o \
  "$TEST_DIR/program" tests/trace/steps_random.cu > "$TEST_DIR/nvcc" 2>&1 || { cat "$TEST_DIR/nvcc"
  echo "FAIL nvcc"; exit 1; }
for seed in ${STEPS_SEEDS:-1 2 3 4 5 6 7 8 9 10 11 12}; do
  rm -f "$TEST_DIR/run.wg"
  timeout 60 "$WARPGRIND" --device="$device" --tool=none --record -o "$TEST_DIR/run.wg" \
    "$TEST_DIR/program" "$seed" > "$TEST_DIR/out" 2> "$TEST_DIR/err"; code=$?
  python3 tests/trace/steps_random.py "$WARPGRIND" "$TEST_DIR/run.wg" "$TEST_DIR/out" > \
    "$TEST_DIR/said" 2>&1
  if [ $code != 0 ] || ! grep -q 'no error' "$TEST_DIR/err"; then tail -n 5 "$TEST_DIR/err"
    echo "FAIL seed $seed: exit code $code"
  elif grep -qv '^[1-9][0-9]* pairs$' "$TEST_DIR/said"; then cat "$TEST_DIR/said"
    echo "FAIL seed $seed: other races"
  else echo "ok seed $seed: $(cat "$TEST_DIR/said")"; fi
done
