// says: kernel _Z6kernelv calls interrupts: it cannot be part of a graph
// prints: operation not permitted when stream is capturing
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void kernel() { f(1); }
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {}

int main() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  kernel<<<1, 1, 0, s>>>();
  puts(cudaGetErrorString(cudaGetLastError()));
}
