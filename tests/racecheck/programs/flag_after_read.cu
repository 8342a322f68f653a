// Blocks move an array down by one element, in place. Each writes a flag when it has read its
// elements, and writes into the elements of the block before it once that one's flag is set. The
// flag needs no fence for that. Here it is set before the block has read.
#include <cstdio>

enum { THREADS = 64, BLOCKS = 8, N = THREADS * BLOCKS };

__device__ volatile unsigned long long flags[BLOCKS];

__global__ void down(int *data) {
  int i = blockIdx.x * THREADS + threadIdx.x;
#ifndef CORRECT
  if (threadIdx.x == 0) flags[blockIdx.x] = 1;
#endif
  int mine = data[i];  // finds: race group=down
#ifdef CORRECT
  __syncthreads();
  if (threadIdx.x == 0) flags[blockIdx.x] = 1;
#endif
  if (threadIdx.x == 0 && blockIdx.x > 0)
    while (!flags[blockIdx.x - 1]) __threadfence_block();
  __syncthreads();
  if (i > 0) data[i - 1] = mine;  // finds: race group=down
}

// Each block writes elements that the block before it reads, and reads no flag.
__global__ void unseen(int *data, int *out) {
  int i = blockIdx.x * THREADS + threadIdx.x;
#ifdef CORRECT
  int other = i;
#else
  int other = (i + THREADS) % N;
#endif
  out[i] = data[other];  // finds: race group=unseen
  __syncthreads();
  if (threadIdx.x == 0) flags[blockIdx.x] = 2;
  __threadfence_block();
  data[i] = -1;  // finds: race group=unseen
}

int main() {
  int *data, *out, host[N];
  for (int i = 0; i < N; i++) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  down<<<BLOCKS, THREADS>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  int moved = 0;
#ifdef CORRECT
  for (int i = 0; i < N - 1; i++) moved += host[i] == i + 1;
#endif
  unseen<<<BLOCKS, THREADS>>>(data, out);
  printf("%d %s\n", moved, cudaGetErrorString(cudaDeviceSynchronize()));
}
