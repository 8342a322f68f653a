// Lanes leave a loop in different turns: a warp runs until its last one has finished.
#include "host.h"
__global__ void escape(int *out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, k = 0;
  float cr = x * 3.f / width - 2, ci = y * 2.f / 64 - 1, zr = 0, zi = 0;
  while (k < 200 && zr * zr + zi * zi < 4) {  // advice: divergence
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    k++;
  }
  out[y * width + x] = k;
}
int main() {
  escape<<<dim3(1, 64), 256>>>(buffer<int>(256 * 64), 256);
  return finish();
}
