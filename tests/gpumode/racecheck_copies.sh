#!/usr/bin/env bash
# timeout: 600
# Copies and sets against launches, in GPU mode.
set -u
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} RACECHECK_DEVICE=gpu RACECHECK_NVCC=-cudart=shared
. tests/racecheck/copies.sh
