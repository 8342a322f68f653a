#!/bin/bash
# quick: yes
# Blocks that do nothing are not run: a grid of 2^31 - 1 ends soon, and does what it would do.
set -eu
. tests/lib/steps.sh
. tests/lib/check.sh
host=$(ptxhost)
run() {
  local tool=$1; shift; timeout 60 "$WARPGRIND" --device=cpu --tool="$tool" -q \
    --log-file="$TEST_DIR/log" "$@" -- "$host" "$file" > "$TEST_DIR/out" 2> "$TEST_DIR/err"
}
cp tests/vgpu/idle/*.ptx "$TEST_DIR"
python3 tests/vgpu/idle/random_kernels.py 20261117 12 > "$TEST_DIR/random.ptx"
cd "$TEST_DIR"
file=huge.ptx
check none run none
check memcheck run memcheck
check seeded run none --seed=3
file=trap.ptx check trap run none
file=fault.ptx check fault run none
# With --tool=count every block runs.
file=random.ptx
run none && mv out skipped && run count --error-exitcode=0 && mv out all &&
  check same_as_all_blocks cmp skipped all
