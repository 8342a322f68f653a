// Kernels launched from the device, by others and by themselves: counted like those the host
// launches.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void child(int *p, int v) { p[threadIdx.x] += v; }                // label: child
__global__ void parent(int *p, int n) {
  if (threadIdx.x == 0) for (int i = 1; i <= n; i++) child<<<1, 64>>>(p, i);
}
__global__ void again(int *p, int depth) {
  atomicAdd(&p[depth], depth);                                               // label: again
  if (depth > 0) again<<<1, 2>>>(p, depth - 1);
}
int main() {
  int *p;
  cudaMalloc(&p, 4096);
  parent<<<1, 32>>>(p, 10);
  child<<<3, 64>>>(p, 1);
  again<<<1, 1>>>(p, 4);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorName(e));
  return e != cudaSuccess;
}
