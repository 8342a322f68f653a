// Recursion: a stack whose size the compiler cannot know; the limit the program sets must hold for
// the code that runs.
// coverage: all
#include "gpu_test.h"

__device__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ unsigned quick(unsigned *a, int lo, int hi) {
  if (lo >= hi) return 0;
  unsigned pivot = a[(lo + hi) / 2], t;
  int i = lo, j = hi;
  while (i <= j) {
    while (a[i] < pivot) i++;
    while (a[j] > pivot) j--;
    if (i <= j) { t = a[i]; a[i] = a[j]; a[j] = t; i++, j--; }
  }
  return 1 + quick(a, lo, j) + quick(a, i, hi);
}
__global__ void sort(unsigned *a, int n, unsigned *calls) {
  calls[threadIdx.x] = quick(a + threadIdx.x * n, 0, n - 1);
}
__global__ void ack(int *out) { out[threadIdx.x] = ackermann(2, threadIdx.x & 7); }

int main() {
  enum { N = 64 };
  static unsigned h[32 * N], calls[32];
  unsigned *d, *c;
  size_t limit;
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
  OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
  EXPECT(limit >= 16384);
  for (int i = 0; i < 32 * N; i++) h[i] = i * 2654435761u >> 7;
  OK(cudaMalloc(&d, sizeof h));
  OK(cudaMalloc(&c, sizeof calls));
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyDefault));
  sort<<<1, 32>>>(d, N, c);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  OK(cudaMemcpy(calls, c, sizeof calls, cudaMemcpyDefault));
  for (int i = 0; i < 32; i++) for (int k = 1; k < N; k++) EXPECT(h[i * N + k - 1] <= h[i * N + k]);
  show("sorted", h, sizeof h);
  show("calls", calls, sizeof calls);
  ack<<<1, 32>>>((int *)c);
  OK(cudaMemcpy(calls, c, sizeof calls, cudaMemcpyDefault));
  for (int i = 0; i < 32; i++) EXPECT(calls[i] == 2u * (i & 7) + 3);
  return finish();
}
