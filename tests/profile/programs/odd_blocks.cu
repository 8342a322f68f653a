// Blocks of 33 threads: the second warp of each has one lane.
#include "host.h"
__global__ void twice(float *a, int n) {  // advice: occupancy-block
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int n = 33 * 2000;
  twice<<<n / 33, 33>>>(buffer<float>(n), n);
  return finish();
}
