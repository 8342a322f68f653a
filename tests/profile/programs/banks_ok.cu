// Rows of 33 elements: a column takes all banks.
#include "host.h"
__global__ void transpose(float *out, const float *in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
  int n = 256;
  transpose<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(buffer<float>(n * n), buffer<float>(n * n), n);
  return finish();
}
