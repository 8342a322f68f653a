// Shared memory between barriers, where threads do not all come to the same barriers, or where two intervals are one.
#include <cstdio>

__global__ void one_barrier(int *out, int n) {                          // the next turn writes while others still read
  __shared__ int tile[64];
  int sum = 0;
  for (int i = 0; i < n; i++) {
    tile[threadIdx.x] = i + threadIdx.x;                                // race one_barrier
    __syncthreads();
    sum += tile[63 - threadIdx.x];                                      // race one_barrier
  }
  out[threadIdx.x] = sum;
}

__global__ void other_barrier(int *out) {                               // warps meet at different barriers
  __shared__ int a[64];
  if (threadIdx.x < 32) {
    __syncthreads();
    a[threadIdx.x] = threadIdx.x;                                       // race other_barrier
    __syncthreads();
  } else {
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x - 32];                             // race other_barrier
    __syncthreads();
  }
}


__global__ void several_words(int *out) {
  __shared__ int4 a[64];
  a[threadIdx.x / 2] = make_int4(threadIdx.x, 0, 0, 0);                 // race several_words
  __syncthreads();
  out[threadIdx.x] = a[threadIdx.x].x;
}

__global__ void two_arrays(int *out) {                                  // both begin at the same place
  extern __shared__ int a[];
  extern __shared__ long long b[];
  a[threadIdx.x] = threadIdx.x;                                         // race two_arrays
  out[threadIdx.x] = (int)b[threadIdx.x / 4];                           // race two_arrays
}

int main() {
  int *out;
  cudaMalloc(&out, 4096);
  one_barrier<<<1, 64>>>(out, 3);
  other_barrier<<<1, 64>>>(out);
  several_words<<<1, 64>>>(out);
  two_arrays<<<1, 64, 1024>>>(out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
