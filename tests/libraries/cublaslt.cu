// cublasLtMatmul against sums in double: bias and GELU, auxiliary output, BF16, FP8 with scales.
// nvcc: -lcublasLt
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cmath>
#include <cstdio>
#include <vector>

static int bad;
#define OK(call) \
  do { \
    int status_ = (int)(call); \
    if (status_) printf("%s: status %d\n", #call, status_), bad++; \
  } while (0)

template <typename T> static T *device(const std::vector<T> &v) {
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
static double gelu(double x) {
  return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}
static float number(int i) { return ((i * 37 + 11) % 17 - 8) / 8.0f; }

// D = gelu(A^T B + bias) with sizes that tensor cores take
template <typename T, typename D>
static void product(const char *what, cudaDataType t, cudaDataType dt, bool scales,
                    double tolerance) {
  const int m = 32, n = 16, k = 64;
  std::vector<T> a(k * m), b(k * n);
  std::vector<D> bias(m);
  for (int i = 0; i < k * m; i++) a[i] = T(number(i));
  for (int i = 0; i < k * n; i++) b[i] = T(number(3 * i + 1));
  for (int i = 0; i < m; i++) bias[i] = D(number(7 * i));
  T *da = device(a), *db = device(b);
  D *dbias = device(bias), *dd = device(std::vector<D>(m * n));
  float *scale = device(std::vector<float>(1, 0.5f));
  void *workspace;
  cudaMalloc(&workspace, 1 << 20);
  cublasLtHandle_t h;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t la, lb, ld;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t best;
  cublasOperation_t transposed = CUBLAS_OP_T;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
  size_t bytes = 1 << 20;
  int found = 0;
  OK(cublasLtCreate(&h));
  OK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
#define SET(attribute, value) \
  OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_##attribute, &value, sizeof value))
  SET(TRANSA, transposed);
  SET(EPILOGUE, epilogue);
  SET(BIAS_POINTER, dbias);
  if (scales) {
    SET(A_SCALE_POINTER, scale);
    SET(B_SCALE_POINTER, scale);
  }
  // a descriptor in the program's own memory
  cublasLtMatrixLayoutOpaque_t memory;
  OK(cublasLtMatrixLayoutInit(&memory, t, k, m, k));
  la = &memory;
  OK(cublasLtMatrixLayoutCreate(&lb, t, k, n, k));
  OK(cublasLtMatrixLayoutCreate(&ld, dt, m, n, m));
  OK(cublasLtMatmulPreferenceCreate(&preference));
  OK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                          &bytes, sizeof bytes));
  OK(cublasLtMatmulAlgoGetHeuristic(h, desc, la, lb, ld, ld, preference, 1, &best, &found));
  float one = 1, zero = 0;
  OK(cublasLtMatmul(h, desc, &one, da, la, db, lb, &zero, dd, ld, dd, ld, &best.algo, workspace,
                    bytes, 0));
  std::vector<D> out(m * n);
  cudaMemcpy(out.data(), dd, out.size() * sizeof(D), cudaMemcpyDeviceToHost);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += (double)(float)a[l + i * k] * (float)b[l + j * k];
      double want = gelu(sum * (scales ? 0.25 : 1) + (float)bias[i]), got = (float)out[i + j * m];
      if (!(std::fabs(got - want) <= tolerance * (1 + std::fabs(want)))) {
        printf("%s (%d, %d): %g instead of %g\n", what, i, j, got, want);
        bad++;
      }
    }
  OK(cublasLtMatmulPreferenceDestroy(preference));
  OK(cublasLtMatrixLayoutDestroy(lb));
  OK(cublasLtMatrixLayoutDestroy(ld));
  OK(cublasLtMatmulDescDestroy(desc));
  OK(cublasLtDestroy(h));
  cudaFree(da);
  cudaFree(db);
  cudaFree(dbias);
  cudaFree(dd);
  cudaFree(scale);
  cudaFree(workspace);
}

int main() {
  product<float, float>("FP32", CUDA_R_32F, CUDA_R_32F, false, 1e-5);
  product<__nv_bfloat16, __nv_bfloat16>("BF16", CUDA_R_16BF, CUDA_R_16BF, false, 1e-2);
  product<__nv_fp8_e4m3, __nv_bfloat16>("FP8", CUDA_R_8F_E4M3, CUDA_R_16BF, true, 1e-2);
  printf("%d wrong\n", bad);
  return bad != 0;
}
