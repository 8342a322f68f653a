// A named barrier for more threads than there are: nobody would ever pass. With too odd a number,
// too.
// device: cpu what a GPU does at such a barrier is not known
#include "../../lib/one_bug.h"
__global__ void k(int *out, int n) {
#ifdef TWIN
  n = 64;
#endif
  out[threadIdx.x] = 1;
  if (n > 1000 || n == 64)
    asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");  // finds: barrier-mismatch
  out[threadIdx.x ^ 1] += 1;
}
int main(int argc, char **argv) {
  int *out = device_ints(64);
  k<<<1, 64>>>(out, 1056);
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
