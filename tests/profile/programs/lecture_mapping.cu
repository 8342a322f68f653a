// The lecture's first mapping of threads to a matrix product: neighbouring threads have
// neighbouring rows of C, so that they access C and A a row apart.
#include "host.h"
__global__ void product(float *c, const float *a, const float *b, int n) {
  int tx = blockIdx.x * blockDim.x + threadIdx.x, ty = blockIdx.y * blockDim.y + threadIdx.y;
  for (int k = 0; k < n; k++)
    c[tx * n + ty] += a[tx * n + k] * b[k * n + ty];  // advice: uncoalesced redundant-load
}
int main() {
  int n = 128;
  product<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(buffer<float>(n * n), buffer<float>(n * n),
                                                buffer<float>(n * n), n);
  return finish();
}
