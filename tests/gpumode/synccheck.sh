#!/usr/bin/env bash
# timeout: 900
# The programs of tests/synccheck/programs in GPU mode: the same findings.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/synccheck/synccheck.sh
