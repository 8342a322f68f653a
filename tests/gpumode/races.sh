#!/usr/bin/env bash
# timeout: 600
# Races of recordings in GPU mode: what orders launches, copies and nodes of graphs, and what is said to be meant.
set -u
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TRACE_DEVICE=gpu RACES_NVCC=-cudart=shared RACES_ONLY="branches branches_ok dependent* freed* graph* said* streams*"
. tests/trace/races.sh
