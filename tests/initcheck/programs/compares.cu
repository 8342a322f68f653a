// Comparisons of integers, of which some bits were never written: what is not known decides.
#include <cstdio>
#include <cuda_runtime.h>

// Of each word of p the upper half was written, with 1, 2, 3 …, of each word of q the lower half,
// with the same; of w the upper of two words.
__global__ void equal(const unsigned *p, const unsigned *q, const unsigned long long *w, int *out) {
  unsigned i = threadIdx.x;
  // finds-next: uninit-use (one of them)
  if (p[i] == 0x10005) atomicAdd(out, 1);
  // finds-next: uninit-use (one of them)
  if (q[i] != 3) atomicAdd(out, 1);
  // finds-next: uninit-use (one of them)
  if (w[i] == 0x100000005ull) atomicAdd(out, 1);
}
__global__ void less(const unsigned *p, const unsigned *q, const unsigned long long *w, int *out) {
  unsigned i = threadIdx.x;
  // finds-next: uninit-use (of 1)
  if (p[i] < 0x10080) atomicAdd(out, 1);
  // finds-next: uninit-use (of 3)
  if (p[i] > 0x3ffff - 5) atomicAdd(out, 1);
  // finds-next: uninit-use (of 2)
  if (w[i] < 0x200000077ull) atomicAdd(out, 1);
}
__global__ void with_sign(const unsigned *p, const unsigned *q, const unsigned long long *w,
                          int *out) {
  unsigned i = threadIdx.x;
  // finds-next: uninit-use (the sign)
  if ((int)q[i] < 0) atomicAdd(out, 1);
  // finds-next: uninit-use (the sign)
  if ((int)q[i] > 5) atomicAdd(out, 1);
  // finds-next: uninit-use (of 1)
  if ((long long)w[i] <= 0x100000077ll) atomicAdd(out, 1);
}
__global__ void each_other(const unsigned *p, const unsigned *q, const unsigned long long *w,
                           int *out) {
  unsigned i = threadIdx.x;
  // finds-next: uninit-use (of odd ones: it is the same word)
  if (p[i] < p[i | 1]) atomicAdd(out, 1);
  // finds-next: uninit-use (the upper half)
  if (q[i] > p[i]) atomicAdd(out, 1);
}

__global__ void write(unsigned short *p, unsigned short *q, unsigned *w) {
  unsigned i = threadIdx.x;
  p[2 * i + 1] = q[2 * i] = w[2 * i + 1] = i + 1;
}

int main() {
  unsigned *p, *q;
  unsigned long long *w;
  int *out;
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
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
