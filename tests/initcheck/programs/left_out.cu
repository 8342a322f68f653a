// Addresses computed from memory that nobody wrote, beyond the array: what they come from is told
// of as well where memcheck leaves the access out.
#include <cstdio>

__global__ void beyond(const int *bad, const int *good, int zero, int *out) {
  __shared__ int s[32];
  extern __shared__ int behind[];
  s[threadIdx.x] = threadIdx.x;
  behind[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int i = bad[threadIdx.x] * zero, j = good[threadIdx.x] * zero;
  // finds-next: uninit-use (the index, whatever it is); oob-read tool=memcheck
  out[threadIdx.x] = s[i + 1000];
  // finds-next: oob-read tool=memcheck
  out[threadIdx.x + 32] = s[j + 1000];
  // finds-next: uninit-use (and of a store); oob-write tool=memcheck
  s[bad[threadIdx.x + 32] * zero + 1001] = 1;
  out[threadIdx.x + 64] = s[j + 1];
}

int main() {
  int *bad, *good, *out;
  cudaMalloc(&bad, 4096);
  cudaMalloc(&good, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(good, 1, 4096);
  beyond<<<1, 32, 4096>>>(bad, good, 0, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
