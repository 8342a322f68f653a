// Two blocks take two locks in different orders, each the first before anybody the second.
// says: reads address 0x…, thread (0,0,0) of block (1,0,0) reads 0x…
#include "../../lib/one_bug.h"
__global__ void k(int *locks, int *out) {
#ifdef TWIN
  int first = 0;
#else
  int first = blockIdx.x;
#endif
  while (atomicCAS(&locks[first], 0, 1) != 0) {}
#ifndef TWIN
  atomicAdd(&locks[2], 1);
  while (atomicAdd(&locks[2], 0) < 2) {}
#endif
  while (atomicCAS(&locks[1 - first], 0, 1) != 0) {}  // finds: hang
  __threadfence();
  out[0] += 1;
  __threadfence();
  atomicExch(&locks[1 - first], 0);
  atomicExch(&locks[first], 0);
}
int main() {
  int *locks = device_ints(4), *out = device_ints(1);
  k<<<2, 1>>>(locks, out);
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
