#!/usr/bin/env bash
# timeout: 300
# bench/gpu_programs, bench/gpu_corpus and tools/labelled-suite with programs of our own in the
# layouts of the public suites; the virtual device plays the GPU.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not here"; exit 77; }
command -v python3 > /dev/null || { echo "python3 is not here"; exit 77; }
ok() { echo "ok $1"; }
fail() { echo "FAIL $1"; sed 's/^/    /' "$2"; }
has() { if grep -qE -- "$2" "$3"; then ok "$1"; else fail "$1: no line with $2" "$3"; fi; }
# so that a benchmark's own folder is left alone
mkdir -p "$TEST_DIR/b"; ln -sf "$BUILD"/* "$TEST_DIR/b/"; rm -f "$TEST_DIR/b/bench"
export BUILD=$TEST_DIR/b GPU_FAKE=1 LIMIT=60

program() { # bytes of the result that are asked for; launches
  cat << C
#include <cstdio>
__global__ void add(int *p) { p[threadIdx.x] += threadIdx.x; }
int main() {
  int *p, host[64];
  cudaMalloc(&p, $1);
  cudaMemset(p, 0, $1);
  for (int i = 0; i < $2; i++) add<<<1, 64>>>(p);
  cudaMemcpy(host, p, $1, cudaMemcpyDeviceToHost);
  printf("%d\nTime: %p\n", host[5], p);
  return 0;
}
C
}
# Two programs of the table, with ours in their place: nbody is right, tsp writes behind its array.
for name in nbody tsp; do
  mkdir -p "$TEST_DIR/hec/src/$name-cuda"
  printf 'main: main.cu\n\tnvcc -o main main.cu\nrun: main\n\t./main 1\nclean:\n\trm -f main\n' > \
    "$TEST_DIR/hec/src/$name-cuda/Makefile"
done
program 256 700 > "$TEST_DIR/hec/src/nbody-cuda/main.cu"
program 252 3 > "$TEST_DIR/hec/src/tsp-cuda/main.cu"
echo '// PASS' | tee -a "$TEST_DIR"/hec/src/*/main.cu > /dev/null
WAYS="none memcheck sanitizer-memcheck" bench/gpu_programs "$TEST_DIR/hec" > "$TEST_DIR/table" 2>&1
has launches '^\| nbody \| 700 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| same \|' "$TEST_DIR/table"
has finding '^- tsp: memcheck: 2 errors; first: oob-read at main.cu:2 in add' "$TEST_DIR/table"
has mean '^\| geometric mean \| \| \| [0-9.]+ \| [0-9.]+ \| \|' "$TEST_DIR/table"
has no_sanitizer 'sanitizer-memcheck: there is no compute-sanitizer' "$TEST_DIR/table"
has not_there '^wmma: cannot be built: is not in this checkout' "$TEST_DIR/table"

# What a tool changes is seen: this program prints whether it runs under one.
sed -i 's/printf("%d/if (getenv("WARPGRIND_TOOL") \&\& getenv("WARPGRIND_TOOL")[0] == 109) '\
'host[5]++; printf("%d/; 1i #include <cstdlib>' "$TEST_DIR/hec/src/nbody-cuda/main.cu"
WAYS="memcheck" bench/gpu_programs "$TEST_DIR/hec" nbody > "$TEST_DIR/different" 2>&1 &&
  fail different_exit "$TEST_DIR/different"
has different '^- nbody: memcheck: plain "3500", here "3501"' "$TEST_DIR/different"

# PolyBench's layout: main without arguments, a clock that is defined nowhere.
mkdir -p "$TEST_DIR/poly/CUDA/MVT" "$TEST_DIR/poly/common"
{ program 256 2 | sed 's/  int \*p/  rtclock(); int *p/'; } > "$TEST_DIR/poly/CUDA/MVT/mvt.cu"
WAYS="none" bench/gpu_corpus "$TEST_DIR/poly" > "$TEST_DIR/poly.table" 2>&1
has polybench '^\| MVT \| 4 \| [0-9.]+ \| [0-9.]+ \| same \|' "$TEST_DIR/poly.table"

# Labels: right ones, then wrong ones.
mkdir -p "$TEST_DIR/labelled"
for name in nbody tsp; do
  cp "$BUILD/bench/gpu_programs/tree/src/$name-cuda/main" "$TEST_DIR/labelled/$name" 2> /dev/null ||
    nvcc -w -lineinfo -arch=compute_75 -o "$TEST_DIR/labelled/$name" \
    "$TEST_DIR/hec/src/$name-cuda/main.cu"
done
printf 'nbody\t1\tnone\tright\ntsp\t\toob\twrong\n' > "$TEST_DIR/labelled/labels.tsv"
if tools/labelled-suite "$TEST_DIR/labelled" --tool memcheck > "$TEST_DIR/labels" 2>&1; then
  ok labels_exit
else
  fail labels_exit "$TEST_DIR/labels"
fi
has labels '^\| all \| 2 \| 1 \| 1 \|$' "$TEST_DIR/labels"
printf 'nbody\t1\toob\twrong\ntsp\t\tnone\tright\n' > "$TEST_DIR/labelled/labels.tsv"
tools/labelled-suite "$TEST_DIR/labelled" --tool memcheck > "$TEST_DIR/labels" 2>&1 &&
  fail wrong_labels_exit "$TEST_DIR/labels"
has missed '^missed +nbody' "$TEST_DIR/labels"
has false_alarm '^false alarm +tsp: oob-' "$TEST_DIR/labels"
