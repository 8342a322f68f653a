// arch: compute_80
// What other lanes have read, where all of it was written.
#include <cstdio>
#include <cuda_runtime.h>
#define ALL 0xffffffff

// p has 32 ints that were written.
__global__ void shuffled(const int *p, int *out) {
  int v = p[threadIdx.x];
  int w = __shfl_sync(ALL, v, threadIdx.x ^ 31);
  if (threadIdx.x < 16 && w > 3)
    atomicAdd(out, 1);
}
__global__ void balloted(const int *p, int *out) {
  unsigned m = __ballot_sync(ALL, p[threadIdx.x] > 3);
  if (threadIdx.x < 16 && m >> 30)
    atomicAdd(out, 1);
}
__global__ void voted(const int *p, int *out) {
  int any = 0;
  any = __any_sync(ALL, p[threadIdx.x] > 3);
  if (threadIdx.x < 16 && any) atomicAdd(out, 1);
}
__global__ void reduced(const int *p, int *out) {
  unsigned all = 0;
  all = __reduce_add_sync(ALL, p[threadIdx.x]);
  if (threadIdx.x < 16 && all > 3) atomicAdd(out, 1);
}
__global__ void summed(const int *p, int *out) {
  int v = 0;
  v = p[threadIdx.x];
  for (int i = 16; i; i /= 2) v += __shfl_down_sync(ALL, v, i);
  if (threadIdx.x == 0 && v > 3) atomicAdd(out, 1);
}
__device__ __noinline__ int depth(int n, int *out) {
  if (n > 4000) atomicAdd(out, n);
  return n > 3 ? depth(n / 2, out) + 1 : 0;
}
__global__ void by_calls(
    const int *p, int *out) {  // a function that stays a call: registers have shadows beside them
  int v = p[threadIdx.x];
  int w = __shfl_xor_sync(ALL, v, 31);
  if (threadIdx.x < 16 && w > 3) atomicAdd(out, depth(threadIdx.x, out));
}

__global__ void write(int *p) { p[threadIdx.x] = 5; }

int main() {
  int *p, *out;
  cudaMalloc(&p, 32 * sizeof *p);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  write<<<1, 32>>>(p);
  shuffled<<<1, 32>>>(p, out);
  balloted<<<1, 32>>>(p, out);
  voted<<<1, 32>>>(p, out);
  reduced<<<1, 32>>>(p, out);
  summed<<<1, 32>>>(p, out);
  by_calls<<<1, 32>>>(p, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
