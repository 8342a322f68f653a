// The user has hidden the GPU.
// env: CUDA_VISIBLE_DEVICES=
// coverage: nothing
// cpu: no, the virtual device is always there
#include "gpu_test.h"

__global__ void k() {}
int main() {
  int n = -1;
  cudaError_t e = cudaGetDeviceCount(&n);
  printf("%s %d\n", cudaGetErrorName(e), n);
  k<<<1, 1>>>();
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  return 0;
}
