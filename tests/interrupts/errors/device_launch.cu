// nvcc: -rdc=true -lcudadevrt
// says: kernel _Z5childv calls interrupts (tests/interrupts/errors/device_launch.cu:11), and device
//    code launches it: only the host can launch such a kernel; the calls give their defaults
// device: cpu
// prints: no error
// exit: 0
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void child() {
  f(threadIdx.x);
}
__global__ void parent() { child<<<1, 32>>>(); }
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {}

int main() {
  parent<<<1, 1>>>();
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
