// Two contexts after each other, each with its own memory at perhaps the same addresses: silent.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
__global__ void fill(int *a, int n) { int i = threadIdx.x; if (i < n) a[i] = i; }

int main() {
  for (int round = 0; round < 4; round++) {
    int *a, *b; OK(cudaMalloc(&a, 128 << round)); OK(cudaMalloc(&b, 256));
    fill<<<1, 1024>>>(a, 32 << round); fill<<<1, 64>>>(b, 64);
    OK(cudaDeviceSynchronize());
    if (round % 2) OK(cudaFree(a));
    OK(cudaDeviceReset());
  }
  puts("good");
}
