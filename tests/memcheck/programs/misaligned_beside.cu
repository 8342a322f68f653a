// Aligned accesses of the same base beside misaligned ones: what they write is initialised, and
// nothing else is, with initcheck beside memcheck too. again runs with 32 threads where that is so.
// nvcc: -Iinclude
#include <cstdio>
#include <cstdlib>
#include <warpgrind.h>
#ifndef BY
#define BY 4
#endif
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
enum { STEP = 64, THREADS = 32 };

__global__ void mixed(char *p, int by) {
  char *q = p + STEP * threadIdx.x + by;
  *(double *)q = 1;  // finds: misaligned count=32
  *(int *)(q + 12) = *(int *)(q + 20) + 1;
  *(int *)(q + 24) = 2;
}
__global__ void again(char *p, int by) {
  char *q = p + STEP * threadIdx.x + by;
  *(double *)q = 1;  // finds: misaligned count=32
}

static bool is_written(const char *p, int at) { return wg_is_initialized(p + at, 4); }
static bool is_as_written(const char *p, bool anything) {
  bool known = is_written(p, 12) && is_written(p, 20) && is_written(p, 24);
  return known && (anything || (!is_written(p, 8) && !is_written(p, 16) && !is_written(p, 28)));
}

int main() {
  char *a, *fresh;
  OK(cudaMalloc(&a, STEP * (THREADS + 1))); OK(cudaMalloc(&fresh, 4));
  for (int i = 0; i < THREADS; i++) OK(cudaMemset(a + STEP * i + BY + 20, 0, 4));
  mixed<<<1, THREADS>>>(a, BY);
  OK(cudaDeviceSynchronize());
  bool right = true,
       without = wg_is_initialized(fresh, 4);  // without initcheck all memory is initialised
  for (int i = 0; i < THREADS; i++) right &= is_as_written(a + STEP * i + BY, without);
  again<<<1, right ? THREADS : 1>>>(a, BY);
  OK(cudaDeviceSynchronize());
  puts(right ? "right" : "wrong");
}
