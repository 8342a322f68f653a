// lop3 and video instructions: bad bits that decide nothing.
#include <cstdio>
#include <cuda_runtime.h>
#include "masks.h"

// Of each word of p the lower half was written; all of q was, with 5.
__global__ void masked(const unsigned *p, const unsigned *q, int *out) {
  if (lop3<AND_OR>(p[threadIdx.x], 0xffff, q[threadIdx.x]) > 9) atomicAdd(out, 1);
  if (lop3<AND_OR>(p[threadIdx.x], q[threadIdx.x], q[threadIdx.x + 1] | 0xffff0000) & 8)
    atomicAdd(out, 1);
}
__global__ void chosen(const unsigned *p, const unsigned *q, int *out) {
  unsigned low = p[threadIdx.x], high = low << 16, mask = q[threadIdx.x] | 0xffff;
  if (lop3<CHOOSE>(mask, low, high) > 9) atomicAdd(out, 1);
}
__global__ void majority(const unsigned *p, const unsigned *q, int *out) {
  if (lop3<MAJORITY>(q[threadIdx.x], q[threadIdx.x + 1], p[threadIdx.x]) > 9) atomicAdd(out, 1);
}
__global__ void itself(const unsigned *p, const unsigned *q, int *out) {
  if (lop3<AND_NOT>(p[threadIdx.x], p[threadIdx.x], q[threadIdx.x]) > 9) atomicAdd(out, 1);
  if (lop3<XOR>(p[threadIdx.x], p[threadIdx.x], q[threadIdx.x]) > 9) atomicAdd(out, 1);
}
__global__ void two(const unsigned *p, const unsigned *q, int *out) {
  if (lop3<AND_OR>(p[threadIdx.x], p[threadIdx.x + 1], q[threadIdx.x] | 0xffff0000) & 1)
    atomicAdd(out, 1);
}
__global__ void bytes(const unsigned *p, const unsigned *q, int *out) {
  if (differ4(p[threadIdx.x], q[threadIdx.x], 0) & 0xff00ff & 0xffff) atomicAdd(out, 1);
  if ((differ4(p[threadIdx.x], q[threadIdx.x], 0) & 0xff00) == 0) atomicAdd(out, 1);
  if (max4(q[threadIdx.x], q[threadIdx.x + 1], p[threadIdx.x]) > 9)
    atomicAdd(out, 1);  // nothing is merged in
}
__global__ void halves(const unsigned *p, const unsigned *q, int *out) {
  if ((add2(p[threadIdx.x], q[threadIdx.x], p[threadIdx.x]) & 0xffff) > 9) atomicAdd(out, 1);
}
__global__ void sum(const unsigned *p, const unsigned *q, int *out) {
  if (sum4(p[threadIdx.x] & 0xffff, q[threadIdx.x], 0) & 1) atomicAdd(out, 1);
}

__global__ void write_lower(unsigned short *p) { p[2 * threadIdx.x] = threadIdx.x; }
__global__ void write(unsigned *q) { q[threadIdx.x] = 5; }

int main() {
  unsigned *p, *q;
  int *out, host;
  cudaMalloc(&p, 64 * sizeof *p);
  cudaMalloc(&q, 64 * sizeof *q);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  write_lower<<<1, 64>>>((unsigned short *)p);
  write<<<1, 64>>>(q);
  masked<<<1, 32>>>(p, q, out);
  chosen<<<1, 32>>>(p, q, out);
  majority<<<1, 32>>>(p, q, out);
  itself<<<1, 32>>>(p, q, out);
  two<<<1, 32>>>(p, q, out);
  bytes<<<1, 32>>>(p, q, out);
  halves<<<1, 32>>>(p, q, out);
  sum<<<1, 32>>>(p, q, out);
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d %s\n", host, cudaGetErrorString(cudaDeviceSynchronize()));
}
