// Races that are meant, and said to be.
#include <cstdio>
#include "../../../include/warpgrind.h"

__global__ void on_host(int *a) { a[0] = threadIdx.x + blockIdx.x; }

__global__ void on_device(int *out) {
  __shared__ int last;
  wg_benign_race(&last, sizeof last);
  __syncthreads();
  last = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = last;
}

__global__ void of_global(int *c) {
  wg_benign_race(c + 7, 4);
  c[7] += threadIdx.x;
}

__global__ void fill(int *a, int v) { a[threadIdx.x] = v + threadIdx.x; }

int main() {
  int *a, *out, *both;
  cudaStream_t one, two;
  cudaMalloc(&a, 4096);
  cudaMalloc(&out, 4096);
  wg_benign_race(a, 4);
  on_host<<<4, 64>>>(a);
  on_device<<<4, 64>>>(out);
  of_global<<<1, 64>>>(out);
  for (int i = 0; i < 600; i++) on_host<<<2, 1>>>(a);
  cudaMalloc(&both, 4096);
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  wg_benign_race(both, 256);
  fill<<<1, 64, 0, one>>>(both, 1);
  fill<<<1, 64, 0, two>>>(both, 2);
  cudaMemsetAsync(both, 0, 256, one);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
