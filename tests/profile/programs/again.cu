// The sum is stored in each turn of the loop: `in` may be the same memory as `sums`.
#include "host.h"
__global__ void add(float *sums, const float *in, int n, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < rows; k++) sums[i] += in[k * n + i];  // advice: redundant-load
}
int main() {
  int n = 4096;
  add<<<n / 256, 256>>>(buffer<float>(n), buffer<float>(n * 32), n, 32);
  return finish();
}
