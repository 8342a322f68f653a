// A warp barrier that names lanes which go another way.
#include "../../lib/one_bug.h"
__global__ void k(int *out, int *more) {
  int t = threadIdx.x;
#ifndef TWIN
  if (more[t] > 0) {
    out[t] = t;
    __syncwarp();  // finds: barrier-mismatch
    out[t + 1 & 15] += 1;
  } else                                   // whoever ends before the others wait is not missed
    for (int i = 0; i < 10; i++) __nanosleep(10000);
#else
  if (more[t] > 0) out[t] = t;
  __syncwarp();
  if (more[t] > 0) out[t + 1 & 15] += 1;
#endif
  more[t] = 2;
}
int main() {
  int *out = device_ints(32), *more = device_ints(32), h[32];
  for (int i = 0; i < 32; i++) h[i] = i < 16;
  MUST(cudaMemcpy(more, h, sizeof h, cudaMemcpyHostToDevice));
  k<<<1, 32>>>(out, more);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 32);
  puts("done");
}
