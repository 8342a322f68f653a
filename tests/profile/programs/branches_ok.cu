// Whole warps take one side.
#include "host.h"
__global__ void mix(float *data, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = data[i];
  if (i / 32 % 2)
    for (int k = 0; k < turns; k++) v = v * 1.5f + 1;
  else
    for (int k = 0; k < turns; k++) v = v / 1.5f - 1;
  data[i] = v;
}
int main() {
  mix<<<64, 256>>>(buffer<float>(64 * 256), 20);
  return finish();
}
