// Lanes elect one of those whom a mask names, and are not among them.
// arch: compute_90
#include "../../lib/one_bug.h"
#define ELECT \
  "{ .reg .pred p; .reg .b32 r; elect.sync r|p, %1; selp.b32 %0, 1, 0, p; }"
__global__ void k(int *out) {
#ifndef TWIN
  unsigned mask = out[64] ? ~0u : 0xffffu;
#else
  unsigned mask = out[64] ? 0xffffu : ~0u;
#endif
  int elected;
  asm volatile(ELECT : "=r"(elected) : "r"(mask));  // finds: barrier-mismatch
  out[threadIdx.x] = elected;
}
int main() {
  int *out = device_ints(65);
  k<<<1, 64>>>(out);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 65);
  puts("done");
}
