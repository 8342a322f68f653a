// The compiler counts the turns before the loop and divides by its step, which is 0: the loop has a
// counter, which turns 2³² times.
// says: its step is 0
#include "../../lib/one_bug.h"
__global__ void k(const int *in, int *out, int n) {
  int step = n / 10000, sum = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += step) sum += in[i];  // finds: hang
  out[threadIdx.x] = sum;
}
int main() {
#ifdef TWIN
  int n = 20000;
#else
  int n = 2000;
#endif
  int *in = device_ints(20000), *out = device_ints(64);
  k<<<2, 64>>>(in, out, n);
  cudaError_t e = cudaDeviceSynchronize();
  (void)e;
  puts("done");
}
