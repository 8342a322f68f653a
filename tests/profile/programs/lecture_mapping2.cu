// The lecture's second mapping: neighbouring threads have neighbouring columns of B and C, and all
// threads of a warp the same element of A. C is still loaded and stored in each turn.
#include "host.h"
__global__ void product(float *c, const float *a, const float *b, int n) {
  int tx = blockIdx.x * blockDim.x + threadIdx.x, ty = blockIdx.y * blockDim.y + threadIdx.y;
  for (int k = 0; k < n; k++)
    c[ty * n + tx] += a[ty * n + k] * b[k * n + tx];  // advice: redundant-load
}
int main() {
  int n = 128;
  product<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(buffer<float>(n * n), buffer<float>(n * n),
                                                buffer<float>(n * n), n);
  return finish();
}
