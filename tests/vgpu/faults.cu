// Faults end the launch with the error CUDA gives, never the process.
// prints: wild pointer: an illegal memory access was encountered
// prints: after it: an illegal memory access was encountered
// prints: null pointer: an illegal memory access was encountered
// prints: misaligned: misaligned address
// prints: freed memory: an illegal memory access was encountered
// prints: trap: unspecified launch failure
// prints: host memory: an illegal memory access was encountered
// prints: works again: 5
#include <cstdio>
#include <cstdlib>

__global__ void store(int *p) { p[threadIdx.x] = 5; }
__global__ void odd_address(char *p) { *(int *)(p + 1) = 5; }
__global__ void traps() { asm volatile("trap;"); }

static const char *outcome() { return cudaGetErrorString(cudaDeviceSynchronize()); }

int main() {
  int *p, h = 0;
  store<<<1, 32>>>((int *)0x123456789000ull);
  printf("wild pointer: %s\n", outcome());
  printf("after it: %s\n", cudaGetErrorString(cudaMalloc(&p, 16)));
  cudaDeviceReset();
  store<<<1, 32>>>(nullptr);
  printf("null pointer: %s\n", outcome());
  cudaDeviceReset();
  cudaMalloc(&p, 256);
  odd_address<<<1, 1>>>((char *)p);
  printf("misaligned: %s\n", outcome());
  cudaDeviceReset();
  cudaMalloc(&p, 1 << 20);
  cudaFree(p);
  store<<<1, 32>>>(p);
  printf("freed memory: %s\n", outcome());
  cudaDeviceReset();
  traps<<<1, 1>>>();
  printf("trap: %s\n", outcome());
  cudaDeviceReset();
  int *host = (int *)malloc(1 << 20);
  store<<<1, 32>>>(host);
  printf("host memory: %s\n", outcome());
  cudaDeviceReset();
  cudaMalloc(&p, 256);
  store<<<1, 32>>>(p);
  cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);
  printf("works again: %d\n", h);
  return 0;
}
