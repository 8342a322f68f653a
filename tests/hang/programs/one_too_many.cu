// Blocks wait for one block more than there are, in a variable.
// says: waits for a value in memory
// says-cpu: variable arrived
#include "../../lib/one_bug.h"
__device__ int arrived;
__global__ void k(int *out, int blocks) {
  atomicAdd(&arrived, 1);
  while (*(volatile int *)&arrived < blocks) __nanosleep(100);  // finds: hang
  out[blockIdx.x] = 1;
}
int main() {
  int *out = device_ints(3);
#ifdef TWIN
  k<<<3, 1>>>(out, 3);
#else
  k<<<3, 1>>>(out, 4);
#endif
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
