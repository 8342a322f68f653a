// Launches that are refused (too many threads, too much shared memory, an empty grid), then an
// access to address 0.
// coverage: all
// exit: 7
// finding: launch-failure
#include "gpu_test.h"

__global__ void store(int *p) { p[threadIdx.x] = 1; }
__global__ void shared(int *p) { extern __shared__ int s[]; s[threadIdx.x] = 1; p[0] = s[0]; }
#define SAY(x) printf("%s: %s\n", #x, cudaGetErrorName(x))
int main() {
  int *d;
  OK(cudaMalloc(&d, 4096));
  store<<<1, 2000>>>(d);
  SAY(cudaGetLastError());
  store<<<0, 32>>>(d);
  SAY(cudaGetLastError());
  shared<<<1, 32, 60000>>>(d);
  SAY(cudaGetLastError());
  SAY(cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  shared<<<1, 32, 60000>>>(d);
  SAY(cudaGetLastError());
  SAY(cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  SAY(cudaDeviceSynchronize());
  cudaGetLastError();
  store<<<1, 32>>>((int *)NULL);
  SAY(cudaDeviceSynchronize());
  SAY(cudaMalloc(&d, 4));
  return 7;
}
