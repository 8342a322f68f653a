// A short program: one kernel of three is launched.
#include <cstdio>
__global__ void first(int *p) { p[threadIdx.x] = threadIdx.x * 3; }
__global__ void second(int *p) { p[threadIdx.x] += 1; }
__global__ void third(int *p) { p[threadIdx.x] *= 2; }
int main() {
  int *d, h[32] = {0};
  if (cudaMalloc(&d, sizeof h) != cudaSuccess) return 1;
  first<<<1, 32>>>(d);
  if (h[0] == 1) second<<<1, 32>>>(d), third<<<1, 32>>>(d);
  if (cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault) != cudaSuccess) return 1;
  printf("%d\n", h[31]);
  return h[31] != 93;
}
