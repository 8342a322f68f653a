// Loops whose addresses are checked before them: the last iteration leaves the object, the first
// one begins before it, the step is a variable, the loop runs backwards, does not run at all, or
// leaves early. What the copies of an unrolled loop do is one finding.
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

__global__ void sums(float *out, const float *m, int n, int columns, int steps) {
  float s = 0;
  for (int k = 0; k < columns; k++) s += m[(n - 1) * 64 + k];  // finds: oob-read count=32
  for (int k = -1; k < columns - 1; k++) s += m[k];  // finds: oob-read count=32
  for (int k = 0; k < steps; k++) s += m[threadIdx.x + k * 64];  // finds: oob-read count=1
  for (int k = 33; k >= 0; k--) out[threadIdx.x * 0 + k] = s;  // finds: oob-write count=66
  for (int k = 0; k < steps - 1000; k++) s += m[k * 1000000];
  for (int k = 0; k < 1000000; k++) { s += m[k]; if (k == n) break; }
  out[threadIdx.x] = s;
}

int main() {
  float *out, *m;
  OK(cudaMalloc(&out, 32 * 4)); OK(cudaMalloc(&m, 64 * 64 * 4)); OK(cudaMemset(m, 0, 64 * 64 * 4));
  sums<<<1, 32>>>(out, m, 64, 65, 1);
  sums<<<1, 1>>>(out, m + 63, 63, 1, 65);
  OK(cudaDeviceSynchronize());
  puts("done");
}
