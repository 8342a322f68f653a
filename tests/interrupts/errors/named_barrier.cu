// says: kernel _Z6kernelv calls interrupts and cannot be suspended at
//    tests/interrupts/errors/named_barrier.cu:13: a barrier other than __syncthreads(): named, or
//    of a part of the block
// prints: operation not supported
// exit: 125
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void kernel() {
  f(threadIdx.x);
  asm volatile("bar.sync 1, 64;" ::: "memory");
}
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {}

int main() {
  kernel<<<1, 64>>>();
  puts(cudaGetErrorString(cudaGetLastError()));
}
