// Kernels launched by kernels.
// nvcc: -rdc=true -lcudadevrt
// coverage: any
#include "gpu_test.h"

__global__ void child(int *p, int v) { p[threadIdx.x] += v; }
__global__ void parent(int *p, int levels) {
  if (threadIdx.x == 0) for (int i = 1; i <= levels; i++) child<<<1, 64>>>(p, i);
}
__global__ void recursive(int *p, int depth) {
  p[depth] = depth * 10;
  if (depth > 0) recursive<<<1, 1>>>(p, depth - 1);
}
int main() {
  int *d, h[64];
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMemset(d, 0, sizeof h));
  parent<<<1, 32>>>(d, 10);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) EXPECT(h[i] == 55);
  recursive<<<1, 1>>>(d, 5);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i <= 5; i++) EXPECT(h[i] == i * 10);
  show("result", h, sizeof h);
  return finish();
}
