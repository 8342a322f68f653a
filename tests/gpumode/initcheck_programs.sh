#!/usr/bin/env bash
# timeout: 900
# The programs of tests/initcheck/programs in GPU mode, with memcheck and without: the same findings.
set -u
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} INITCHECK_DEVICE=gpu INITCHECK_NVCC=-cudart=shared
. tests/initcheck/programs.sh
