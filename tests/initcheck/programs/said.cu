// What device code says by warpgrind.h is taken into account.
#include <cstdio>

#include "../../../include/warpgrind.h"

__global__ void marks(int *a, int *out) {
  wg_mark_initialized(&a[threadIdx.x], sizeof *a);
  if (a[threadIdx.x] > 3) out[threadIdx.x] = 1;
}
__global__ void marks_twice(int *a, int *out) {
  wg_mark_initialized(&a[threadIdx.x], 4);
  wg_mark_initialized(&a[threadIdx.x + 32], 4);
  if (a[threadIdx.x] + a[threadIdx.x + 32] > 3) out[threadIdx.x] = 1;
}
__global__ void asks(const int *a, int *out) {
  out[threadIdx.x] = wg_is_initialized(&a[threadIdx.x], 4);
}
__global__ void unmarks(int *a, int *out) {
  wg_mark_uninitialized(&a[2 * threadIdx.x], 4);
  // finds-next: uninit-use (every other one)
  if (a[threadIdx.x] > 3) out[threadIdx.x] = 1;
}
__global__ void shared(int *out) {
  __shared__ int s[32];
  wg_mark_initialized(&s[threadIdx.x], 4);
  __syncthreads();
  if (s[31 - threadIdx.x] > 3) out[threadIdx.x] = 1;
  if (threadIdx.x == 0) wg_mark_uninitialized(s, 4);
  __syncthreads();
  // finds-next: uninit-use (the first)
  if (s[threadIdx.x] > 4) out[threadIdx.x] = 1;
}

int main() {
  int *a, *b, *c, *out, host[32];
  cudaMalloc(&a, 128);
  cudaMalloc(&c, 256);
  cudaMalloc(&b, 4096);
  cudaMalloc(&out, 128);
  cudaMemset(out, 0, 128);
  marks<<<1, 32>>>(a, out);
  marks_twice<<<1, 32>>>(c, out);
  cudaMemset(b, 0, 64);
  asks<<<1, 32>>>(b, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  bool watched = !wg_is_initialized(
      b + 512, 4);  // the host's answer: by nobody written, if somebody watches
  if (host[15] != 1 || host[16] != !watched) return 1;
  printf("as it should be\n");
  cudaMemset(b, 0, 4096);
  unmarks<<<1, 32>>>(b, out);
  shared<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
