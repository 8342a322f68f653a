// A flag that nobody sets.
// says: waits for a value in memory
#include "../../lib/one_bug.h"
__global__ void k(int *flag, int *out, int setter) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {}  // finds: hang
    out[t] = 1;
  } else if (t == setter)
    atomicExch(flag, 1);
}
int main() {
  int *flag = device_ints(1), *out = device_ints(64);
#ifdef TWIN
  k<<<2, 64>>>(flag, out, 0);
#else
  k<<<2, 64>>>(flag, out, 64);
#endif
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
