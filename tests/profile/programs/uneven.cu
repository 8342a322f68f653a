// Block 0 does almost all of the work.
#include "host.h"
__global__ void rows(float *data, int longest) {  // advice: imbalance
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.x ? longest / 100 : longest;
  float v = data[i];
  for (int k = 0; k < n; k++) v = v * 1.5f + 1;
  data[i] = v;
}
int main() {
  rows<<<64, 256>>>(buffer<float>(64 * 256), 2000);
  return finish();
}
