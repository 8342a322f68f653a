// Planted mistakes in calls of cuBLASLt: the argument chooses one. Without it nothing is wrong.
// nvcc: -lcublasLt
#include <cublasLt.h>
#include <cstdio>
#include <cstring>
#include <vector>

enum { M = 32, N = 16, K = 64 };

static float *device(int n, float value) {
  std::vector<float> v(n, value);
  float *p;
  cudaMalloc(&p, n * sizeof(float));
  cudaMemcpy(p, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  return p;
}

int main(int argc, char **argv) {
  const char *mistake = argc > 1 ? argv[1] : "none";
  auto is = [&](const char *name) { return !strcmp(mistake, name); };
  // the bias has an element for each row of D, not for each column
  float *a = device(M * K, is("infinite") ? 3e38f : 1), *b = device(K * N, 2),
        *bias = device(is("bias") ? N : M, 1), *d = device(M * N, 0), *garbage;
  cudaMalloc(&garbage, M * K * sizeof(float));
  cublasLtHandle_t h;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t la, lb, ld;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
  cudaStream_t stream = 0;
  cublasLtCreate(&h);
  cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, M, K, is("leading") ? 2 * M : M);
  cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, is("shapes") ? K - 1 : K, N, K);
  cublasLtMatrixLayoutCreate(&ld, CUDA_R_32F, M, N, M);
  if (is("race")) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaMemsetAsync(b, 0, K * N * sizeof(float), s);
  }
  float one = 1, zero = 0;
  int status = cublasLtMatmul(h, desc, &one, is("unwritten") ? garbage : a, la, b, lb, &zero, d, ld,
                              d, ld, NULL, NULL, 0, stream);
  int error = cudaDeviceSynchronize();
  printf("%s: status %d, error %d\n", mistake, status, error);
  cublasLtMatrixLayoutDestroy(la);
  cublasLtMatrixLayoutDestroy(lb);
  cublasLtMatrixLayoutDestroy(ld);
  cublasLtMatmulDescDestroy(desc);
  cublasLtDestroy(h);
  cudaFree(a);
  cudaFree(b);
  cudaFree(bias);
  cudaFree(d);
  cudaFree(garbage);
  return 0;
}
