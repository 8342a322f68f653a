// Each thread works on a piece of its own: neighbours are far apart.
#include "host.h"
__global__ void scale(float *data, int each) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < each; k++) data[t * each + k] *= 2;  // advice: uncoalesced
}
int main() {
  scale<<<16, 256>>>(buffer<float>(4096 * 50), 50);
  return finish();
}
