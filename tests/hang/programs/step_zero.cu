// A loop whose step is 0.
// says: its step is 0
#include "../../lib/one_bug.h"
__global__ void k(int *out, int n) {
  int step = blockDim.x * (gridDim.x / 4);
  for (int i = threadIdx.x; i < n; i += step)  // finds: hang
    out[i] = i;
}
int main() {
  int *out = device_ints(1000);
#ifdef TWIN
  k<<<4, 64>>>(out, 1000);
#else
  k<<<2, 64>>>(out, 1000);
#endif
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
