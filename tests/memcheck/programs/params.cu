// The address of a __grid_constant__ parameter and of an aligned structure, followed too far.
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
struct __align__(16) Wide { float4 f[4]; };

__global__ void each(int *out, const __grid_constant__ Weights p, const __grid_constant__ Wide w,
                     int n) {
  int i = threadIdx.x, s = 0;
  const int *a = p.w;
  const float *f = (const float *)w.f;
  if (i < 16) s += a[i + n];  // finds: oob-read count=8
  if (i < 24) s += (int)f[i + n];  // finds: oob-read count=8
  out[i] = s;
}

int main() {
  int *out;
  OK(cudaMalloc(&out, 64 * 4));
  each<<<1, 32>>>(out, Weights{}, Wide{}, 0);
  OK(cudaDeviceSynchronize());
  puts("done");
}
