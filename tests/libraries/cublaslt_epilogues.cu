// cublasLtMatmul's epilogues with auxiliary matrices and gradients, matrices in row-major order,
// and cublasLtMatrixTransform, against sums in double. With an argument, products for which the
// library has no algorithm are named and left out: NVIDIA's has none for some.
// nvcc: -lcublasLt
#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cmath>
#include <cstdio>
#include <vector>

static int bad, part_bad;
static bool may_lack;
static cublasLtHandle_t h;
static void *workspace;
enum { WORKSPACE = 1 << 22 };
#define OK(call) \
  do { \
    int status_ = (int)(call); \
    if (status_) printf("line %d: %s: status %d\n", __LINE__, #call, status_), bad++; \
  } while (0)

template <typename T> static T *device(const std::vector<T> &v) {
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <typename T> static std::vector<T> host(const T *p, size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}
static float number(int i) { return ((i * 37 + 11) % 17 - 8) / 16.0f; }

static void near(const char *what, double got, double want, int i) {
  if (std::fabs(got - want) <= 0.02 * (1 + std::fabs(want))) return;
  if (part_bad++ < 3) printf("%s [%d]: %g instead of %g\n", what, i, got, want);
  bad++;
}

// The product as the library chooses it.
struct Product {
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, d;
  // false: the library has no algorithm for it
  bool run(const char *name, const void *pa, const void *pb, void *pd) {
    part_bad = 0;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t best = {};
    size_t bytes = WORKSPACE;
    int found = 0;
    float one = 1, zero = 0;
    OK(cublasLtMatmulPreferenceCreate(&preference));
    OK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &bytes, sizeof bytes));
    int status = cublasLtMatmulAlgoGetHeuristic(h, desc, a, b, d, d, preference, 1, &best, &found);
    OK(cublasLtMatmulPreferenceDestroy(preference));
    if (status || !found) {
      printf("%s: no algorithm, status %d\n", name, status);
      if (!may_lack) bad++;
      return false;
    }
    OK(cublasLtMatmul(h, desc, &one, pa, a, pb, b, &zero, pd, d, pd, d, &best.algo, workspace,
                      bytes, 0));
    return true;
  }
  ~Product() {
    cublasLtMatrixLayoutDestroy(a);
    cublasLtMatrixLayoutDestroy(b);
    cublasLtMatrixLayoutDestroy(d);
    cublasLtMatmulDescDestroy(desc);
  }
};
#define SET(attribute, value) \
  OK(cublasLtMatmulDescSetAttribute(p.desc, CUBLASLT_MATMUL_DESC_##attribute, &value, \
                                    sizeof value))

// --- epilogues: D = A' B in FP16, with sizes that tensor cores take ---

enum { M = 128, N = 64, K = 32 };

static double gelu(double x) {
  return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}
