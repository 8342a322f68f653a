// Kernels with interrupts, each compared with itself without: kernel<true> and kernel<false>.
#include <cstdio>

#include "warpgrind.h"

enum { N = 1024, BLOCK = 128 };

WG_INTERRUPT_OR(twice_on_host, int(int x), 0);
template <bool INTERRUPTS> __device__ int twice(int x) {
  if (INTERRUPTS) return twice_on_host(x);
  return 2 * x;
}

WG_HANDLER(twice_on_host, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = 2 * x[i];
}

typedef void Kernel(int *, const int *, int);

static void compare(const char *name, Kernel *plain, Kernel *interrupts) {
  static int host[N], expected[N], found[N];
  int *in, *out;
  Kernel *both[] = {plain, interrupts};
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof found);
  for (int i = 0; i < N; i++) host[i] = i * 37 % 101;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  for (int k = 0; k < 2; k++) {
    cudaMemset(out, 0, sizeof found);
    both[k]<<<N / BLOCK, BLOCK, 4 * BLOCK>>>(out, in, 1000);
    cudaMemcpy(k ? found : expected, out, sizeof found, cudaMemcpyDeviceToHost);
  }
  int different = 0;
  for (int i = 0; i < N; i++) different += expected[i] != found[i];
  printf("%s: %d different, %s\n", name, different, cudaGetErrorString(cudaGetLastError()));
  cudaFree(in);
  cudaFree(out);
}
