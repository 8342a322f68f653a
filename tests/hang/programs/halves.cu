// Halves that are rounded up stay at 1, with a store in every turn. Others count down with the
// clock, and end.
// says: in a loop that never ends
#include "../../lib/one_bug.h"
__global__ void k(int *out, int n) {
  int turns = 0;
  long long until = clock64() + 1000;
  while (n != 0) {  // finds: hang
    out[turns++ & 255] = n;
#ifdef TWIN
    n = n / 2;
#else
    n = (n + 1) / 2;
#endif
  }
  while (clock64() < until) out[256]++;
}
int main() {
  int *out = device_ints(257);
  k<<<1, 1>>>(out, 100);
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
