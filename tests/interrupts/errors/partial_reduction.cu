// says: kernel _Z6kernelPi calls interrupts and cannot be suspended at
//    tests/interrupts/errors/partial_reduction.cu:14: a reduction by a part of the block, or a
//    barrier whose number is not a constant
// prints: operation not supported
// exit: 125
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void kernel(int *out) {
  f(threadIdx.x);
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 3;\n\tbar.red.popc.u32 %0, 1, 64, p;\n\t}"
               : "=r"(*out) : "r"(threadIdx.x) : "memory");
}
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {}

int main() {
  kernel<<<1, 64>>>(nullptr);
  puts(cudaGetErrorString(cudaGetLastError()));
}
