// Floating point, bit for bit: products and sums that the compiler may fuse, divisions, roots,
// functions, halves, doubles.
// coverage: all
// nvcc: -std=c++17
// cpu: approximate functions
#include <cuda_fp16.h>
#include "gpu_test.h"

__global__ void singles(const float *a, const float *b, float *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = b[i], r = x * y + x;
  r = r * r - x * y;
  r += x / y + sqrtf(fabsf(x)) * rsqrtf(fabsf(y) + 1);
  float s = x * y;
  o[i] = r + s;
  o[n + i] = s * s - s;                                // s has two uses
  o[2 * n + i] = sinf(x) * cosf(y) + expf(-fabsf(x)) * logf(fabsf(y) + 2) + powf(fabsf(x), 1.3f) +
                 tanhf(x) + erff(y);
  o[3 * n + i] = __sinf(x) + __expf(x) * __fdividef(x, y) + fmodf(x, y) + fminf(x, y) * fmaxf(x, y);
}
__global__ void doubles(const float *a, const float *b, double *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[i], y = b[i], s = 0;
  for (int k = 0; k < 10; k++) s += x * y - k * x / (y + 3);
  o[i] = s + sin(x) * exp(y * 0.1) + sqrt(fabs(x));
}
__global__ void halves(const float *a, const float *b, __half *o, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 >= n) return;
  __half2 x = __floats2half2_rn(a[i], a[i + 1]), y = __floats2half2_rn(b[i], b[i + 1]);
  *(__half2 *)(o + i) = __hadd2(__hmul2(x, y), __hsub2(x, y));
}
int main() {
  enum { N = 10000 };
  static float a[N], b[N], f[4 * N];
  static double g[N];
  static __half h[N];
  unsigned s = 12345;
  for (int i = 0; i < N; i++) {
    s = s * 1664525 + 1013904223;
    a[i] = (int)(s >> 8) * 1e-6f - 8;
    s = s * 1664525 + 1013904223;
    b[i] = (int)(s >> 8) * 1e-6f - 8;
  }
  float *da, *db, *df;
  double *dg;
  __half *dh;
  OK(cudaMalloc(&da, sizeof a));
  OK(cudaMalloc(&db, sizeof b));
  OK(cudaMalloc(&df, sizeof f));
  OK(cudaMalloc(&dg, sizeof g));
  OK(cudaMalloc(&dh, sizeof h));
  OK(cudaMemcpy(da, a, sizeof a, cudaMemcpyDefault));
  OK(cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault));
  singles<<<(N + 127) / 128, 128>>>(da, db, df, N);
  doubles<<<(N + 127) / 128, 128>>>(da, db, dg, N);
  halves<<<(N + 127) / 128, 128>>>(da, db, dh, N);
  OK(cudaMemcpy(f, df, sizeof f, cudaMemcpyDefault));
  OK(cudaMemcpy(g, dg, sizeof g, cudaMemcpyDefault));
  OK(cudaMemcpy(h, dh, sizeof h, cudaMemcpyDefault));
  show("singles", f, sizeof f);
  show("doubles", g, sizeof g);
  show("halves", h, sizeof h);
  return finish();
}
