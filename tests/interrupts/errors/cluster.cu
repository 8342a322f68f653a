// arch: -lineinfo -gencode arch=compute_90,code=compute_90
// says: kernel _Z6kernelv calls interrupts and cannot be suspended at
//    tests/interrupts/errors/cluster.cu:18: a barrier of the cluster whose wait does not
//    follow its arrive
// prints: operation not supported
// exit: 125
#include <cooperative_groups.h>
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ __cluster_dims__(2) void kernel() {
  f(threadIdx.x);
#if __CUDA_ARCH__ >= 900
  cooperative_groups::this_cluster().barrier_arrive();
  if (threadIdx.x == 3) f(3);
  cooperative_groups::this_cluster().barrier_wait();
#endif
}
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {}

int main() {
  kernel<<<2, 32>>>();
  puts(cudaGetErrorString(cudaGetLastError()));
}
