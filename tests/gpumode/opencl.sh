#!/usr/bin/env bash
# The OpenCL platform in GPU mode, with the virtual device in the role of the real driver.
set -u
cd "$ROOT" || exit 1
. tests/lib/opencl.sh
make -s BUILD="$BUILD" "$BUILD/tests/libcuda-standin.so" || exit 1
export OPENCL_CACHE=$TEST_DIR/cache WARPGRIND_REAL_DRIVER=$BUILD/tests/libcuda-standin.so
exec tests/opencl/gpu.sh
