// The last round of the outer loop is without some threads, and so is the inner one. initcheck
// makes a second body of the kernel: the loops of both are no copies that the compiler has made.
// tools: initcheck,synccheck
#include "../../lib/one_bug.h"
__global__ void k(const int *values, int *out, int items) {
  for (int t = threadIdx.x; t < items; t += blockDim.x)
#pragma unroll 1
    for (int i = threadIdx.x; i < 100; i += blockDim.x)  // finds: barrier-divergence
      out[t / blockDim.x * 100 + i] = values[i];
}
int main() {
  int *values = device_ints(100), *out = device_ints(400);
#ifdef TWIN
  int items = 256;
#else
  int items = 200;
#endif
  k<<<1, 64>>>(values, out, items);
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 400));
}
