// Blocks of one warp: a multiprocessor holds 32 blocks at most, half of the warps it could hold.
#include "host.h"
__global__ void twice(float *a, int n) {  // advice: occupancy-block
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int n = 65536;
  twice<<<n / 32, 32>>>(buffer<float>(n), n);
  return finish();
}
