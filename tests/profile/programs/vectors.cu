// Four neighbouring elements, one by one.
#include "host.h"
__global__ void length(float *out, const float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float *q = p + 4 * i;
  float x = q[0], y = q[1], z = q[2], w = q[3];  // advice: vectorize uncoalesced
  out[i] = x * x + y * y + z * z + w * w;
}
int main() {
  int n = 65536;
  length<<<n / 256, 256>>>(buffer<float>(n), buffer<float>(4 * n), n);
  return finish();
}
