#!/usr/bin/env bash
# timeout: 900
# What fpcheck finds in programs whose births are known, line by line and exactly counted, in both
# modes; and what it must not find.
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip births: nvcc is not on PATH"; exit 0; }

for name in births silent answers; do build $name compute_80 & done
build births-ftz compute_80 -ftz=true &
wait
for mode in full fast; do
  check "births: exit code, $mode" is "$(code fp --fp-mode=$mode "$TEST_DIR/births")" 99
  without=; [ $mode = fast ] && without=fp-subnormal
  check "births: lines, kinds and counts, $mode" findings births $without
  check "births: the logarithm of -x in words, $mode" has "$TEST_DIR/err" "log(-2) = NaN (f64)"
  check "silent: exit code, $mode" is "$(code fp --fp-mode=$mode "$TEST_DIR/silent")" 0
  check "silent: only the notes asked for, $mode" findings silent
done
# Constants that functions of the library return, and quotients that are thrown away.
for mode in full fast; do
  check "answers: exit code, $mode" is \
    "$(code fp --fp=nan,inf,div0 --fp-mode=$mode "$TEST_DIR/answers")" 99
  check "answers: lines, kinds and counts, $mode" findings answers
done
check "answers: logarithms in words" has "$TEST_DIR/err" "log(-1) = NaN (f32)"
check "answers: logarithms in words, f64" has "$TEST_DIR/err" "log(-1) = NaN (f64)"
check "answers: in words" has "$TEST_DIR/err" \
  "a function of CUDA's library, called with 1.0000000150474662e+30, returns inf (f64)"
check "answers: poles in words" has "$TEST_DIR/err" \
  "a function of CUDA's library, called with -1, returns inf (f64)"
plain=$(plain "$TEST_DIR/silent")
for mode in full fast; do
  check "silent: same output, $mode" is "$(fp -q --fp-mode=$mode "$TEST_DIR/silent" 2> /dev/null)" \
    "$plain"
done

# Which exceptions: the others are not there.
code fp --fp=div0 --fp-mode=full "$TEST_DIR/births" > /dev/null
check "--fp=div0 leaves the others out" is "$(kinds | cut -d' ' -f1 | sort -u | tr '\n' ' ')" \
  "fp-div0 fp-input "
check "--fp of an unknown exception" is "$(code fp --fp=none "$TEST_DIR/births")" 125
check "--fp names it" has "$TEST_DIR/err" "'none'"

check "--fp=sub alone tests every instruction" is \
  "$(code fp --fp=sub "$TEST_DIR/births" > /dev/null; kinds | grep -c sub)" 2

# Flushing to zero makes no subnormal numbers.
code fp --fp=sub --fp-mode=full "$TEST_DIR/births-ftz" > /dev/null
check "-ftz=true: only double precision is subnormal" is "$(kinds | grep sub)" "fp-subnormal 2"

# FP8: an overflow that saturation hides.
BLESS=0
. tests/lib/steps.sh
host=$(ptxhost)
for mode in full fast; do
  code fp --fp-mode=$mode "$host" "$t/saturates.ptx" > /dev/null
  check "saturating conversions, $mode" is "$(kinds)" "fp-inf 2
fp-input 1"
done
