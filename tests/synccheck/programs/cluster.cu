// A thread waits at the barrier of the cluster a second time, and has not arrived again.
// arch: compute_90
// device: cpu what a GPU does at such a barrier is not known
#include "../../lib/one_bug.h"
__global__ void __cluster_dims__(2, 1, 1) k(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  out[i] = 1;
#ifdef TWIN
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");  // finds: barrier-misuse
  out[i] += 1;
}
int main() {
  int *out = device_ints(64);
  k<<<2, 32>>>(out);
  MUST(cudaDeviceSynchronize());
  sum_of(out, 64);
  puts("done");
}
