#!/usr/bin/env bash
# timeout: 900
# With memcheck in the same run both tools find what each finds alone, in both bodies of a kernel,
# and fast mode stays fast: sinks are what fires in launches that are not tested everywhere.
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip together: nvcc is not on PATH"; exit 0; }
both() {
  "$WARPGRIND" --device="$device" --tool=memcheck,fpcheck --host-stacks=no \
    --json="$TEST_DIR/report.json" "$@"
}
for name in births silent; do build $name compute_80 & done
for name in large overruns; do build $name compute_75 & done
wait
check "births: exit code" is "$(code both "$TEST_DIR/births")" 99
check "births: lines, kinds and counts" findings births fp-subnormal
check "silent: exit code" is "$(code both "$TEST_DIR/silent")" 0
check "silent: only the notes asked for" findings silent
check "silent: same output" is "$(both -q "$TEST_DIR/silent" 2> /dev/null)" \
  "$(plain "$TEST_DIR/silent")"
code both --workers=1 "$TEST_DIR/large" 6400 40 > /dev/null
check "large: births and sinks add up" is "$(kinds |
  awk '/div0|reached/{ s += $2 } /reached/{ r = $2 } END { print s, (r >= 3650 && r < 3800) }')" \
  "4000 1"
code both --fp-mode=full "$TEST_DIR/large" 6400 40 > /dev/null
check "large: full mode" is "$(kinds | grep -v fp-output)" "fp-div0 4000"
# A kernel that divides by zero and writes behind its buffer: in the first launch, which is tested
# everywhere, and in later ones.
for launches in 1 5; do
  check "overruns, $launches: exit code" is "$(code both "$TEST_DIR/overruns" $launches)" 99
  check "overruns, $launches: every access behind the buffer" is \
    "$(kinds | sed -n 's/^oob-write //p')" $((2 * launches))
  check "overruns, $launches: where it is born" has "$TEST_DIR/report.json" '"kind":"fp-div0"'
done
check "overruns: nothing in its twin" is "$(code both "$TEST_DIR/overruns" 5 good)" 0
