#!/bin/bash
# Random kernels give the same bytes interpreted and compiled.
# timeout: 600
set -eu
. tests/jit/jit.sh
host=$(ptxhost)
# both SEED COUNT
both() {
  python3 tests/jit/random_kernels.py "$1" "$2" > "$TEST_DIR/kernels.ptx"
  run off --workers=1 -- "$host" --dump="$TEST_DIR/off" "$TEST_DIR/kernels.ptx" || return 1
  run always --workers=1 -- "$host" --dump="$TEST_DIR/always" "$TEST_DIR/kernels.ptx" || return 1
  cmp "$TEST_DIR/off" "$TEST_DIR/always"
}
# Probes are called in blocks that are not compiled. The kernels are long then, so there is one.
with_memcheck() {
  python3 tests/jit/random_kernels.py 21 1 > "$TEST_DIR/one.ptx"
  run off --workers=1 -- "$host" --dump="$TEST_DIR/plain" "$TEST_DIR/one.ptx" || return 1
  timeout 250 "$WARPGRIND" --device=cpu --tool=memcheck -q --jit=always --workers=1 -- "$host" \
    --dump="$TEST_DIR/checked" "$TEST_DIR/one.ptx" || return 1
  cmp "$TEST_DIR/plain" "$TEST_DIR/checked"
}
check memcheck with_memcheck
seeds="11 12"
[ "${TEST_SIZE:-}" != long ] || seeds=$(seq 100 160)
for seed in $seeds; do
  check "seed_$seed" both "$seed" 7
  # some blocks have no shape that is compiled, but most have
  check "seed_${seed}_compiled" [ "$(compiled)" -ge 4 ]
done
# The test can fail: another input is another result.
sed -i 's/random 2/random 5/' "$TEST_DIR/kernels.ptx"
run off --workers=1 -- "$host" --dump="$TEST_DIR/other" "$TEST_DIR/kernels.ptx"
check notices_a_difference [ "$(cmp -s "$TEST_DIR/off" "$TEST_DIR/other"; echo $?)" = 1 ]
