#!/usr/bin/env bash
# timeout: 1800
# tests/fpcheck/births.sh, functions.sh, launches.sh, flow.sh, situations.sh and across.sh in GPU
# mode: the same findings, counted in the device's own memory. functions.sh and flow.sh only for
# make check-long.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/fpcheck/births.sh
. tests/fpcheck/launches.sh
. tests/fpcheck/situations.sh
. tests/fpcheck/across.sh
[ "${TEST_SIZE:-}" = long ] || exit 0
. tests/fpcheck/functions.sh
. tests/fpcheck/flow.sh
