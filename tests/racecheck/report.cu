// One race of each kind; report.txt is what is said of them.
#include <cstdio>

__global__ void tile(const int *in, int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];             // no barrier
}

__global__ void pair(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x ^ 1];                                // no __syncwarp
}

__global__ void count(int *c) { *c += 1; }                              // blocks

__global__ void few(int *c) { atomicAdd_block(c, 1); }  // a scope that is too narrow

__global__ void last(int *c) { *c = threadIdx.x; }                      // one instruction

__global__ void same(int *c) { *c = 7; }

__global__ void fill(int *a, int v) { a[threadIdx.x] = v; }

int main() {
  int *in, *out;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(in, 0, 4096);
  tile<<<2, 64>>>(in, out);
  pair<<<1, 32>>>(out);
  count<<<4, 1>>>(out);
  few<<<4, 1>>>(out);
  last<<<1, 32>>>(out);
  same<<<4, 1>>>(out);
  cudaDeviceSynchronize();
  cudaStream_t s[2];
  for (auto &x : s) cudaStreamCreate(&x);
  for (auto &x : s) fill<<<1, 32, 0, x>>>(out, &x - s);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
