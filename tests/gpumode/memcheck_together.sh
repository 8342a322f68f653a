#!/usr/bin/env bash
# timeout: 900
# The programs of tests/memcheck/programs in GPU mode with initcheck beside memcheck: the same findings of memcheck.
set -u
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} MEMCHECK_DEVICE=gpu MEMCHECK_NVCC=-cudart=shared MEMCHECK_TOOL=memcheck,initcheck
. tests/memcheck/memcheck.sh
