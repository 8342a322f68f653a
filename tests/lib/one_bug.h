// What programs with one bug share (tests/hang, tests/synccheck). With -DTWIN each is its correct
// twin.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define MUST(call) \
  do { \
    cudaError_t e_ = (call); \
    if (e_ != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
      exit(1); \
    } \
  } while (0)

static int *device_ints(int n) {
  int *p;
  MUST(cudaMalloc(&p, n * sizeof(int)));
  MUST(cudaMemset(p, 0, n * sizeof(int)));
  return p;
}

static long sum_of(const int *d, int n) {
  int *h = (int *)malloc(n * sizeof(int));
  long sum = 0;
  MUST(cudaMemcpy(h, d, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) sum += h[i];
  free(h);
  return sum;
}
