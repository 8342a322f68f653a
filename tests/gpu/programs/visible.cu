// The user has chosen one GPU.
// env: CUDA_VISIBLE_DEVICES=0
// coverage: all
#include "gpu_test.h"

__global__ void set(int *p) { *p = 3; }
int main() {
  int n = 0, *d, h = 0;
  OK(cudaGetDeviceCount(&n));
  EXPECT(n == 1);
  OK(cudaMalloc(&d, 4));
  set<<<1, 1>>>(d);
  OK(cudaMemcpy(&h, d, 4, cudaMemcpyDefault));
  EXPECT(h == 3);
  return finish();
}
