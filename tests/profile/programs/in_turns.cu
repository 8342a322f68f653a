// Pieces are copied, computed and copied back one after the other, in one stream.
#include "host.h"
__global__ void twice(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int pieces = 6, n = 1 << 16;
  float *host, *a = buffer<float>(n * pieces);
  cudaMallocHost(&host, n * pieces * 4);
  for (int p = 0; p < pieces; p++) {
    float *at = a + p * n;
    cudaMemcpyAsync(at, host + p * n, n * 4, cudaMemcpyHostToDevice);  // advice: no-overlap
    twice<<<n / 256, 256>>>(at, n);
    cudaMemcpyAsync(host + p * n, at, n * 4, cudaMemcpyDeviceToHost);
  }
  return finish();
}
