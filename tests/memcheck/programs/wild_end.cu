// A pointer that could be an address and is none: the device ends the launch, and it is said where.
// device: cpu
#include <cstdio>
#include <cstdlib>

__global__ void each(int **list, int *out) {
  int i = threadIdx.x;
  out[i] = i;
  if (i == 7) *list[i] = 1;  // finds: oob-write count=1
}

int main() {
  int **list, *h[32], *out;
  cudaMalloc(&out, 32 * 4); cudaMalloc(&list, sizeof h);
  for (int i = 0; i < 32; i++) h[i] = (int *)0x123456789abcull;
  cudaMemcpy(list, h, sizeof h, cudaMemcpyDefault);
  each<<<1, 32>>>(list, out);
  printf("%d\n", cudaDeviceSynchronize() != cudaSuccess);
}
