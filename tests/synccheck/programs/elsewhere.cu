// Two halves of a warp with the same mask execute different things.
#include "../../lib/one_bug.h"
__global__ void k(int *out, const int *side) {
  int t = threadIdx.x, v;
#ifndef TWIN
  if (side[t])
    v = __any_sync(~0u, t > 3);  // finds: barrier-mismatch group=either
  else
    v = __shfl_down_sync(~0u, t, 1);  // finds: barrier-mismatch group=either
#else
  int a = __any_sync(~0u, t > 3), b = __shfl_down_sync(~0u, t, 1);
  v = side[t] ? a : b;
#endif
  out[t] = v;
}
int main() {
  int *out = device_ints(32), *side = device_ints(32), h[32];
  for (int i = 0; i < 32; i++) h[i] = i < 16;
  MUST(cudaMemcpy(side, h, sizeof h, cudaMemcpyHostToDevice));
  k<<<1, 32>>>(out, side);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 32);
  puts("done");
}
