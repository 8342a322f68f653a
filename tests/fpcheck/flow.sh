#!/usr/bin/env bash
# timeout: 900
# From birth to effect: --fp-flow, the table of places, and what changed between two builds.
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip flow: nvcc is not on PATH"; exit 0; }
for name in births silent; do build $name compute_80 & done
build births-fastmath compute_80 -use_fast_math &
wait

# --fp-flow: from birth to effect.
code fp --fp-flow "$TEST_DIR/births" > /dev/null
line() { grep -n "$1" "$t/births.cu" | head -n 1 | cut -d: -f1; }
check "--fp-flow: the sum carries what was born before" has "$TEST_DIR/err" "written to memory at births.cu:$(line '  \*out = s;')"
check "--fp-flow: births stay the same" is "$(python3 "$t/expect.py" "$t/births.cu" "$TEST_DIR/report.json" | grep -v fp-flow)" ""
code fp --fp-flow "$TEST_DIR/silent" > /dev/null
check "--fp-flow: masks vanish in the maximum" has "$TEST_DIR/err" "-inf (f32) vanishes in max.f32"
check "--fp-flow: no error in a correct program" has "$TEST_DIR/err" "ERROR SUMMARY: 0 errors"
check "the table of places" is "$(code fp --fp-mode=full "$TEST_DIR/births" > /dev/null; grep -A5 'places with exceptions' "$TEST_DIR/err" | sed 's/==[0-9]*== *//' | tr -s ' ' | grep '^f')" "f16 0 4 0 0
f32 8 9 7 1
f64 3 2 1 1"

# fp-diff: fast math flushes subnormal numbers.
fp -q --fp-mode=full "$TEST_DIR/births" > /dev/null 2>&1; cp "$TEST_DIR/report.json" "$TEST_DIR/plain.json"
fp -q --fp-mode=full "$TEST_DIR/births-fastmath" > /dev/null 2>&1; cp "$TEST_DIR/report.json" "$TEST_DIR/fastmath.json"
check "fp-diff: exit code" is "$(code "$WARPGRIND" fp-diff "$TEST_DIR/plain.json" "$TEST_DIR/fastmath.json")" 1
check "fp-diff: the line" is "$(grep -c 'only in' "$TEST_DIR/out") $(grep -o 'only in plain.json: fp-subnormal f32 at births.cu:[0-9]*' "$TEST_DIR/out")" "1 only in plain.json: fp-subnormal f32 at births.cu:$(line 'fp-subnormal f32')"
check "fp-diff: nothing changed" is "$(code "$WARPGRIND" fp-diff "$TEST_DIR/plain.json" "$TEST_DIR/plain.json")" 0
check "fp-diff: not a report" is "$(code "$WARPGRIND" fp-diff "$TEST_DIR/plain.json" tests/fpcheck/births.sh)" 125
