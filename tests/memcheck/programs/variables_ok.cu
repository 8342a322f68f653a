// Variables of a module, through a pointer of which a function knows nothing: up to their ends.
#include <cstdio>

__device__ int table[16];
static __device__ float own[4];
__constant__ int steps[4] = {1, 2, 3, 4};

__device__ __noinline__ int reads(const int *from, int i) { return from[i]; }
__device__ __noinline__ void writes(float *to, int i) { to[i] = 1; }

__global__ void kernel(int *out, int i) {
  out[threadIdx.x] = reads(table, i + threadIdx.x) + reads(steps, threadIdx.x) +
                     reads(out, threadIdx.x);
  if (threadIdx.x == 0) writes(own, i - 12);
}

int main() {
  int *out;
  cudaMalloc(&out, 16);
  cudaMemset(out, 0, 16);
  kernel<<<1, 4>>>(out, 12);
  kernel<<<1, 1>>>(out, 15);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
