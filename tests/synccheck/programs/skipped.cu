// A barrier that whole warps do not come to.
#include "../../lib/one_bug.h"
__global__ void k(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = t;
#ifndef TWIN
  if (t < 64)
    __syncthreads();  // finds: barrier-divergence
#else
  __syncthreads();
#endif
  out[t] = s[t ^ 1];
}
int main() {
  int *out = device_ints(128);
  k<<<1, 128>>>(out);
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 128));
}
