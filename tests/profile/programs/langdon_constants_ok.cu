// … and as he redesigned them: threads of a warp read the same element at the same time.
#include "host.h"
__constant__ unsigned words[15 * 1024];
__global__ void look_up(unsigned *out, const unsigned *index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, block = blockIdx.x % 15 * 1024;
  unsigned sum = 0;
  for (int k = 0; k < 16; k++) sum += words[block + k];
  if (i < n) out[i] = sum + index[i];
}
int main() {
  int n = 65536;
  look_up<<<n / 256, 256>>>(buffer<unsigned>(n), buffer<unsigned>(n), n);
  return finish();
}
