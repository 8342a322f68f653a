// prints: 3 threads: the program ends here
// exit: 1
#include <cstdio>
#include <cstdlib>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void kernel() { f(threadIdx.x); }
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {
  printf("%zu threads: the program ends here\n", callers.size());
  exit(1);
}

int main() {
  kernel<<<1, 3>>>();
  cudaDeviceSynchronize();
  puts("not reached");
}
