// A kernel makes a matrix, cuBLAS multiplies it, another kernel reads the product.
// nvcc: -lcublas
#include <cublas_v2.h>
#include <cstdio>

__global__ void make(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i % 7;
}
__global__ void read(const float *c, float *sums, int n) {
  int i = threadIdx.x;
  float sum = 0;
  for (int j = 0; j < n; j++) sum += c[i + j * n];
  sums[i] = sum;
}

int main() {
  const int n = 32;
  float *a, *c, *sums, one = 1, zero = 0, out[n];
  cudaMalloc(&a, n * n * 4);
  cudaMalloc(&c, n * n * 4);
  cudaMalloc(&sums, n * 4);
  cublasHandle_t h;
  cublasCreate(&h);
  make<<<n * n / 128, 128>>>(a, n * n);
  cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n);
  read<<<1, n>>>(c, sums, n);
  cublasSscal(h, n, &one, sums, 1);
  cudaMemcpy(out, sums, sizeof out, cudaMemcpyDeviceToHost);
  printf("%g %g\n", out[0], out[31]);
  cublasDestroy(h);
  return 0;
}
