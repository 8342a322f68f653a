#!/usr/bin/env bash
# quick: yes
# What orders accesses is the same in a run and in its recording: kernels for the lines of
# src/probe/order_rules.def, with and without a guard, recorded while racecheck runs along
# (order_rules.py).
set -u
cd "$ROOT" || exit 1
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }
flock "$BUILD/tests" $CC -w -Isrc -o "$TEST_DIR/oracle" tests/racecheck/oracle.c -L"$BUILD/lib" \
  -l:libcuda.so.1 || { echo "FAIL $CC"; exit 1; }
python3 tests/trace/order_rules.py make "$TEST_DIR/rules.ptx" || { echo "FAIL make"; exit 1; }
timeout 100 "$WARPGRIND" --device="${TRACE_DEVICE:-cpu}" --tool=racecheck --record -o \
  "$TEST_DIR/run.wg" "$TEST_DIR/oracle" "$TEST_DIR/rules.ptx" 2 64 > "$TEST_DIR/out" 2> \
  "$TEST_DIR/err"; code=$?
python3 tests/trace/order_rules.py compare "$TEST_DIR/rules.ptx" "$WARPGRIND" "$TEST_DIR/run.wg" > \
  "$TEST_DIR/said" 2>&1
if [ $code != 99 ]; then tail -n 5 "$TEST_DIR/err"; echo "FAIL run: exit code $code"
elif ! grep -q ' kernels$' "$TEST_DIR/said" || grep -q finds "$TEST_DIR/said"
  then cat "$TEST_DIR/said"; echo "FAIL rules"
else tail -n 1 "$TEST_DIR/said"; echo "ok rules"; fi
