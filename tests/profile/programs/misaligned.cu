// The source begins one element behind an aligned address: five sectors where four would do.
#include "host.h"
__global__ void copy(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];  // advice: misaligned
}
int main() {
  int n = 65536;
  copy<<<n / 256, 256>>>(buffer<float>(n), buffer<float>(n + 1) + 1, n);
  return finish();
}
