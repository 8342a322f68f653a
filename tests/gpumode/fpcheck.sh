#!/usr/bin/env bash
# timeout: 1800
# tests/fpcheck/births.sh, functions.sh, launches.sh, flow.sh, situations.sh and across.sh in GPU
# mode: the same findings, counted in the device's own memory.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/fpcheck/births.sh
. tests/fpcheck/functions.sh
. tests/fpcheck/launches.sh
. tests/fpcheck/flow.sh
. tests/fpcheck/situations.sh
. tests/fpcheck/across.sh
