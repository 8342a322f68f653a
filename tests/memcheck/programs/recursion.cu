// Functions that call themselves, and functions called through pointers: the pointer they are given
// ends too early.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
#ifndef MORE
#define MORE 1
#endif
__device__ __noinline__ int deep(const int *a, int n) {
  int here[4];
  here[n % 4] = a[n];  // finds: oob-read count=1
  return n ? deep(a, n - 1) + here[n % 4] : here[0];
}
typedef void (*Put)(int *, int);
__device__ __noinline__ void once(int *a, int i) { a[i] = i; }  // finds: oob-write count=2
__device__ __noinline__ void twice(int *a, int i) { a[2 * i] = i; }  // finds: oob-write count=4
__device__ Put chosen[2] = {once, twice};

__global__ void each(const int *a, int *b, int *out, int n) {
  int i = threadIdx.x;
  if (i == 0) out[0] = deep(a, n - 1 + MORE);
  if (i < 8) chosen[i % 2](b, i % 2 ? i + n / 2 * MORE : i + (n - 3) * MORE);
}

int main() {
  int *a, *b, *out;
  OK(cudaMalloc(&a, 16 * 4));
  OK(cudaMalloc(&b, 16 * 4));
  OK(cudaMalloc(&out, 16 * 4));
  OK(cudaMemset(a, 0, 64));
  each<<<1, 32>>>(a, b, out, 16);
  OK(cudaDeviceSynchronize());
  puts("done");
}
