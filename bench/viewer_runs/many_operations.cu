// Ten million operations a launch, and as many launches as the argument says (15: 157 million).
#include <cstdio>
#include <cstdlib>
__global__ void work(volatile float *a, const volatile float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 5; k++) a[i] = b[(i + k) % n] + k;
}
int main(int argc, char **argv) {
  const int n = 1 << 20, launches = argc > 1 ? atoi(argv[1]) : 15;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemset(b, 0, n * 4);
  for (int k = 0; k < launches; k++) work<<<n / 256, 256>>>(a, b, n);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
}