static double slope(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

static void epilogue(const char *name, cublasLtEpilogue_t e) {
  std::vector<__half> a(K * M), b(K * N), x(M * N), bias(M);
  for (int i = 0; i < K * M; i++) a[i] = number(i);
  for (int i = 0; i < K * N; i++) b[i] = number(3 * i + 1);
  for (int i = 0; i < M; i++) bias[i] = number(7 * i);
  for (int i = 0; i < M * N; i++) x[i] = 4 * number(5 * i + 2);
  std::vector<unsigned char> bits(M * N / 8);
  for (int i = 0; i < M * N; i++)
    if (i % 3 == 0) bits[i / 8] |= 1 << i % 8;
  bool mask = (e & CUBLASLT_EPILOGUE_RELU) || (e & CUBLASLT_EPILOGUE_DRELU) == 136;
  bool grows = e & (CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_GELU);  // forward
  __half *da = device(a), *db = device(b), *dd = device(std::vector<__half>(M * N)),
         *dbias = device(e & CUBLASLT_EPILOGUE_BIAS ? bias : std::vector<__half>(M)),
         *dx = device(grows ? std::vector<__half>(M * N) : x);
  unsigned char *dbits = device(grows ? std::vector<unsigned char>(M * N / 8) : bits);
  void *aux = mask ? (void *)dbits : dx;
  int64_t ld = M;
  cublasOperation_t transposed = CUBLAS_OP_T;
  Product p;
  OK(cublasLtMatmulDescCreate(&p.desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  OK(cublasLtMatrixLayoutCreate(&p.a, CUDA_R_16F, K, M, K));
  OK(cublasLtMatrixLayoutCreate(&p.b, CUDA_R_16F, K, N, K));
  OK(cublasLtMatrixLayoutCreate(&p.d, CUDA_R_16F, M, N, M));
  SET(TRANSA, transposed);
  SET(EPILOGUE, e);
  if (e & (4 | 16 | 256 | 512)) SET(BIAS_POINTER, dbias);
  if (e & 128) {
    SET(EPILOGUE_AUX_POINTER, aux);
    SET(EPILOGUE_AUX_LD, ld);
  }
  if (!p.run(name, da, db, dd)) return;
  std::vector<__half> d = host(dd, M * N), gradient = host(dbias, M), input = host(dx, M * N);
  std::vector<unsigned char> sign = host(dbits, M * N / 8);
  std::vector<double> sums(M);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < M; i++) {
      int at = i + j * M;
      double sum = 0;
      for (int l = 0; l < K; l++) sum += (double)(float)a[l + i * K] * (float)b[l + j * K];
      if (e & CUBLASLT_EPILOGUE_BIAS) sum += (float)bias[i];
      double want = sum;
      if (e & CUBLASLT_EPILOGUE_RELU) want = sum > 0 ? sum : 0;
      if (e & CUBLASLT_EPILOGUE_GELU) want = gelu(sum);
      if (e & 8) want = at % 3 ? 0 : sum;
      if (e & 64) want = sum * slope((float)x[at]);
      near(name, (float)d[at], want, at);
      sums[i] += want;
      if (grows && mask && std::fabs(sum) > 1e-3)
        near("mask", sign[at / 8] >> at % 8 & 1, sum > 0, at);
      if (grows && !mask && (e & 128)) near("input of GELU", (float)input[at], sum, at);
    }
  for (int i = 0; i < M; i++) {
    double of_a = 0, of_b = 0;
    for (int l = 0; l < K; l++) of_a += (float)a[l + i * K];
    for (int l = 0; i < N && l < K; l++) of_b += (float)b[l + i * K];
    if (e & 16) near("gradient", (float)gradient[i], sums[i], i);
    if (e & 256) near("gradient of A", (float)gradient[i], of_a, i);
    if (e & 512 && i < N) near("gradient of B", (float)gradient[i], of_b, i);
  }
}

// --- orders: D = A B + bias in FP32, each matrix in columns or in rows ---

template <typename T>
static std::vector<T> in_order(const std::vector<T> &columns, int m, int n, bool rows) {
  std::vector<T> v(m * n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) v[rows ? j + i * n : i + j * m] = columns[i + j * m];
  return v;
}

static cublasLtMatrixLayout_t layout(cudaDataType t, int m, int n, bool rows) {
  cublasLtMatrixLayout_t l;
  cublasLtOrder_t order = rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
  OK(cublasLtMatrixLayoutCreate(&l, t, m, n, rows ? n : m));
  OK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
  return l;
}

static void orders(bool rows_a, bool rows_b, bool rows_d) {
  const int m = 24, n = 40, k = 16;
  std::vector<float> a(m * k), b(k * n);
  for (int i = 0; i < m * k; i++) a[i] = number(i);
  for (int i = 0; i < k * n; i++) b[i] = number(3 * i + 1);
  float *da = device(in_order(a, m, k, rows_a)), *db = device(in_order(b, k, n, rows_b)),
        *dd = device(std::vector<float>(m * n));
  Product p;
  OK(cublasLtMatmulDescCreate(&p.desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  p.a = layout(CUDA_R_32F, m, k, rows_a);
  p.b = layout(CUDA_R_32F, k, n, rows_b);
  p.d = layout(CUDA_R_32F, m, n, rows_d);
  char name[32];
  snprintf(name, sizeof name, "orders %d %d %d", rows_a, rows_b, rows_d);
  if (!p.run(name, da, db, dd)) return;
  std::vector<float> d = host(dd, m * n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += (double)a[i + l * m] * b[l + j * k];
      near(name, d[rows_d ? j + i * n : i + j * m], sum, i + j * m);
    }
}

// C = 2 A' - B, from rows to columns; then a copy from FP16 to FP32
static void transform() {
  const int m = 24, n = 40;
  std::vector<float> a(n * m);
  std::vector<__half> b(m * n);
  for (int i = 0; i < m * n; i++) a[i] = number(i), b[i] = number(3 * i + 1);
  float *da = device(in_order(a, n, m, true)), *dc = device(std::vector<float>(m * n)), two = 2,
        minus = -1;
  __half *db = device(b);
  cublasLtMatrixLayout_t la = layout(CUDA_R_32F, n, m, true), lb = layout(CUDA_R_16F, m, n, false),
                         lc = layout(CUDA_R_32F, m, n, false);
  cublasLtMatrixTransformDesc_t desc;
  cublasOperation_t transposed = CUBLAS_OP_T;
  OK(cublasLtMatrixTransformDescCreate(&desc, CUDA_R_32F));
  OK(cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA,
                                             &transposed, sizeof transposed));
  float *plain = device(std::vector<float>(m * n));
  float *dbf;
  std::vector<float> bf(m * n);
  for (int i = 0; i < m * n; i++) bf[i] = (float)b[i];
  dbf = device(bf);
  cublasLtMatrixLayout_t lbf = layout(CUDA_R_32F, m, n, false);
  OK(cublasLtMatrixTransform(h, desc, &two, da, la, &minus, dbf, lbf, dc, lc, 0));
  std::vector<float> c = host(dc, m * n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      near("transform", c[i + j * m], 2 * a[j + i * n] - (float)b[i + j * m], i + j * m);
  OK(cublasLtMatrixTransformDescDestroy(desc));
  // and a copy to another type
  OK(cublasLtMatrixTransformDescCreate(&desc, CUDA_R_32F));
  float one = 1, zero = 0;
  OK(cublasLtMatrixTransform(h, desc, &one, db, lb, &zero, NULL, NULL, plain, lc, 0));
  c = host(plain, m * n);
  for (int i = 0; i < m * n; i++) near("copy", c[i], (float)b[i], i);
  OK(cublasLtMatrixTransformDescDestroy(desc));
  cublasLtMatrixLayoutDestroy(la);
  cublasLtMatrixLayoutDestroy(lb);
  cublasLtMatrixLayoutDestroy(lbf);
  cublasLtMatrixLayoutDestroy(lc);
}

int main(int argc, char **argv) {
  may_lack = argc > 1;
  OK(cublasLtCreate(&h));
  cudaMalloc(&workspace, WORKSPACE);
#define EPILOGUE(name) epilogue(#name, CUBLASLT_EPILOGUE_##name)
  EPILOGUE(DEFAULT);
  EPILOGUE(RELU_AUX);
  EPILOGUE(RELU_AUX_BIAS);
  EPILOGUE(DRELU);
  EPILOGUE(DRELU_BGRAD);
  EPILOGUE(GELU_AUX);
  EPILOGUE(GELU_AUX_BIAS);
  EPILOGUE(DGELU);
  EPILOGUE(DGELU_BGRAD);
  EPILOGUE(BGRADA);
  EPILOGUE(BGRADB);
  for (int i = 0; i < 8; i++) orders(i & 1, i & 2, i & 4);
  transform();
  OK(cublasLtDestroy(h));
  printf("%d wrong\n", bad);
  return bad != 0;
}
