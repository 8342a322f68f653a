// nvcc: -Iinclude
// Calls in a loop and under a condition: each round serves all callers of an interrupt together, in
// the order of calls and threads.
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(report, void(int thread, float value));
WG_INTERRUPT_OR(lookup, int(int key), -1);

__global__ void kernel(int *out, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  int sum = 0;
  for (int j = 0; j < 3; j++) {
    if ((i + j) % 4 == 0) report(i, 0.5f * j);
    sum += lookup(i * 10 + j);
  }
  out[i] = sum;
}

WG_HANDLER(report, wg_callers &callers, wg_list<int> thread, wg_list<float> value) {
  printf("report: %zu callers:", callers.size());
  for (size_t i = 0; i < callers.size(); i++) printf(" %d/%g", thread[i], value[i]);
  printf("\n");
}

WG_HANDLER(lookup, wg_callers &callers, wg_list<int> key, wg_results<int> found) {
  printf("lookup: %zu callers, keys", callers.size());
  for (int k : key) printf(" %d", k);
  printf("\n");
  for (size_t i = 0; i < callers.size(); i++) found[i] = key[i] * 2;
}

int main() {
  enum { N = 10 };
  int *out, host[N];
  cudaMalloc(&out, sizeof host);
  kernel<<<2, 8>>>(out, N);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; i++) printf("%d%c", host[i], i + 1 < N ? ' ' : '\n');
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
}
