// The same loops, inside: nothing may be said, and the results are those without the tool.
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
  for (int k = 0; k < columns; k++) s += m[(n - 1) * 64 + k];
  for (int k = 0; k < columns; k += 3) s -= m[k];
  for (unsigned k = 0; k < steps; k += 2) s += 2 * m[threadIdx.x + k * 64];
  for (int k = 31; k >= 0; k--) out[k] = s;
  for (int k = 0; k < steps - 1000; k++) s += m[k * 1000000];
  for (int k = 0; k < 1000000; k++) { s += m[k]; if (k == n) break; }
  for (long long k = 0; k < steps; k++) { s += m[k]; __syncthreads(); }
  for (const float *p = m + 64 * 64; p != m;) s += *--p;
  out[threadIdx.x] = s;
}

int main() {
  float *out, *m, h[64 * 64], r[32];
  for (int i = 0; i < 64 * 64; i++) h[i] = (i * 37 % 101) - 50;
  OK(cudaMalloc(&out, 32 * 4));
  OK(cudaMalloc(&m, sizeof h));
  OK(cudaMemcpy(m, h, sizeof h, cudaMemcpyDefault));
  sums<<<1, 32>>>(out, m, 64, 64, 64);
  OK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDefault));
  for (int i = 0; i < 32; i++) printf("%g\n", r[i]);
}
