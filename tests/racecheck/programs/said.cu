// Races that are said to be meant, and others: on bytes beside those, before it is said, in memory
// of the block.
#include <cstdio>
#include "../../../include/warpgrind.h"

__global__ void beside(int *a) { a[1] = threadIdx.x; }                  // finds: race group=beside
__global__ void before(int *b) { b[0] = threadIdx.x; }                  // finds: race group=before

__global__ void on_device(int *out) {
  __shared__ int last[2];
  wg_benign_race(&last[0], sizeof(int));
  __syncthreads();
  last[0] = threadIdx.x;
  // finds-next: race group=on_device
  last[1] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = last[0] + last[1];
}

__global__ void of_global(int *c) {
  wg_benign_race(c + 7, 4);
  c[7] += threadIdx.x;
  // finds-next: race group=of_global
  c[8] = threadIdx.x;
}

// finds-next: race group=two_streams
__global__ void fill(int *a) { a[threadIdx.x] = threadIdx.x; }
// finds-next: race group=two_streams
__global__ void fill_again(int *a) { a[threadIdx.x] = 63 - threadIdx.x; }

int main() {
  int *a, *b, *out, *both;
  cudaStream_t one, two;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMalloc(&out, 4096);
  cudaMalloc(&both, 4096);
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  wg_benign_race(a, 4);
  beside<<<1, 64>>>(a);
  before<<<1, 64>>>(b);
  cudaDeviceSynchronize();
  wg_benign_race(b, 4);
  on_device<<<4, 64>>>(out);
  of_global<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  wg_benign_race(both, 4);                                              // the first of them only
  fill<<<1, 64, 0, one>>>(both);
  fill_again<<<1, 64, 0, two>>>(both);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
