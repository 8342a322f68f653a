// Pinned memory.
#include "host.h"
__global__ void twice(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int n = 1 << 19;
  float *host, *a = buffer<float>(n);
  cudaMallocHost(&host, n * 4);
  cudaMemcpy(a, host, n * 4, cudaMemcpyHostToDevice);
  twice<<<n / 256, 256>>>(a, n);
  cudaMemcpy(host, a, n * 4, cudaMemcpyDeviceToHost);
  return finish();
}
