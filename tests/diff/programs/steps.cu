// A few launches with known outputs. Arguments change what one of them does:
//   change=K,I   launch K (from 0) of `scale` adds one ULP to element I
//   nan          element 5 of y is NaN, with another payload if `payload` is given too
//   shuffle      `fill` writes its elements in another order
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(float *x, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i * step % n] = (float)i * 0.5f;
}

__global__ void scale(const float *x, float *y, int n, int changed, int bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i] * 3.0f + 1.0f;
  if (i == changed) v = __int_as_float(__float_as_int(v) + 1);
  if (bits && i == 5) v = __int_as_float(bits);
  y[i] = v;
}

__global__ void squares(const float *y, double *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = (double)y[i] * y[i];
}

__device__ int counter[4];
__global__ void count(const double *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && z[i] > 100) atomicAdd(&counter[i % 4], 1);
}

int main(int argc, char **argv) {
  const int n = 1000;
  int changed_launch = -1, changed = -1, bits = 0, step = 1;
  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "change=", 7)) sscanf(argv[i] + 7, "%d,%d", &changed_launch, &changed);
    if (!strcmp(argv[i], "nan")) bits = 0x7fc00000;
    if (!strcmp(argv[i], "payload")) bits = 0x7fc00123;
    if (!strcmp(argv[i], "shuffle")) step = 3;
  }
  float *x, *y;
  double *z;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMalloc(&z, n * sizeof *z);
  cudaMemset(y, 0, n * sizeof *y);
  cudaMemset(z, 0, n * sizeof *z);
  fill<<<4, 256>>>(x, n, step);
  for (int k = 0; k < 3; k++) {
    scale<<<4, 256>>>(x, y, n, k == changed_launch ? changed : -1, bits);
    squares<<<4, 256>>>(y, z, n);
  }
  count<<<4, 256>>>(z, n);
  cudaDeviceSynchronize();
  double last;
  cudaMemcpy(&last, z + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(z);
  printf("%g\n", last);
  return 0;
}
