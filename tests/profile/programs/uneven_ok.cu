// All blocks do the same amount.
#include "host.h"
__global__ void rows(float *data, int longest) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = longest / 8;
  float v = data[i];
  for (int k = 0; k < n; k++) v = v * 1.5f + 1;
  data[i] = v;
}
int main() {
  rows<<<64, 256>>>(buffer<float>(64 * 256), 2000);
  return finish();
}
