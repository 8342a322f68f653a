// Langdon's lookups in constant memory: every thread reads a word of its own, and a read takes as
// long as 32.
#include "host.h"
__constant__ unsigned words[15 * 1024];
__global__ void look_up(unsigned *out, const unsigned *index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = words[(index[i] + i * 977) % (15 * 1024)];  // advice: constant-serialized
}
int main() {
  int n = 65536;
  look_up<<<n / 256, 256>>>(buffer<unsigned>(n), buffer<unsigned>(n), n);
  return finish();
}
