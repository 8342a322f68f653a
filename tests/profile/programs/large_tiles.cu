// A tile of 100 KB: two blocks fit on a multiprocessor.
#include "host.h"
__global__ void twice(float *a, int n) {  // advice: occupancy-shared
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = a[i];
  __syncthreads();
  if (i < n) a[i] = 2 * tile[threadIdx.x];
}
int main() {
  int n = 65536, bytes = 100 << 10;
  cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  twice<<<n / 256, 256, bytes>>>(buffer<float>(n), n);
  return finish();
}
