#!/usr/bin/env bash
# timeout: 900
# The programs of tests/racecheck in GPU mode.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/racecheck/programs.sh
