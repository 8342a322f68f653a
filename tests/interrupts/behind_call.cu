// A write outside of an allocation behind an interrupt, in one block of a grid: the finding names
// that block, also where only blocks with callers go on.
#include "warpgrind.h"

WG_INTERRUPT_OR(echo, int(int), 0);
WG_HANDLER(echo, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i];
}

__global__ void kernel(int *out) {
  int block = (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  int i = block % 40 == 39 && threadIdx.x == 5 ? echo(block) : 0;
  out[i == 79 ? 1000 : i] = block;  // label: outside
}

int main() {
  int *out;
  cudaMalloc(&out, 480);
  kernel<<<dim3(5, 4, 6), 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
