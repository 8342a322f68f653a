#!/usr/bin/env bash
# Sobol's sequences, bit for bit: those of NVIDIA's host generators are in sobol.txt.
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skip sobol: nvcc is not installed"; exit 0; }
tests/lib/nvcc -arch=sm_75 -o "$TEST_DIR/sobol" tests/libraries/sobol.cu -lcurand || exit 1
same() {
  "$WARPGRIND" --device=cpu --tool=none "$TEST_DIR/sobol" "$@" 2> "$TEST_DIR/err" |
    diff - tests/libraries/sobol.txt
}
check host_generators same host
check device_generators same device
