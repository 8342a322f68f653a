// An aligned source, and a stencil: its neighbours are misaligned, and must be.
#include "host.h"
__global__ void copy(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void smooth(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
int main() {
  int n = 65536;
  copy<<<n / 256, 256>>>(buffer<float>(n), buffer<float>(n), n);
  smooth<<<n / 256, 256>>>(buffer<float>(n), buffer<float>(n), n);
  return finish();
}
