#!/usr/bin/env bash
# --on-error=stop: the launch ends at the first bad access and the program is told; without it the
# program runs to its end.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
d=$TEST_DIR
cat > "$d/a.cu" << 'C'
#include <cstdio>
__global__ void k(int *p, int n) { p[threadIdx.x + n] = 1; p[threadIdx.x] = 2; }
int main() {
  int *p, h = 0;
  cudaMalloc(&p, 32 * 4); cudaMemset(p, 0, 32 * 4);
  k<<<1, 32>>>(p, 31);
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(&h, p, 4, cudaMemcpyDefault);
  printf("%s %d\n", e == cudaSuccess ? "ok" : "failed", h);
}
C
nvcc -w -O3 -lineinfo -gencode arch=compute_75,code=compute_75 -o "$d/a" "$d/a.cu" ||
  { echo "FAIL nvcc"; exit 1; }
run() { "$WARPGRIND" --device=cpu --tool=memcheck "$@" -- "$d/a" > "$d/out" 2> "$d/err"; code=$?; }
has() {
  grep -qF -- "$2" "$d/$1" && echo "ok $3" || { echo "FAIL $3: no '$2'"; cat "$d/out" "$d/err"; }
}
run
has out "ok 2" continue
has err "oob-write" continue-finds
run --on-error=stop
has out "failed" stop
has err "oob-write" stop-finds
[ $code = 99 ] && echo "ok stop-code" || echo "FAIL stop-code: $code"
