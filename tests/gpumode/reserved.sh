#!/usr/bin/env bash
# Memory of a graph that PyTorch captures without its cache: kept for the graph. The driver itself
# refuses what it does.
set -u
. tests/gpumode/lib.sh
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" \
  "$BUILD/tests/cudart/libcudart.so.13" > "$TEST_DIR/make.log" 2>&1 || { cat "$TEST_DIR/make.log"
  exit 1; }
export LD_LIBRARY_PATH=$BUILD/tests/cudart${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# The program counts as PyTorch if it has loaded PyTorch's library.
echo | $CC -shared -fPIC -x c -o "$TEST_DIR/libc10_cuda.so" - || exit 1
nvcc -w -O2 -lineinfo -cudart=shared -gencode arch=compute_75,code=compute_75 -o \
  "$TEST_DIR/program" tests/gpumode/reserved.cu \
  -Xlinker --no-as-needed,-rpath="$TEST_DIR" -L"$TEST_DIR" -lc10_cuda || exit 1
run() {
  "$WARPGRIND" --device=gpu --tool=memcheck --leak-check=full "$@" > "$TEST_DIR/out" 2> \
    "$TEST_DIR/err"
}
reserved() {
  run "$TEST_DIR/program" && has "$TEST_DIR/out" "6 6 good" && has "$TEST_DIR/err" "0 errors"
}
check "kept for the graph" reserved
freed() {
  run "$TEST_DIR/program" again; has "$TEST_DIR/err" "(use-after-free)" &&
    has "$TEST_DIR/err" "(invalid-free)" && has "$TEST_DIR/out" "good"
}
check "used and freed again" freed
refused() {
  run --framework-allocators=keep "$TEST_DIR/program"
    has "$TEST_DIR/out" "cudaMalloc(&u, 128): cudaErrorStreamCapture"
}
check "refused by the driver otherwise" refused
