#!/usr/bin/env bash
# timeout: 300
# Random kernels against an exact computation of what is ordered (oracle.py): nothing may be
# reported that is no race. Missed may be kernels with accesses of parts of words, or flags
# (docs/racecheck.md), and on a GPU what comes at the very same time.
set -u
cd "$ROOT" || exit 1
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }
flock "$BUILD/tests" $CC -w -Isrc -o "$TEST_DIR/oracle" tests/racecheck/oracle.c -L"$BUILD/lib" \
  -l:libcuda.so.1 || { echo "FAIL $CC"; exit 1; }
device=${TEST_DEVICE:-cpu}
for seed in ${ORACLE_SEEDS:-1 4 8}; do
  blocks=$((1 + seed % 3)) threads=$((32 * (1 + seed % 4)))
  python3 tests/racecheck/oracle.py make $seed ${ORACLE_KERNELS:-$([ "${TEST_SIZE:-}" = long ] &&
    echo 600 || echo 60)} $blocks $threads "$TEST_DIR/$seed.ptx" "$TEST_DIR/$seed.json" ||
    { echo "FAIL make $seed"; continue; }
  for mode in "" --race=full; do
    [ -n "${RACECHECK_QUICK:-}" ] && [ -n "$mode" ] && continue
    # shellcheck disable=SC2086
    timeout 100 "$WARPGRIND" --device="$device" --workers=1 --tool=racecheck $mode \
      --json="$TEST_DIR/report.json" -- "$TEST_DIR/oracle" "$TEST_DIR/$seed.ptx" $blocks $threads \
      > "$TEST_DIR/out" 2> "$TEST_DIR/err"
    code=$?
    python3 tests/racecheck/oracle.py compare "$TEST_DIR/$seed.json" "$TEST_DIR/report.json" > \
      "$TEST_DIR/said"
    name="seed $seed${mode:+ $mode}"
    if [ $code != 99 ]; then tail -n 5 "$TEST_DIR/err"; echo "FAIL $name: exit code $code"
    elif grep -q '^not a race' "$TEST_DIR/said"; then cat "$TEST_DIR/said"
      echo "FAIL $name: reported what is no race"
    elif [ "$device" = cpu ] && grep '^missed' "$TEST_DIR/said" | grep -qv 'bytes\|flags'
      then cat "$TEST_DIR/said"; echo "FAIL $name: missed"
    else echo "ok $name: $(tail -n 1 "$TEST_DIR/said")"; fi
  done
done
