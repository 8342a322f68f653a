#!/usr/bin/env bash
# timeout: 900
# The programs of tests/memcheck/programs in GPU mode: the same findings.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/memcheck/memcheck.sh
