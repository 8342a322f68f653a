// A matrix is copied row by row.
#include "host.h"
int main() {
  int n = 64;
  float *host, *a = buffer<float>(n * n);
  cudaMallocHost(&host, n * n * 4);
  for (int i = 0; i < n; i++)
    cudaMemcpy(a + i * n, host + i * n, n * 4, cudaMemcpyHostToDevice);  // advice: small-copies
  return finish();
}
