#!/usr/bin/env bash
# timeout: 1800
# tests/fpcheck/births.sh, functions.sh, launches.sh, flow.sh, situations.sh and across.sh in GPU mode: the same findings, counted in the device's own memory.
set -u
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FPCHECK_DEVICE=gpu FPCHECK_NVCC=-cudart=shared
. tests/fpcheck/births.sh
. tests/fpcheck/functions.sh
. tests/fpcheck/launches.sh
. tests/fpcheck/flow.sh
. tests/fpcheck/situations.sh
. tests/fpcheck/across.sh
