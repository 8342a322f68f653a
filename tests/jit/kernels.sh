#!/bin/bash
# Kernels of other tests, every arithmetic form, and the benchmarks, compiled: the results are those
# that these tests ask for.
# timeout: 900
set -eu
. tests/jit/jit.sh
host=$(ptxhost)
for ptx in tests/kernels/*.ptx; do
  name=$(basename "$ptx" .ptx)
  check "$name" run always -- "$host" "$ptx"
done
$CC -std=gnu11 -O1 -Wall -o "$TEST_DIR/semantics" tests/semantics/*.c -lm -ldl
# forms WHAT N: every Nth form. With lanes apart each takes much longer to compile.
forms() {
  check "forms_$1" run always -- "$TEST_DIR/semantics" "$1" tests/semantics/golden.txt \
    tests/semantics/golden-approx.bin "$2" > "$TEST_DIR/$1"
  tail -n 1 "$TEST_DIR/$1"
}
long=$([ "${TEST_SIZE:-}" != long ] || echo yes)
forms check 1
forms diverged "$([ "$long" ] && echo 1 || echo 5)"
check forms_compiled [ "$(compiled)" -gt 20 ]
$CC -O2 -w -o "$TEST_DIR/cases" bench/cases.c bench/backend_cuda.c -ldl -lm
run always -- "$TEST_DIR/cases" bench small > "$TEST_DIR/out"
cat "$TEST_DIR/out"
check benchmarks [ "$(grep -c ' ok$' "$TEST_DIR/out")" = 8 ]
check benchmarks_compiled [ "$(compiled)" -ge 8 ]
# Loops are left when a warp's time is used up, and entered again: it goes on for long.
run auto --workers=1 -- "$TEST_DIR/cases" bench full nbody > "$TEST_DIR/out"
check in_background [ "$(compiled auto)" = 1 ]
check in_background_result grep -q ' ok$' "$TEST_DIR/out"
