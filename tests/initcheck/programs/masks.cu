// lop3 and video instructions: what is left of bad bits decides.
#include <cstdio>
#include <cuda_runtime.h>
#include "masks.h"

// Of each word of p the lower half was written; all of q was, with 5.
__global__ void masked(const unsigned *p, const unsigned *q, int *out) {
  // finds-next: uninit-use (bit 16)
  if (lop3<AND_OR>(p[threadIdx.x], 0x1ffff, q[threadIdx.x]) > 9) atomicAdd(out, 1);
}
__global__ void chosen(const unsigned *p, const unsigned *q, int *out) {
  // finds-next: uninit-use (the upper half is p's)
  if (lop3<CHOOSE>(q[threadIdx.x] | 0xffffff00, p[threadIdx.x], q[threadIdx.x]) > 9)
    atomicAdd(out, 1);
}
__global__ void majority(const unsigned *p, const unsigned *q, int *out) {
  // finds-next: uninit-use (one bit is undecided)
  if (lop3<MAJORITY>(q[threadIdx.x], q[threadIdx.x] ^ 0x800000, p[threadIdx.x]) > 9)
    atomicAdd(out, 1);
}
__global__ void all(const unsigned *p, const unsigned *q, int *out) {
  // finds-next: uninit-use (the upper half)
  if (lop3<XOR>(p[threadIdx.x], p[threadIdx.x + 32], q[threadIdx.x]) > 99) atomicAdd(out, 1);
}
__global__ void two(const unsigned *p, const unsigned *q, int *out) {
  // finds-next: uninit-use (the upper half)
  if (lop3<AND_OR>(p[threadIdx.x], p[threadIdx.x + 32], q[threadIdx.x]) > 9) atomicAdd(out, 1);
}
__global__ void bytes(const unsigned *p, const unsigned *q, int *out) {
  // finds-next: uninit-use (the third byte)
  if (differ4(p[threadIdx.x], q[threadIdx.x], 0) & 0xff0000) atomicAdd(out, 1);
}
__global__ void halves(const unsigned *p, const unsigned *q, int *out) {
  // finds-next: uninit-use (the upper half)
  if (add2(p[threadIdx.x], q[threadIdx.x], 0) >> 16 > 7) atomicAdd(out, 1);
}
__global__ void sum(const unsigned *p, const unsigned *q, int *out) {
  // finds-next: uninit-use (all of it)
  if (sum4(p[threadIdx.x], q[threadIdx.x], 0) & 1) atomicAdd(out, 1);
}

__global__ void write_lower(unsigned short *p) { p[2 * threadIdx.x] = threadIdx.x; }
__global__ void write(unsigned *q) { q[threadIdx.x] = 5; }

int main() {
  unsigned *p, *q;
  int *out;
  cudaMalloc(&p, 64 * sizeof *p);
  cudaMalloc(&q, 64 * sizeof *q);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  write_lower<<<1, 64>>>((unsigned short *)p);
  write<<<1, 64>>>(q);
  masked<<<1, 32>>>(p, q, out);
  chosen<<<1, 32>>>(p, q, out);
  majority<<<1, 32>>>(p, q, out);
  all<<<1, 32>>>(p, q, out);
  two<<<1, 32>>>(p, q, out);
  bytes<<<1, 32>>>(p, q, out);
  halves<<<1, 32>>>(p, q, out);
  sum<<<1, 32>>>(p, q, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
