// Variables of a module, through a pointer of which a function knows nothing: outside of one is
// wrong, as for any allocation. A GPU's driver does not tell of variables without a name to ask
// for, so there what is beside a variable is tried.
// device: cpu
#include <cstdio>

__device__ int table[16];
static __device__ float own[4];
__constant__ int steps[4] = {1, 2, 3, 4};

// finds-next: oob-read count=3
__device__ __noinline__ int reads(const int *from, int i) { return from[i]; }
__device__ __noinline__ void writes(float *to, int i) { to[i] = 1; }  // finds: oob-write count=1

__global__ void kernel(int *out, int i) {
  out[threadIdx.x] = reads(table, i + threadIdx.x) + reads(steps, threadIdx.x) +
                     reads(out, threadIdx.x);
  if (threadIdx.x == 0) writes(own, i - 12);
}

int main() {
  int *out;
  cudaMalloc(&out, 16);
  cudaMemset(out, 0, 16);
  kernel<<<1, 4>>>(out, 14);
  kernel<<<1, 1>>>(out, 16);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
