// Two streams, but the host waits for each piece before it asks for the next: nothing overlaps.
#include "host.h"
__global__ void twice(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int pieces = 6, n = 1 << 16;
  float *host, *a = buffer<float>(n * pieces);
  cudaStream_t streams[2];
  cudaMallocHost(&host, n * pieces * 4);
  for (auto &s : streams) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  for (int p = 0; p < pieces; p++) {
    float *at = a + p * n;
    cudaStream_t s = streams[p % 2];
    cudaMemcpyAsync(at, host + p * n, n * 4, cudaMemcpyHostToDevice, s);  // advice: no-overlap
    twice<<<n / 256, 256, 0, s>>>(at, n);
    cudaMemcpyAsync(host + p * n, at, n * 4, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
  }
  return finish();
}
