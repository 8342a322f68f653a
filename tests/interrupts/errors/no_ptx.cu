// arch: -gencode arch=compute_90,code=sm_90
// device: cpu
// says: has no PTX, only machine code for sm_90
// prints: no kernel image is available for execution on the device
// exit: 125
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void kernel() { f(threadIdx.x); }
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {}

int main() {
  kernel<<<1, 32>>>();
  puts(cudaGetErrorString(cudaGetLastError()));
}
