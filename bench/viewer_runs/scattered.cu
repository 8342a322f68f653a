// Accesses that do not compress well: each thread reads and writes at places of a hash, and counts
// in bins that all threads share; seven million operations a launch.
#include <cstdio>
#include <cstdlib>
__device__ unsigned hashed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}
__global__ void scatter(float *to, const float *from, unsigned *bins, unsigned n, unsigned turn) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = 0; k < 3; k++) {
    unsigned at = hashed(i * 3 + k + turn * 7919) % n;
    to[at] = from[hashed(at) % n] * 1.0001f + k;
    if (k == 0) atomicAdd(&bins[at % 256], 1u);
  }
}
__global__ void fill(float *a) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = hashed(i) * 1e-9f;
}
int main(int argc, char **argv) {
  const int n = 1 << 22, launches = argc > 1 ? atoi(argv[1]) : 15;
  float *a, *b;
  unsigned *bins;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMalloc(&bins, 1024);
  cudaMemset(bins, 0, 1024);
  cudaMemset(a, 0, n * 4);
  fill<<<n / 256, 256>>>(b);
  for (int k = 0; k < launches; k++)
    scatter<<<(1 << 20) / 256, 256>>>(k & 1 ? b : a, k & 1 ? a : b, bins, n, k);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
}
