// arch: compute_80
// movmatrix: lane 5 holds halves 2 and 3 of row 1. After it halves 1 of rows 2 and 3 are lane 5's:
//    the upper ones of lanes 8 and 12.
// says: read at tests/initcheck/programs/transposed.cu:{transposed} in transposed(unsigned int
//    const*, unsigned int*)
// says: read at tests/initcheck/programs/transposed.cu:{called} in by_calls(unsigned int const*,
//    unsigned int*)
#include <cstdio>
#include <cuda_runtime.h>

__device__ unsigned transpose(unsigned v) {
  unsigned r;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(v));
  return r;
}

// p has 32 words; the sixth was not written.
__global__ void transposed(const unsigned *p, unsigned *out) {
  unsigned v = 0;
  v = p[threadIdx.x];  // label: transposed
  unsigned t = transpose(v);
  if (threadIdx.x != 8 && threadIdx.x != 12 && t > 3) atomicAdd(out, 1);
  if ((t & 0xffff) > 3) atomicAdd(out, 1);
  if (threadIdx.x == 8 && t >> 16 > 3) atomicAdd(out, 1);            // finds: uninit-use (lane 5's)
  if (threadIdx.x == 12 && t >> 16 > 3) atomicAdd(out, 1);           // finds: uninit-use (lane 5's)
}
__device__ __noinline__ int depth(int n, unsigned *out) {
  return n > 3 ? depth(n / 2, out) + atomicAdd(out, 0) : 0;
}
__global__ void by_calls(
    const unsigned *p,
    unsigned *out) {            // a function that stays a call: registers have shadows beside them
  unsigned v = p[threadIdx.x];  // label: called
  unsigned t = transpose(v);
  if ((t & 0xffff) > 3) atomicAdd(out, 1);
  // finds-next: uninit-use (lane 5's)
  if (threadIdx.x == 12 && t >> 16 > 3) atomicAdd(out, depth(threadIdx.x, out));
}

int main() {
  unsigned *p, *out;
  cudaMalloc(&p, 32 * sizeof *p);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  cudaMemset(p, 1, 5 * sizeof *p);
  cudaMemset(p + 6, 1, 26 * sizeof *p);
  transposed<<<1, 32>>>(p, out);
  by_calls<<<1, 32>>>(p, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
