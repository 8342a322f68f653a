// Threads beyond the end return first: that is right, with and without -DTWIN.
#include "../../lib/one_bug.h"
__global__ void k(int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i >= n) return;
  s[t] = i;
  __syncthreads();
  int v = s[t ^ 1 < blockDim.x ? t : 0];
  for (int turn = 0; turn < 3; turn++) {
    __syncthreads();
    v += turn;
  }
  out[i] = v;
}
int main() {
  int *out = device_ints(1000);
  k<<<8, 128>>>(out, 1000);
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 1000));
}
