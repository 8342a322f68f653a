#!/usr/bin/env bash
# timeout: 900
# The programs of tests/diff in GPU mode: the kernel that hashes runs on the stand-in, and gives the numbers that the host gives.
set -u
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
DIFF_NVCC=-cudart=shared
. tests/diff/lib.sh
built steps graph && hashed host.wg steps && hashed host_graph.wg graph; result "on the virtual device"
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
DIFF_DEVICE=gpu
. tests/diff/hashes.sh
. tests/diff/dumps.sh
GOLD_DEVICES=cpu,gpu
. tests/diff/gold.sh
compared 0 host.wg a.wg; result "hashes of both devices are the same"
compared 0 host_graph.wg graph.wg; result "hashes of a graph on both devices are the same"
