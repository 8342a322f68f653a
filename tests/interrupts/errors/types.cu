// says: interrupt f is called at tests/interrupts/errors/types.cu:10 with 2 parameters (4, 8
//    bytes); its handler at tests/interrupts/errors/types.cu:12 takes 1 parameter (4 bytes) and a
//    result of 4
// prints: invalid argument
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x, double y));
__global__ void kernel() { f(1, 2.0); }

WG_HANDLER(f, wg_callers &callers, wg_list<int> x, wg_results<int> r) {}

int main() {
  kernel<<<1, 1>>>();
  puts(cudaGetErrorString(cudaGetLastError()));
}
