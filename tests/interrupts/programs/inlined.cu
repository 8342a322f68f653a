// nvcc: -Iinclude
// Interrupts in functions that the compiler does not inline: Warpgrind does, calls of calls
// included.
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT_OR(square, int(int x), 0);
WG_HANDLER(square, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] * x[i];
}

__device__ __noinline__ int inner(int x, int *sum) {
  int s = square(x);
  *sum += s;
  return s;
}
__device__ __noinline__ int outer(int x) {
  int sum = 0, last = 0;
  for (int k = 0; k < x % 4; k++) last = inner(x + k, &sum);
  return sum * 1000 + last;
}
__global__ void kernel(int *out, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) out[i] = outer(i) + inner(i, &out[i]);
}

int main() {
  enum { N = 100 };
  int *out, host[N], wrong = 0;
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0, sizeof host);
  kernel<<<4, 32>>>(out, N);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) {
    int sum = 0, last = 0;
    for (int k = 0; k < i % 4; k++) sum += last = (i + k) * (i + k);
    wrong += host[i] != sum * 1000 + last + i * i;
  }
  printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
}
