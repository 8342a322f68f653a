// The four as one access of 16 bytes.
#include "host.h"
__global__ void length(float *out, const float4 *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = p[i];
  out[i] = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
}
int main() {
  int n = 65536;
  length<<<n / 256, 256>>>(buffer<float>(n), buffer<float4>(n), n);
  return finish();
}
