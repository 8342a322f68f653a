// 10,000 launches and 2,000 buffers: a load for the flow of a run.
#include <cstdio>
__global__ void step(float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * .5f + b[i];
}
__global__ void other(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1;
}
int main() {
  const int B = 2000, n = 64;
  static float *buf[B];
  for (int i = 0; i < B; i++) {
    cudaMalloc(&buf[i], n * 4);
    cudaMemset(buf[i], 0, n * 4);
  }
  for (int k = 0; k < 5000; k++) {
    step<<<1, n>>>(buf[k % B], buf[(k * 7 + 1) % B], n);
    other<<<1, n>>>(buf[(k * 3) % B], n);
  }
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
}
