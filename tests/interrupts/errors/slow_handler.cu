// options: --hang-timeout=1
// says: the handler of interrupt f has not returned for 1 s; kernel _Z6kernelv waits for it (64
//    threads have called it, at tests/interrupts/errors/slow_handler.cu:13)
// prints: no error
// exit: 0
#include <unistd.h>

#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void kernel() { f(threadIdx.x); }
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) { usleep(1900000); }

int main() {
  kernel<<<1, 64>>>();
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
