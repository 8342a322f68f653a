// Two buffers and a variable, for --buffer. The second is freed and allocated again.
#include <cstdio>

__device__ int total;

__global__ void both(const int *from, int *to) {
  __shared__ int tile[64];
  tile[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = tile[63 - threadIdx.x] + 1;
  atomicAdd(&total, to[threadIdx.x]);
}

int main() {
  int *first, *second, host[64], sum = 0;
  for (int i = 0; i < 64; i++) host[i] = i;
  cudaMalloc(&first, sizeof host);
  cudaMalloc(&second, sizeof host);
  cudaMemcpy(first, host, sizeof host, cudaMemcpyHostToDevice);
  both<<<1, 64>>>(first, second);
  cudaFree(second);
  cudaMalloc(&second, 2 * sizeof host);
  both<<<1, 64>>>(first, second + 64);
  cudaMemcpyFromSymbol(&sum, total, sizeof sum);
  printf("%d\n", sum);
}
