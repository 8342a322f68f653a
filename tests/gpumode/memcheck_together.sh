#!/usr/bin/env bash
# timeout: 900
# The programs of tests/memcheck/programs in GPU mode with initcheck beside memcheck: the same
# findings of memcheck.
set -u
. tests/gpumode/lib.sh
shared_runtime
export TEST_TOOL=memcheck,initcheck
. tests/memcheck/memcheck.sh
