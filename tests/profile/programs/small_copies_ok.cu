// The matrix is copied at once.
#include "host.h"
int main() {
  int n = 64;
  float *host, *a = buffer<float>(n * n);
  cudaMallocHost(&host, n * n * 4);
  cudaMemcpy(a, host, n * n * 4, cudaMemcpyHostToDevice);
  return finish();
}
