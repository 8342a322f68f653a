// A lock that is taken and never given back.
// says: waits for a value in memory
#include "../../lib/one_bug.h"
__global__ void k(int *lock, int *out) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // finds: hang
    out[0] += 1;
    __threadfence();
#ifdef TWIN
    atomicExch(lock, 0);
#endif
  }
}
int main() {
  int *lock = device_ints(1), *out = device_ints(1);
  k<<<2, 128>>>(lock, out);
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
