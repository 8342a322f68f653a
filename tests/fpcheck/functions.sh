#!/usr/bin/env bash
# timeout: 900
# Every function of CUDA's math library, with poles, domain errors, overflows and ordinary numbers: each exception is told once, where one comes out, and nothing is told of the others. functions.known: where it is not so. That file is
# compared both ways: what is cured must leave it. Also with something computed from the result, which compilers move into the function, and with other variants of the functions (--use_fast_math).
. tests/fpcheck/lib.sh
command -v nvcc > /dev/null || { echo "skip functions: nvcc is not on PATH"; exit 0; }
build functions compute_80 &
build functions-after compute_80 '-DAFTER(r)=((r)*0.5f+1)' &
wait
build functions-fast compute_80 --use_fast_math
differs() { python3 "$t/functions.py" "$TEST_DIR/out" "$TEST_DIR/report.json" | sort > "$TEST_DIR/differs"; sed -n "s/^$1: //p" "$t/functions.known" | sort | diff - "$TEST_DIR/differs"; }
for variant in functions functions-after functions-fast; do
  check "$variant: exit code" is "$(code fp "$TEST_DIR/$variant")" 99
  check "$variant: what is told" differs "$variant"
done
check "functions: exit code, full" is "$(code fp --fp-mode=full --fp=nan,inf,div0 "$TEST_DIR/functions")" 99
check "functions: what is told, full" differs functions
