#!/usr/bin/env bash
# timeout: 900
# Every function of CUDA's math library, with poles, domain errors, overflows and ordinary numbers:
# each exception is told once, where one comes out, and nothing is told of the others.
# functions.known: where it is not so. That file is compared both ways: what is cured must leave it.
# Also with something computed from the result, which compilers move into the function, and with
# other variants of the functions (--use_fast_math).
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip functions: nvcc is not on PATH"; exit 0; }
build functions compute_80 &
build functions-after compute_80 '-DAFTER(r)=((r)*0.5f+1)' &
wait
build functions-fast compute_80 --use_fast_math
differs() {
  python3 "$t/functions.py" "$TEST_DIR/out" "$TEST_DIR/report.json" | sort > "$TEST_DIR/differs"
    sed -n "s/^$1: //p" "$t/functions.known" | sort | diff - "$TEST_DIR/differs"
}
top=$TEST_DIR
# tried NAME VARIANT OPTIONS…: on a GPU most of it is compiling
tried() {
  local name=$1 variant=$2; shift 2
  TEST_DIR=$top/$name.run
  mkdir -p "$TEST_DIR"
  check "$name: exit code" is "$(code fp "$@" "$top/$variant")" 99
  check "$name: what is told" differs "$variant"
}
for variant in functions functions-after functions-fast; do (tried $variant $variant) & done
(tried "functions, full" functions --fp-mode=full --fp=nan,inf,div0) &
wait
