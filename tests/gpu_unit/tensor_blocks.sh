#!/usr/bin/env bash
# quick: yes
set -u
. tests/gpu_unit/lib.sh
echo | $CC -shared -fPIC -x c -o "$TEST_DIR/libc10_cuda.so" - || exit 1
gpu_unit tensor_blocks
