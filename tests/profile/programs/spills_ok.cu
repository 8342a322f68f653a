// As many registers as the values need.
#include "host.h"
enum { VALUES = 40 };
__global__ void __launch_bounds__(256, 4) mix(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[VALUES];
#pragma unroll
  for (int k = 0; k < VALUES; k++) v[k] = in[k * n + i];
#pragma unroll
  for (int k = 0; k < VALUES; k++) v[k] = v[k] * v[(k * 7 + 3) % VALUES] + v[VALUES - 1 - k];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < VALUES; k++) sum = sum * 0.5f + v[k];
  out[i] = sum;
}
int main() {
  int n = 256 * 140;
  mix<<<n / 256, 256>>>(buffer<float>(n), buffer<float>((size_t)n * VALUES), n);
  return finish();
}
