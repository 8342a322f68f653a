#!/usr/bin/env bash
# timeout: 900
# The kernels of tests/compilers in GPU mode.
set -u
. tests/gpumode/lib.sh
. tests/compilers/compilers.sh
