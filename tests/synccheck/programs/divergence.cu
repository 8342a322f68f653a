// A barrier that half of a warp does not come to.
#include "../../lib/one_bug.h"
__global__ void k(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
#ifndef TWIN
  if (t % 2 == 0)
    __syncthreads();  // finds: barrier-divergence
#else
  __syncthreads();
#endif
  out[t] = s[63 - t];
}
int main() {
  int *out = device_ints(64);
  k<<<1, 64>>>(out);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 64);
  puts("done");
}
