// A loop that the block shares, called by some of its threads only: whole warps are missing.
#include "../../lib/one_bug.h"
__device__ __forceinline__ void fill(int *out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)  // finds: barrier-divergence
#pragma unroll 1
    out[i] += 1;
}
__global__ void k(int *out, int n, int active) {
#ifndef TWIN
  if (threadIdx.x < active)
#endif
    fill(out, n);
}
int main() {
  int *out = device_ints(256);
  k<<<1, 128>>>(out, 256, 64);
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 256));
}
