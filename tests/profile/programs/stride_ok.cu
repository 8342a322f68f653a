// Threads take turns: neighbours access neighbouring elements.
#include "host.h"
__global__ void scale(float *data, int each) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < each; k++) data[k * threads + t] *= 2;
}
int main() {
  scale<<<16, 256>>>(buffer<float>(4096 * 50), 50);
  return finish();
}
