// A barrier of the grid; the launch is not cooperative.
#include "../../lib/one_bug.h"
#include <cooperative_groups.h>
__global__ void k(int *out) {
  cooperative_groups::this_grid().sync();  // finds: barrier-misuse
  out[blockIdx.x] = 1;
}
int main() {
  int *out = device_ints(4);
#ifdef TWIN
  void *args[] = {&out};
  MUST(cudaLaunchCooperativeKernel((void *)k, 4, 32, args, 0, 0));
#else
  k<<<4, 32>>>(out);
#endif
  cudaDeviceSynchronize();
  puts("done");
}
