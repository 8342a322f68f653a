// Kernels with something to say of each: a bank conflict, rows by threads, a misaligned load.
#include <nvtx3/nvToolsExt.h>

#include "../profile/programs/host.h"
__global__ void transpose(float *out, const float *in, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}
__global__ void columns(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (i < n)
    for (int k = 0; k < n; k++) sum = sum * 0.5f + in[i * n + k];
  out[i] = sum;
}
__global__ void offset(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3) out[i] = in[i + 1] * 2;
}
int main() {
  int n = 256;
  float *a = buffer<float>(n * n + 1), *b = buffer<float>(n * n);
  float *h = new float[n * n]();
  for (int k = 0; k < 5; k++) {
    nvtxRangePushA("turn");
    nvtxRangePushA("input");
    cudaMemcpy(a, h, n * n * 4, cudaMemcpyHostToDevice);
    nvtxRangePop();
    transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(b, a, n);
    columns<<<1, n>>>(a, b, n);
    offset<<<n, n>>>(b, a, n);
    cudaDeviceSynchronize();
    nvtxRangePop();
  }
  return finish();
}
