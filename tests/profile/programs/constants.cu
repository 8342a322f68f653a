// Lanes read different words of constant memory.
#include "host.h"
__constant__ float table[256];
__global__ void look_up(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i * 7 % 256];  // advice: constant-serialized
}
int main() {
  int n = 65536;
  look_up<<<n / 256, 256>>>(buffer<float>(n), n);
  return finish();
}
