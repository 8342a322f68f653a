#!/usr/bin/env bash
# timeout: 900
# The programs of tests/diff in GPU mode: the kernel that hashes runs on the stand-in, and gives the
# numbers that the host gives.
set -u
. tests/gpumode/lib.sh
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"
  exit 1; }
DIFF_NVCC=-cudart=shared
. tests/diff/lib.sh
built steps graph planes && hashed host.wg steps && hashed host_graph.wg graph &&
  hashed host_planes.wg planes && OPTIONS=--kernel-exclude=through hashed host_planes2.wg planes
  result "on the virtual device"
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
DIFF_DEVICE=gpu
. tests/diff/hashes.sh
. tests/diff/dumps.sh
GOLD_DEVICES=cpu,gpu
. tests/diff/gold.sh
. tests/diff/some.sh
compared 0 host.wg a.wg; result "hashes of both devices are the same"
compared 0 host_graph.wg graph.wg; result "hashes of a graph on both devices are the same"
# Parts of a buffer are hashed on a GPU, all of it on the virtual device. One buffer holds an
# address.
hashed planes.wg planes && compared 1 host_planes.wg planes.wg && said "17 are the same, 1 differ" \
  && said "launch 9 of through("; result "parts of buffers"
OPTIONS=--kernel-exclude=through hashed planes2.wg planes && compared 0 host_planes2.wg planes2.wg
  result "parts of buffers, and a kernel that was not chosen"
