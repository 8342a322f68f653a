#!/usr/bin/env bash
# timeout: 900
# The programs of tests/memcheck/heap in GPU mode.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/memcheck/heap.sh
