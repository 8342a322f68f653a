// Comparisons of integers, of which some bits were never written: the others decide.
#include <cstdio>
#include <cuda_runtime.h>

// Of each word of p the upper half was written, with 1, 2, 3 …, of each word of q the lower half,
// with the same; of w the upper of two words.
__global__ void equal(const unsigned *p, const unsigned *q, const unsigned long long *w, int *out) {
  unsigned i = threadIdx.x;
  if (p[i] == 5) atomicAdd(out, 1);
  if (p[i] != 0x7) atomicAdd(out, 1);
  if (q[i] == 0x80000) atomicAdd(out, 1);
  if (w[i] == 5) atomicAdd(out, 1);
}
__global__ void less(const unsigned *p, const unsigned *q, const unsigned long long *w, int *out) {
  unsigned i = threadIdx.x;
  if (p[i] < 0x10000) atomicAdd(out, 1);
  if (p[i] > 0xffff) atomicAdd(out, 1);
  if (p[i] >= 0x400000) atomicAdd(out, 1);
  if (p[i] <= 77) atomicAdd(out, 1);
  if (w[i] < 77) atomicAdd(out, 1);
}
__global__ void with_sign(const unsigned *p, const unsigned *q, const unsigned long long *w,
                          int *out) {
  unsigned i = threadIdx.x;
  if ((int)p[i] < 0) atomicAdd(out, 1);
  if ((int)p[i] > -5) atomicAdd(out, 1);
  if ((long long)w[i] >= 0) atomicAdd(out, 1);
}
__global__ void each_other(const unsigned *p, const unsigned *q, const unsigned long long *w,
                           int *out) {
  unsigned i = threadIdx.x;
  if (p[i] < (p[i ^ 1] & 0xffff0000) + 0x10000 * (i & 1)) atomicAdd(out, 1);
  if ((p[i] | 0xffff) < (p[31 - i] & 0xffff0000) && i < 15) atomicAdd(out, 1);
  if ((int)(q[i] & 0xffff) <= (int)(p[i] | 0xffff)) atomicAdd(out, 1);
}

__global__ void write(unsigned short *p, unsigned short *q, unsigned *w) {
  unsigned i = threadIdx.x;
  p[2 * i + 1] = q[2 * i] = w[2 * i + 1] = i + 1;
}

int main() {
  unsigned *p, *q;
  unsigned long long *w;
  int *out, host = 0;
  cudaMalloc(&p, 32 * sizeof *p);
  cudaMalloc(&q, 32 * sizeof *q);
  cudaMalloc(&w, 32 * sizeof *w);
  cudaMalloc(&out, sizeof *out);
  cudaMemset(out, 0, sizeof *out);
  write<<<1, 32>>>((unsigned short *)p, (unsigned short *)q, (unsigned *)w);
  equal<<<1, 32>>>(p, q, w, out);
  less<<<1, 32>>>(p, q, w, out);
  with_sign<<<1, 32>>>(p, q, w, out);
  each_other<<<1, 32>>>(p, q, w, out);
  cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d %s\n", host, cudaGetErrorString(cudaDeviceSynchronize()));
}
