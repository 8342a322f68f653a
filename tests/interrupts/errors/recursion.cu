// says: kernel _Z6kerneli comes to an interrupt (tests/interrupts/errors/recursion.cu:9) through
//    function _Z6deeperi, which cannot be inlined
// prints: operation not supported
// exit: 125
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT_OR(f, int(int x), 0);
__device__ __noinline__ int deeper(int n) {
  return n ? deeper(n - 1) * 3 + f(n) : 1;
}
__global__ void kernel(int n) {
  if (deeper(n) == 7) printf("seven\n");
}
WG_HANDLER(f, wg_callers &callers, wg_list<int> x, wg_results<int> r) {}

int main() {
  kernel<<<1, 64>>>(3);
  puts(cudaGetErrorString(cudaGetLastError()));
}
