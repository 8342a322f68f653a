// 105 million operations in ten launches.
#include <cstdio>
__global__ void work(volatile float *a, const volatile float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 5; k++) a[i] = b[(i + k) % n] + k;
}
int main() {
  const int n = 1 << 20;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemset(b, 0, n * 4);
  for (int k = 0; k < 10; k++) work<<<n / 256, 256>>>(a, b, n);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
}
