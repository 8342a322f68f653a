// Lanes that take very different times between two barriers need not be together when they come to
// the second. That is no bug: the barrier waits for them. patience: 60 (since in GPU mode nobody
// tells that lanes still work while others of their warp
//    wait at a barrier (docs/hangs.md))
#include "../../lib/one_bug.h"
__global__ void k(const int *work, const int *rounds, int *out) {
  int t = threadIdx.x, sum = 0;
  for (int left = rounds[t]; left > 0; left--) {
    for (int i = 0; i < work[t]; i++) {
      __nanosleep(100);
      sum += i & 3;
    }
#ifndef TWIN
    if (work[t] > 1000 && left == 2)
      __syncthreads();  // finds: barrier-divergence group=either
    else
#endif
      __syncthreads();  // finds: barrier-divergence group=either
  }
  out[t] = sum;
}
int main() {
  int *work = device_ints(64), *rounds = device_ints(64), *out = device_ints(64), w[64], r[64];
  for (int i = 0; i < 64; i++) w[i] = i % 8 == 5 ? 2000 : 3, r[i] = 3;
  MUST(cudaMemcpy(work, w, sizeof w, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(rounds, r, sizeof r, cudaMemcpyHostToDevice));
  k<<<1, 64>>>(work, rounds, out);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 64);
  puts("done");
}
