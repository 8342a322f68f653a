// A program that is linked with all of CUDA's libraries that are served and computes with one: how
// long does it run?
//   nvcc -o libraries_start bench/libraries_start.cu -lcublas -lcublasLt -lcufft -lcurand
//     -lcusolver -lcusparse
//   time warpgrind --device=cpu --tool=none ./libraries_start
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <cstdio>

int main() {
  int version;
  size_t lt = cublasLtGetVersion();
  cufftGetVersion(&version);
  curandGetVersion(&version);
  cusolverGetVersion(&version);
  cusparseHandle_t sparse;
  cusparseCreate(&sparse);
  cublasHandle_t h;
  cublasCreate(&h);
  float *x, norm;
  cudaMalloc(&x, 16 * sizeof *x);
  cudaMemset(x, 0, 16 * sizeof *x);
  cublasSnrm2(h, 16, x, 1, &norm);
  printf("%g %d\n", norm, lt > 0);
  return norm != 0;
}
