// Blocks of eight warps.
#include "host.h"
__global__ void twice(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int n = 65536;
  twice<<<n / 256, 256>>>(buffer<float>(n), n);
  return finish();
}
