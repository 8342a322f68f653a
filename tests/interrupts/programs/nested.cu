// nvcc: -Iinclude
// Handlers that launch kernels, which call interrupts again: three deep, in the default stream,
// with memory that the handler allocates and frees.
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT_OR(add_up, int(int depth, int value), -1);

__global__ void ask(int *result, int n, int depth) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) result[i] = depth ? add_up(depth, i) : i;
}

__global__ void sum_into(int *results, const int *depth, const int *value, const int *below,
                         int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) results[i] = value[i] + depth[i] * 1000 + below[i % 4];
}

WG_HANDLER(add_up, wg_callers &callers, wg_list<int> depth, wg_list<int> value,
           wg_results<int> result) {
  int n = (int)callers.size(), *below, host[4];
  printf("depth %d: %d callers\n", depth[0], n);
  cudaMalloc(&below, sizeof host);
  ask<<<1, 4>>>(below, 4, depth[0] - 1);
  cudaMemcpy(host, below, sizeof host, cudaMemcpyDeviceToHost);
  printf("depth %d: below %d %d %d %d\n", depth[0], host[0], host[1], host[2], host[3]);
  sum_into<<<(n + 31) / 32, 32>>>(result.d, depth.d, value.d, below, n);
  cudaDeviceSynchronize();
  cudaFree(below);
}

int main() {
  enum { N = 40 };
  int *out, host[N];
  cudaMalloc(&out, sizeof host);
  ask<<<2, 32>>>(out, N, 3);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i += 13) printf("%d: %d\n", i, host[i]);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
}
