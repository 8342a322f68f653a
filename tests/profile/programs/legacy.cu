// A launch in the default stream after each launch in another: nothing runs at the same time.
#include "host.h"
__global__ void twice(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int n = 4096;
  float *a = buffer<float>(n), *b = buffer<float>(n);
  cudaStream_t s;
  cudaStreamCreate(&s);
  for (int k = 0; k < 8; k++) {
    twice<<<n / 256, 256, 0, s>>>(a, n);
    twice<<<n / 256, 256>>>(b, n);  // advice: default-stream
  }
  return finish();
}
