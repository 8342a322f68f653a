#!/usr/bin/env bash
# timeout: 900
# The programs of tests/hang/programs in GPU mode: the watchdog sees what their warps have written.
set -u
. tests/gpumode/lib.sh
shared_runtime
export HANG_STANDIN=1
. tests/hang/hang.sh
