// says: the handler of interrupt f, called in kernel _Z6kernelv, failed: the disk is full
// prints: unspecified launch failure
#include <cstdio>
#include <stdexcept>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void kernel() { f(1); }
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) { throw std::runtime_error("the disk is full"); }

int main() {
  kernel<<<1, 1>>>();
  cudaError_t error = cudaDeviceSynchronize();
  puts(cudaGetErrorString(error ? error : cudaGetLastError()));
}
