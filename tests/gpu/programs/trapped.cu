// A kernel executes trap; every later call fails with the same error.
// coverage: all
// exit: 6
// finding: launch-failure
#include "gpu_test.h"

__global__ void bad(int *p) { p[threadIdx.x] = 1; if (threadIdx.x == 3) asm volatile("trap;"); }
int main() {
  int *d, h = 0;
  OK(cudaMalloc(&d, 4096));
  bad<<<1, 32>>>(d);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  printf("%s\n", cudaGetErrorName(cudaMemcpy(&h, d, 4, cudaMemcpyDefault)));
  bad<<<1, 32>>>(d);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  return 6;
}
