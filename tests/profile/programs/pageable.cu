// Copies from memory of malloc: the driver copies it once more, into memory of its own.
#include "host.h"
#include <cstdlib>
__global__ void twice(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int n = 1 << 19;
  float *host = (float *)calloc(n, 4), *a = buffer<float>(n);
  cudaMemcpy(a, host, n * 4, cudaMemcpyHostToDevice);  // advice: pageable-copy
  twice<<<n / 256, 256>>>(a, n);
  cudaMemcpy(host, a, n * 4, cudaMemcpyDeviceToHost);  // advice: pageable-copy
  return finish();
}
