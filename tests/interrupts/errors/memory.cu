// says: kernel _Z6kernelPd calls interrupts (tests/interrupts/errors/memory.cu:10): its 4294901760
//    threads need
// prints: out of memory
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT_OR(f, double(double a, double b, double c, double d), 0);
__global__ void kernel(double *x) {
  x[0] = f(x[1], x[2], x[3], x[4]);
}
WG_HANDLER(f, wg_callers &callers, wg_list<double>, wg_list<double>, wg_list<double>,
           wg_list<double>, wg_results<double>) {}

int main() {
  kernel<<<65535 * 64, 1024>>>(nullptr);
  puts(cudaGetErrorString(cudaGetLastError()));
}
