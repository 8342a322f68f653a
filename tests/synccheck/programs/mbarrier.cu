// Arriving at an mbarrier that nobody has initialised.
// arch: compute_90
#include "../../lib/one_bug.h"
__global__ void k(int *out) {
  __shared__ unsigned long long bar[2];
  unsigned at = (unsigned)__cvta_generic_to_shared(&bar[0]),
           other = (unsigned)__cvta_generic_to_shared(&bar[1]);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
  __syncthreads();
#ifndef TWIN
  // finds-next: barrier-misuse group=arrive
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(other) : "memory");
#else
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
  (void)other;
#endif
  out[threadIdx.x] = 1;
}
int main() {
  int *out = device_ints(64);
  k<<<1, 64>>>(out);
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 64));
}
