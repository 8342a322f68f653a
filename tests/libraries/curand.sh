#!/usr/bin/env bash
# cuRAND's numbers, bit for bit: those of NVIDIA's host generators are in curand.txt. On the virtual
# device host generators and device generators give the same.
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skip curand: nvcc is not installed"; exit 0; }
tests/lib/nvcc -arch=sm_75 -o "$TEST_DIR/curand" tests/libraries/curand.cu -lcurand || exit 1
same() {
  "$WARPGRIND" --device=cpu --tool=none "$TEST_DIR/curand" "$@" 2> "$TEST_DIR/err" |
    diff - tests/libraries/curand.txt
}
check host_generators same host
check device_generators same device
