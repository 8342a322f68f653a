// The lecture's second mapping, with the sum in a register.
#include "host.h"
__global__ void product(float *c, const float *a, const float *b, int n) {
  int tx = blockIdx.x * blockDim.x + threadIdx.x, ty = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = c[ty * n + tx];
  for (int k = 0; k < n; k++) sum += a[ty * n + k] * b[k * n + tx];
  c[ty * n + tx] = sum;
}
int main() {
  int n = 128;
  product<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(buffer<float>(n * n), buffer<float>(n * n),
                                                buffer<float>(n * n), n);
  return finish();
}
