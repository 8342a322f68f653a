// The host part of the program crashes after its kernel.
// exit: 139
// coverage: any
#include "gpu_test.h"

__global__ void set(int *p) { *p = 3; }
int main() {
  int *d, h = 0;
  OK(cudaMalloc(&d, 4));
  set<<<1, 1>>>(d);
  OK(cudaMemcpy(&h, d, 4, cudaMemcpyDefault));
  printf("%d\n", h);
  fflush(stdout);
  volatile int *volatile nowhere = NULL;
  *nowhere = 1;
  return 0;
}
