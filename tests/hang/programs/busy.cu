// A long computation in a loop whose end is not known beforehand: it makes progress.
#include "../../lib/one_bug.h"
__global__ void k(unsigned *out, unsigned rounds) {
  unsigned x = 1 + threadIdx.x, n = 0;
  while (x % rounds != 0) {
    x = x * 1664525u + 1013904223u;
    n++;
  }
  out[threadIdx.x] = n;
}
int main() {
  int *out = device_ints(64);
  k<<<1, 64>>>((unsigned *)out, 1u << 23);
  MUST(cudaDeviceSynchronize());
  puts("done");
}
