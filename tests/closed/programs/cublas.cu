// cublasSgemm into a matrix that is 4096 bytes too small; with an argument: large enough.
#include <cublas_v2.h>

#include <cstdio>

int main(int argc, char **) {
  const int n = 512;
  float *a, *b, *c, one = 1, zero = 0;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float) - (argc > 1 ? 0 : 4096));
  cudaMemset(a, 0, n * n * sizeof(float));
  cudaMemset(b, 0, n * n * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cublasDestroy(handle);
  return 0;
}
