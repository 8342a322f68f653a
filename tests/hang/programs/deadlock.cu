// Two warps wait at two barriers, each for the other.
// says: barrier 2
// gpu: ends only when it is killed
#include "../../lib/one_bug.h"
__global__ void k(int *out, const int *side) {
#ifdef TWIN
  asm volatile("bar.sync 1, 64;" ::: "memory");
#else
  if (side[threadIdx.x])
    asm volatile("bar.sync 1, 64;" ::: "memory");  // finds: hang group=either
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");  // finds: hang group=either
#endif
  out[threadIdx.x] = 1;
}
int main() {
  int *out = device_ints(64), *side = device_ints(64), h[64];
  for (int i = 0; i < 64; i++) h[i] = i < 32;
  MUST(cudaMemcpy(side, h, sizeof h, cudaMemcpyHostToDevice));
  k<<<1, 64>>>(out, side);
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
