#!/usr/bin/env bash
# timeout: 300
# Recordings of random kernels against an exact computation of what is ordered
# (tests/racecheck/oracle.py): nothing is called a race that is none, and races are missed at most
# where there are flags.
set -u
cd "$ROOT" || exit 1
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }
flock "$BUILD/tests" $CC -w -Isrc -o "$TEST_DIR/oracle" tests/racecheck/oracle.c -L"$BUILD/lib" \
  -l:libcuda.so.1 || { echo "FAIL $CC"; exit 1; }
device=${TEST_DEVICE:-cpu}
for seed in ${ORACLE_SEEDS:-1 2 4 8 9}; do
  blocks=$((1 + seed % 3)) threads=$((32 * (1 + seed % 4))) run=$TEST_DIR/$seed.wg
  python3 tests/racecheck/oracle.py make "$seed" \
    "${ORACLE_KERNELS:-$([ "${TEST_SIZE:-}" = long ] && echo 600 || echo 60)}" $blocks $threads \
    "$TEST_DIR/$seed.ptx" "$TEST_DIR/$seed.json" || { echo "FAIL make $seed"; continue; }
  timeout 100 "$WARPGRIND" --device="$device" --tool=none --record -o "$run" "$TEST_DIR/oracle" \
    "$TEST_DIR/$seed.ptx" $blocks $threads > "$TEST_DIR/out" 2> "$TEST_DIR/err"; code=$?
  python3 tests/trace/races_report.py "$WARPGRIND" "$run" > "$TEST_DIR/report.json" &&
    python3 tests/racecheck/oracle.py compare "$TEST_DIR/$seed.json" "$TEST_DIR/report.json" > \
    "$TEST_DIR/said"
  if [ $code != 0 ]; then tail -n 5 "$TEST_DIR/err"; echo "FAIL seed $seed: exit code $code"
  elif ! grep -q ' kernels, ' "$TEST_DIR/said" || grep -q '^not a race' "$TEST_DIR/said"
    then cat "$TEST_DIR/said"; echo "FAIL seed $seed: what is no race"
  elif grep '^missed' "$TEST_DIR/said" | grep -qv 'flags'; then cat "$TEST_DIR/said"
    echo "FAIL seed $seed: missed"
  else echo "ok seed $seed: $(tail -n 1 "$TEST_DIR/said")"; fi
done
