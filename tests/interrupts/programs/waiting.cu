// nvcc: -Iinclude
// Loops that wait for threads of other blocks: a chain of blocks (each waits for the one before),
// a lock, and a barrier of the whole grid. Interrupts stop any of them.
#include <cooperative_groups.h>
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT_OR(plus_one, int(int x), 0);
WG_HANDLER(plus_one, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] + 1;
}

__global__ void chain(volatile int *done, volatile int *value) {
  if (threadIdx.x) return;
  int b = blockIdx.x, before = 0;
  if (b) {
    while (!done[b - 1]) {}
    __threadfence();
    before = value[b - 1];
  }
  value[b] = plus_one(before);
  __threadfence();
  done[b] = 1;
}

__global__ void grid_barrier(int *a, int *b) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  int i = threadIdx.x + blockIdx.x * blockDim.x, n = blockDim.x * gridDim.x;
  a[i] = i % 3 ? i : plus_one(i);
  grid.sync();
  b[i] = a[n - 1 - i];
  if (i % 5 == 0) b[i] = plus_one(b[i]);
  grid.sync();
  a[i] = b[(i + 1) % n];
}

int main() {
  enum { BLOCKS = 200, N = 8 * 64 };
  int *done, *value, host[N], wrong = 0;
  cudaMalloc(&done, sizeof host);
  cudaMalloc(&value, sizeof host);
  cudaMemset(done, 0, sizeof host);
  chain<<<BLOCKS, 32>>>(done, value);
  cudaMemcpy(host, value, BLOCKS * sizeof *host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < BLOCKS; i++) wrong += host[i] != i + 1;
  printf("chain: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  void *args[] = {&done, &value};
  cudaLaunchCooperativeKernel((void *)grid_barrier, dim3(8), dim3(64), args, 0, 0);
  cudaMemcpy(host, done, sizeof host, cudaMemcpyDeviceToHost);
  wrong = 0;
  for (int i = 0; i < N; i++) {
    int j = (i + 1) % N, a = N - 1 - j, expected = a % 3 ? a : a + 1;
    wrong += host[i] != expected + (j % 5 == 0);
  }
  printf("grid barrier: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  cudaFree(done);
  cudaFree(value);
}
