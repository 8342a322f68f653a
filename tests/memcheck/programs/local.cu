// Local arrays and constants: an index behind the frame's arrays, before them, in a constant, in a
// parameter that is indexed.
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
struct Weights { int w[8]; };
__constant__ int constants[8];

__global__ void each(int *out, const __grid_constant__ Weights p, int n) {
  int a[16], i = threadIdx.x, s = 0;
  #pragma unroll 1
  for (int k = 0; k < 16; k++) a[k] = k * n;
  #pragma unroll 1
  for (int k = n; k < n + 1; k++) a[k] = 1;  // finds: oob-write count=32
  #pragma unroll 1
  for (int k = -1; k < n / 2; k++) s += a[k];  // finds: oob-read count=32
  s += constants[(i + n / 2 - 1) % 32];  // finds: oob-read count=24
  if (i < 8) s += p.w[i + n / 4];  // finds: oob-read count=4
  out[i] = s;
}

int main() {
  int *out;
  OK(cudaMalloc(&out, 32 * 4));
  each<<<1, 32>>>(out, Weights{}, 16);
  OK(cudaDeviceSynchronize());
  puts("done");
}
