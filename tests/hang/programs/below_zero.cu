// An unsigned counter that is to go below 0: the loop has no way out.
// says: nothing that could end it changes in it
#include "../../lib/one_bug.h"
#ifdef TWIN
#define MORE(i) ((i) > 0)
#else
#define MORE(i) ((i) >= 0)
#endif
__global__ void k(int *out, unsigned n) {
  for (unsigned i = n + threadIdx.x; MORE(i); i--)  // finds: hang
    if (i < n) atomicAdd(&out[i], 1);
}
int main() {
  int *out = device_ints(50);
  k<<<1, 32>>>(out, 50);
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
