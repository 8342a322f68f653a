// The tile has the size that is used.
#include "host.h"
__global__ void twice(float *a, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = a[i];
  __syncthreads();
  if (i < n) a[i] = 2 * tile[threadIdx.x];
}
int main() {
  int n = 65536, bytes = 1024;
  cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  twice<<<n / 256, 256, bytes>>>(buffer<float>(n), n);
  return finish();
}
