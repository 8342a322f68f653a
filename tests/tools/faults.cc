// faults MODE: kernels that fail, compiled by nvcc as CUDA C++ with a line table.
#include <cassert>
#include <cstdio>
#include <cstring>

__device__ __forceinline__ void store(int *p, int i, int v) {
  p[i] = v;                                              // label: address
}
__global__ void outside(int *p) {
  store(p, 1 << 30, 4);                                  // label: call
}
__global__ void check(int n) {
  assert(n < 3);                                         // label: assert
}

int main(int argc, char **argv) {
  int *p = NULL;
  cudaMalloc(&p, 64);
  if (!strcmp(argv[1], "address")) outside<<<1, 1>>>(p);
  else check<<<1, 1>>>(5);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
