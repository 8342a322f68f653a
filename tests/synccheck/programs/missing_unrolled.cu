// A loop that the block shares, unrolled by the compiler, in a loop that some threads leave before
// others.
#include "../../lib/one_bug.h"
__device__ __forceinline__ void fill(int *out, int n) {
#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += blockDim.x)  // finds: barrier-divergence
    out[i] = n;
}
__global__ void k(int *out, int *done, int n, int items) {
#ifdef TWIN
  for (int first = 0; first < items; first += blockDim.x) {
    int t = first + threadIdx.x;
    if (t < items) done[t] = 1;
    fill(out, n);
  }
#else
  for (int t = threadIdx.x; t < items; t += blockDim.x) {
    done[t] = 1;
    fill(out, n);
  }
#endif
}
int main() {
  int *out = device_ints(256), *done = device_ints(300);
  k<<<1, 128>>>(out, done, 256, 300);
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 256));
}
