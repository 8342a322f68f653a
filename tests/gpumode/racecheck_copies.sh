#!/usr/bin/env bash
# timeout: 600
# Copies and sets against launches, in GPU mode.
set -u
. tests/gpumode/lib.sh
shared_runtime
. tests/racecheck/copies.sh
