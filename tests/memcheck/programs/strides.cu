// Loops that move by a register: `i += blockDim.x`. Up to a bound that is one too far, from before
// the object, down to numbers that wrap, and backwards; a bound beyond the object that no thread's
// last index reaches is none.
#include <climits>
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

__global__ void sums(float *out, const float *m, int n, int step, unsigned far) {
  float s = 0;
  int t = threadIdx.x;
  for (int i = t; i < n + 1; i += blockDim.x) s += m[i];  // finds: oob-read count=1
  for (int i = t - 32; i < n; i += step) s += m[i];  // finds: oob-read count=32
  for (unsigned i = t; i <= far + 2; i += blockDim.x) out[i] = s;  // finds: oob-write count=3
  for (int i = t; i < n + 31 && i < n; i += step) s += m[i];
  for (int i = n - 1 - t; i >= -32; i += -step) s += m[i];  // finds: oob-read count=32
  for (int i = t; i < n; i += step * 2) s += m[i];
  out[t] = s;
}

__global__ void skips(float *out, const float *m, int bound, int step) {
  float s = 0;
  for (int i = threadIdx.x; i < bound; i += step) s += m[i];
  for (int i = INT_MAX - 10; i < INT_MAX && i > 0; i += step) s += m[(i - (INT_MAX - 10)) & 63];
  out[threadIdx.x] = s;
}

int main() {
  float *out, *m;
  OK(cudaMalloc(&out, 64 * 4)); OK(cudaMalloc(&m, 256 * 4)); OK(cudaMemset(m, 0, 256 * 4));
  sums<<<1, 32>>>(out, m, 256, 32, 64);
  skips<<<1, 8>>>(out, m, 256 + 44, 300);
  OK(cudaDeviceSynchronize());
  puts("done");
}
