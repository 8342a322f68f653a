// Threads leave a loop of barriers at different times.
#include "../../lib/one_bug.h"
__global__ void k(int *out, const int *turns) {
  __shared__ int s;
  int t = threadIdx.x, n = turns[t];
  if (t == 0) s = 0;
  __syncthreads();
  for (int i = 0; i < n; i++) {
    if (t == i) s += i;
    __syncthreads();  // finds: barrier-divergence
  }
  out[t] = n + s;
}
int main() {
  int *out = device_ints(64), *turns = device_ints(64), h[64];
#ifdef TWIN
  for (int i = 0; i < 64; i++) h[i] = 5;
#else
  for (int i = 0; i < 64; i++) h[i] = 3 + i % 2;
#endif
  MUST(cudaMemcpy(turns, h, sizeof h, cudaMemcpyHostToDevice));
  k<<<1, 64>>>(out, turns);
  MUST(cudaDeviceSynchronize());
  printf("%s\n", sum_of(out, 64) ? "done" : "nothing");
}
