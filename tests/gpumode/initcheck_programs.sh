#!/usr/bin/env bash
# timeout: 900
# The programs of tests/initcheck/programs in GPU mode, with memcheck and without: the same
# findings.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/initcheck/programs.sh
