// arch: compute_90
// Tensor maps that describe what their allocations hold.
#include "tensor_map.h"

int main() {
  void *a;
  cudaMalloc(&a, 64 * 64 * 4);
  cudaMemset(a, 0, 64 * 64 * 4);
  takes_map<<<1, 32>>>(map_of(a, 64, 64), (float *)a);
  takes_map<<<1, 32>>>(map_of((char *)a + 256 * 32, 64, 32), (float *)a);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(a);
}
