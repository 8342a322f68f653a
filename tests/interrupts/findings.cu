// nvcc: -Iinclude
// A failed wg_assert is a finding of the run, at the line of the assertion.
#include "warpgrind_functions.h"

__global__ void kernel(const int *a, int n) {
  int i = threadIdx.x;
  wg_assert(a[i] < n, a[i], n);  // label: assertion
}

int main() {
  int *a, host[32];
  for (int i = 0; i < 32; i++) host[i] = i;
  cudaMalloc(&a, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  kernel<<<1, 32>>>(a, 30);
  cudaDeviceSynchronize();
  cudaFree(a);
}
