#!/usr/bin/env bash
# All generators, orderings and distributions of cuRAND, bit for bit: the numbers of NVIDIA's
# library are in curand_generators.txt and curand_discrete.txt.
. tests/lib/check.sh
command -v nvcc > /dev/null || { echo "skip curand_generators: nvcc is not installed"; exit 0; }
for name in curand_generators curand_discrete; do
  tests/lib/nvcc -arch=sm_75 -o "$TEST_DIR/$name" "tests/libraries/$name.cu" -lcurand || exit 1
done
same() {
  "$WARPGRIND" --device=cpu --tool="$2" "$TEST_DIR/$1" device 2> "$TEST_DIR/err" |
    diff - "tests/libraries/$1.txt"
}
check generators same curand_generators none
check discrete_distribution same curand_discrete none
check discrete_distribution_checked same curand_discrete memcheck,initcheck
