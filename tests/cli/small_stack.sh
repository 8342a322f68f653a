#!/usr/bin/env bash
# Threads of the command and of the library have stacks of their own size: under a small ulimit -s
# their thread-local buffers did not fit, and both crashed.
set -u
. tests/lib/check.sh
. tests/lib/steps.sh
host=$(ptxhost) || exit 1
for kilobytes in 1400 700 200; do
  check "$kilobytes KB" [ "$(ulimit -s $kilobytes; code "$WARPGRIND" --device=cpu --tool=memcheck \
    --record -o "$TEST_DIR/run.wg" -- "$host" tests/kernels/branches.ptx)" = 0 ]
done
