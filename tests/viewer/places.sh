#!/usr/bin/env bash
# Where variables in shared and local memory lie, read off what kernels did: in GPU mode nothing
# else tells.
set -u
. tests/gpumode/lib.sh
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
shared_runtime
tests/lib/nvcc -w -g -O3 -lineinfo -Iinclude -cudart=shared -arch=compute_75 \
  -o "$TEST_DIR/truth" tests/viewer/truth.cu > "$TEST_DIR/nvcc.log" 2>&1 ||
  { cat "$TEST_DIR/nvcc.log"; echo "FAIL nvcc"; exit 1; }
"$WARPGRIND" --device=gpu --record -q -o "$TEST_DIR/run.wg" "$TEST_DIR/truth" > "$TEST_DIR/out" \
  2> "$TEST_DIR/err"
sql() { "$WARPGRIND" sql "$TEST_DIR/run.wg" "$1" | tail -n +2; }
check variables test "$(sql "select group_concat(name || ' ' || address) from (select name, address
  from kernel_variable order by name)")" = "a 0,last 1024,s 1024,tile 2048"
check named test "$(sql "select buffer || ' ' || offset from access where launch = 6 and thread = 3
  and kind = 'store' and space = 'shared' limit 1")" = "s 12"
