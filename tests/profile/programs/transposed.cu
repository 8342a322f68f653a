// A copy whose threads of a warp write down a column: each lane another row.
#include "host.h"
__global__ void transpose(float *out, const float *in, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * n + y] = in[y * n + x];  // advice: uncoalesced
}
int main() {
  int n = 256;
  transpose<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(buffer<float>(n * n), buffer<float>(n * n), n);
  return finish();
}
