// arch: compute_90
// Tensor maps that describe more than their allocation holds, or one that was freed.
// finds: api-misuse has=describes 16384 bytes, and the allocation ends 256 bytes before
// finds: api-misuse has=describes 16384 bytes, and the allocation ends 8192 bytes before
// finds: api-misuse has=describes 16384 bytes of freed memory
#include "tensor_map.h"

int main() {
  void *a, *b, *freed;
  cudaMalloc(&a, 64 * 63 * 4);
  cudaMalloc(&b, 64 * 64 * 4);
  cudaMalloc(&freed, 64 * 64 * 4);
  cudaMemset(a, 0, 64 * 63 * 4);
  takes_map<<<1, 32>>>(map_of(a, 64, 64), (float *)a);  // one row too many
  takes_map<<<1, 32>>>(map_of((char *)b + 256 * 32, 64, 64), (float *)a);
  CUtensorMap map = map_of(freed, 64, 64);
  cudaFree(freed);
  for (int i = 0; i < 3; i++) takes_map<<<1, 32>>>(map, (float *)a);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(a);
  cudaFree(b);
}
