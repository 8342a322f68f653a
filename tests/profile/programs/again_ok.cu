// The sum is in a register.
#include "host.h"
__global__ void add(float *sums, const float *in, int n, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = sums[i];
  for (int k = 0; k < rows; k++) sum += in[k * n + i];
  sums[i] = sum;
}
int main() {
  int n = 4096;
  add<<<n / 256, 256>>>(buffer<float>(n), buffer<float>(n * 32), n, 32);
  return finish();
}
