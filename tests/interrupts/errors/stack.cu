// says: functions that call interrupts in kernel _Z6kernelPii call each other more deeply than the
//    1152 bytes of their stack allow
// prints: unspecified launch failure
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT_OR(f, int(int x), 0);
__device__ __noinline__ int deeper(int n) { return n ? deeper(n - 1) * 3 + f(n) : 1; }
__global__ void kernel(int *out, int n) { *out = deeper(n); }
WG_HANDLER(f, wg_callers &callers, wg_list<int> x, wg_results<int> r) {}

int main() {
  int *out;
  cudaMalloc(&out, sizeof *out);
  kernel<<<1, 1>>>(out, 1000);
  cudaError_t error = cudaDeviceSynchronize();
  puts(cudaGetErrorString(error ? error : cudaGetLastError()));
}
