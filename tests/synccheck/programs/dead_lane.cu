// A sum over a warp, some lanes of which have ended.
#include "../../lib/one_bug.h"
__global__ void k(int *out, int n) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
#ifndef TWIN
  if (i >= n) return;
  int v = i;
#else
  int v = i < n ? i : 0;
#endif
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);  // finds: barrier-mismatch
  if (t % 32 == 0) out[i / 32] = v;
}
int main() {
  int *out = device_ints(8);
  k<<<2, 64>>>(out, 100);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 8);
  puts("done");
}
