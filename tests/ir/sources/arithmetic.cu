// Products and sums of the kinds nvcc leaves for ptxas to fuse. Only compiled, by contract.sh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void polynomial(const float *x, float *y, int n, float c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], p = v * c, q = v * v;
  y[i] = (p + 1.0f) * (q - p) + (p - q);
  if (q > 2.0f) y[i] += p * v;
}

__global__ void halves(const __half2 *x, __half2 *y, const __half *s, __half *t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 a = x[i], b = x[i + 1], c = x[i + 2];
  y[i] = __hadd2(__hmul2(a, b), c);
  y[i + n] = __hsub2(c, __hmul2(a, b));
  __half p = __hmul(s[i], s[i + 1]);
  t[i] = __hadd(p, s[i + 2]);
  t[i + n] = __hsub(s[i + 3], p);
}

__global__ void bfloats(const __nv_bfloat16 *x, __nv_bfloat16 *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = __hadd(__hmul(x[i], x[i + 1]), x[i + 2]);
}

__global__ void rotate(const double *x, double *y, int n, double c, double s) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    double a = x[2 * i], b = x[2 * i + 1], t = a * s;
    y[2 * i] = a * c - b * s;
    y[2 * i + 1] = t + b * c;
    y[2 * i] += sqrt(t) / (b + t);
  }
}

__global__ void blend(const float *a, const float *b, float *out, int n, float w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i] * w, y = b[i] * (1.0f - w);
  out[i] = __fdividef(x, y) + x;
  out[i + n] = __fmul_rn(x, y) + y;
  for (int k = 0; k < 16; k++) x = x * w + y;
  out[i + 2 * n] = x;
}
