// Lanes execute a shuffle whose mask does not name them.
#include "../../lib/one_bug.h"
__global__ void k(int *out) {
#ifndef TWIN
  unsigned mask = out[64] ? ~0u : 0xffffu;
#else
  unsigned mask = out[64] ? 0xffffu : ~0u;
#endif
  int v = __shfl_xor_sync(mask, (int)threadIdx.x, 1);  // finds: barrier-mismatch
  out[threadIdx.x] = v;
}
int main() {
  int *out = device_ints(65);
  k<<<1, 64>>>(out);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 65);
  puts("done");
}
