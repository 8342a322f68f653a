// says: interrupt nobody is called at tests/interrupts/errors/missing.cu:9 in kernel _Z6kernelv,
//    and has no handler
// prints: invalid argument
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(nobody, void(int x));
__global__ void kernel() { nobody(1); }

int main() {
  kernel<<<1, 1>>>();
  puts(cudaGetErrorString(cudaGetLastError()));
}
