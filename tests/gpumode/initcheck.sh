#!/usr/bin/env bash
# timeout: 900
# The programs of tests/initcheck/memory in GPU mode.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/initcheck/memory.sh
