// A device assertion fails; the error stays. Findings, but not with --tool=none.
// coverage: all
// exit: 5
// finding: assert
#include <assert.h>
#include "gpu_test.h"

__global__ void checked(int *p) { p[0] = 1; assert(p[0] == 2); }
int main() {
  int *d;
  OK(cudaMalloc(&d, 4));
  checked<<<1, 1>>>(d);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  printf("%s\n", cudaGetErrorName(cudaMalloc(&d, 4)));
  return 5;
}
