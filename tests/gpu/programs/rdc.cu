// Device code in two files, linked by nvcc (-rdc=true).
// coverage: all
// nvcc: -rdc=true
// files: parts/rdc_other.cu
#include "gpu_test.h"

extern __device__ int other(int x);
extern __device__ int table[16];
extern __constant__ int bias;
extern void launch_other(int *p);
__device__ int mine(int x) { return x + 1; }
__global__ void here(int *p) {
  p[threadIdx.x] = other(threadIdx.x) + table[threadIdx.x & 15] + bias;
}

int main() {
  int *d, h[64], set[16], b = 5;
  for (int i = 0; i < 16; i++) set[i] = i * 1000;
  OK(cudaMemcpyToSymbol(table, set, sizeof set));
  OK(cudaMemcpyToSymbol(bias, &b, 4));
  OK(cudaMalloc(&d, sizeof h));
  here<<<1, 64>>>(d);
  launch_other(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) EXPECT(h[i] == (i + 1) * 2 + (i & 15) * 1000 + 5 + i + 1 + 5);
  show("result", h, sizeof h);
  return finish();
}
