// A warp adds up first, then a block; one thread of each block adds to the counter.
#include "host.h"
__global__ void count(int *sum, const int *data, int n) {
  __shared__ int part[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? data[i] : 0;
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 1; k < 8; k++) v += part[k];
  atomicAdd(sum, v);
}
int main() {
  int n = 65536;
  count<<<n / 256, 256>>>(buffer<int>(1), buffer<int>(n), n);
  return finish();
}
