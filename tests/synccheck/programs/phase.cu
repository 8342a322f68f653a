// The parity of an mbarrier's phase is not changed: the second wait does not wait.
// arch: compute_80
#include <cstdint>
#include "../../lib/one_bug.h"
#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
__device__ static void arrive(uint64_t *b) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(AT(b)) : "memory");
}
__device__ static bool is_over(uint64_t *b, int parity) {
  int over;
  asm volatile("{ .reg .pred p;\n"
               // finds-next: barrier-misuse group=either
               "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
               // finds-next: barrier-misuse group=either
               "selp.s32 %0, 1, 0, p; }" : "=r"(over) : "r"(AT(b)), "r"(parity) : "memory");
  return over;  // finds: barrier-misuse group=either
}
__global__ void k(int *out) {
  __shared__ uint64_t b;
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(AT(&b)) : "memory");
  __syncthreads();
  for (int i = 0; i < 4; i++) {
    s[t] = i;
    arrive(&b);
#ifdef TWIN
    while (!is_over(&b, i & 1)) {}
#else
    for (int n = 0; n < 100 && !is_over(&b, 0); n++) {}  // some come late enough to wait for ever
#endif
    sum += s[63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
int main() {
  int *out = device_ints(64);
  k<<<1, 64>>>(out);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 64);
  puts("done");
}
