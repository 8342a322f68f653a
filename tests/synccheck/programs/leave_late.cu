// Warps that have nothing more to do write their part and go, behind some barriers and before
// others: that is right, with and without -DTWIN.
#include "../../lib/one_bug.h"
__global__ void k(int *out, const int *in) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t] + t;
  __syncthreads();
  if (t >= 64) {
    out[t] = 3 * s[t - 64] + 1;
    return;
  }
  int v = s[t + 64];
  __syncthreads();
  s[t] = v;
  __syncthreads();
  out[t] = s[63 - t];
}
int main() {
  int *out = device_ints(128), *in = device_ints(128);
  k<<<2, 128>>>(out, in);
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 128));
}
