// The capture is invalid: there is no graph without the kernel that could be instantiated.
// says: kernel _Z6kernelv calls interrupts (tests/interrupts/errors/graph.cu:11): it cannot be part
//    of a graph
// prints: operation not permitted when stream is capturing; operation failed due to a previous
//    error during capture
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
  cudaError_t launch = cudaGetLastError();
  cudaGraph_t graph = nullptr;
  cudaError_t capture = cudaStreamEndCapture(s, &graph);
  printf("%s; %s\n", cudaGetErrorString(launch), cudaGetErrorString(capture));
}
