// One function of the program copies everything to the host: what is bad of it is told for each
// kernel that wrote it, which is nothing.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void twice(float *to, const float *from) { to[threadIdx.x] = 2 * from[threadIdx.x]; }
__global__ void plus(float *to, const float *from) { to[threadIdx.x] = from[threadIdx.x] + 1; }
__global__ void minus(float *to, const float *from) { to[threadIdx.x] = from[threadIdx.x] - 1; }
__global__ void less(float *to, const float *from) { to[threadIdx.x] = from[threadIdx.x] - 2; }

__attribute__((noinline)) static float fetch(const float *from) {
  float h[32], sum = 0;
  cudaMemcpy(h, from, sizeof h, cudaMemcpyDeviceToHost);
  for (float x : h) sum += x;
  return sum;
}

int main() {
  float *from, *good, *to;
  cudaMalloc(&from, 32 * sizeof *from);
  cudaMalloc(&good, 32 * sizeof *good);
  cudaMemset(good, 0, 32 * sizeof *good);
  cudaMemset(from, 0, 32 * sizeof *from);
  float sum = 0;
  for (auto kernel : {twice, plus, minus}) {
    cudaMalloc(&to, 32 * sizeof *to);
    for (int i = 0; i < 2; i++) kernel<<<1, 32>>>(to, from), sum += fetch(to);
    less<<<1, 32>>>(to, good), sum += fetch(to);
    cudaFree(to);
  }
  printf("%s %g\n", cudaGetErrorString(cudaDeviceSynchronize()), sum);
}
