// Code that is not optimised (nvcc -G) calls the functions of CUDA's headers: what goes wrong in
// them is reported with the line of the program as well.
#include <cstdio>
#include <cuda_fp16.h>

__device__ void add(int *bins, int at) {
  atomicAdd(&bins[at], 1);                               // finds: oob-atomic
}

__global__ void kernel(int *bins, float *angle, float cosine, half *sum, half large) {
  add(bins, threadIdx.x);
  if (threadIdx.x == 0) *angle = acosf(cosine);          // finds: fp-nan
  half twice = __hadd(large, large);                     // finds: fp-inf
  if (threadIdx.x == 0) *sum = __hadd(twice, large);
}

int main(int argc, char **) {
  bool wrong = argc > 1;
  int *bins;
  float *angle;
  half *sum;
  cudaMalloc(&bins, 64), cudaMalloc(&angle, 4), cudaMalloc(&sum, 2);
  cudaMemset(bins, 0, 64);
  kernel<<<1, wrong ? 17 : 16>>>(bins, angle, wrong ? 1.5f : 0.5f, sum,
                                 __float2half(wrong ? 60000.0f : 3.0f));
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
