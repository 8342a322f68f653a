// Results of cuBLAS: one routine of each kind against sums in double, all four types where there
// are four; both pointer modes; streams; batches; mixed types.
// nvcc: -lcublas
#include <cublas_v2.h>
#include <cublasXt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int bad;
#define OK(call) \
  do { \
    int status_ = (int)(call); \
    if (status_) printf("%s: status %d\n", #call, status_), bad++; \
  } while (0)

static void near(const char *what, double got, double want, double tolerance) {
  if (!(std::fabs(got - want) <= tolerance * (1 + std::fabs(want))))
    printf("%s: %.9g instead of %.9g\n", what, got, want), bad++;
}

template <typename T> struct Device {
  T *p;
  size_t n;
  Device(const std::vector<T> &v) : n(v.size()) {
    cudaMalloc(&p, n * sizeof(T));
    cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Device() { cudaFree(p); }
  std::vector<T> get() {
    std::vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
  }
};

static double value(int i) { return ((i * 37 + 11) % 101 - 50) / 25.0; }
template <typename T> std::vector<T> numbers(int n, int seed) {
  std::vector<T> v(n);
  for (int i = 0; i < n; i++) v[i] = T(value(i + seed));
  return v;
}
typedef std::complex<double> Z;
template <> std::vector<Z> numbers(int n, int seed) {
  std::vector<Z> v(n);
  for (int i = 0; i < n; i++) v[i] = Z(value(i + seed), value(3 * i + seed + 7));
  return v;
}

static void gemm_float(cublasHandle_t h) {
  const int m = 7, n = 5, k = 9, lda = 10, ldb = 6, ldc = 8;
  auto a = numbers<float>(lda * m, 1), b = numbers<float>(ldb * k, 2);
  auto c = numbers<float>(ldc * n, 3);
  Device<float> da(a), db(b), dc(c);
  float alpha = 1.5f, beta = -0.5f;
  OK(cublasSgemm(h, CUBLAS_OP_T, CUBLAS_OP_T, m, n, k, &alpha, da.p, lda, db.p, ldb, &beta, dc.p,
                 ldc));
  auto out = dc.get();
  for (int j = 0; j < n; j++)
    for (int i = 0; i < ldc; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += i < m ? (double)a[l + i * lda] * b[j + l * ldb] : 0;
      near("Sgemm", out[i + j * ldc], i < m ? alpha * sum + beta * c[i + j * ldc] : c[i + j * ldc],
           1e-5);
    }
}

static void gemm_complex(cublasHandle_t h) {
  const int n = 6;
  auto a = numbers<Z>(n * n, 1), b = numbers<Z>(n * n, 2), c = numbers<Z>(n * n, 5);
  Device<Z> da(a), db(b), dc(c);
  Z alpha(1, 2), beta(0.5, -1);
  typedef cuDoubleComplex *P;
  OK(cublasZgemm(h, CUBLAS_OP_C, CUBLAS_OP_N, n, n, n, (P)&alpha, (P)da.p, n, (P)db.p, n, (P)&beta,
                 (P)dc.p, n));
  auto out = dc.get();
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      Z sum = 0;
      for (int l = 0; l < n; l++) sum += std::conj(a[l + i * n]) * b[l + j * n];
      Z want = alpha * sum + beta * c[i + j * n];
      near("Zgemm", out[i + j * n].real(), want.real(), 1e-12);
      near("Zgemm", out[i + j * n].imag(), want.imag(), 1e-12);
    }
}

// One product of integers, which is exact, and one of each narrow type.
template <typename T, typename C>
static void gemm_ex(cublasHandle_t h, const char *what, cudaDataType t, cudaDataType ct,
                    cublasComputeType_t compute, double tolerance) {
  const int m = 8, n = 4, k = 16, batch = 3;
  std::vector<T> a(m * k * batch), b(k * n * batch);
  for (size_t i = 0; i < a.size(); i++) a[i] = T((float)((int)(i * 29 % 19) - 9));
  for (size_t i = 0; i < b.size(); i++) b[i] = T((float)((int)(i * 31 % 17) - 8));
  std::vector<C> c(m * n * batch);
  Device<T> da(a), db(b);
  Device<C> dc(c);
  float one_f = 1, zero_f = 0;
  int one_i = 1, zero_i = 0;
  bool integers = compute == CUBLAS_COMPUTE_32I;
  OK(cublasGemmStridedBatchedEx(h, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k,
                                integers ? (void *)&one_i : &one_f, da.p, t, k, m * k, db.p, t, k,
                                k * n, integers ? (void *)&zero_i : &zero_f, dc.p, ct, m, m * n,
                                batch, compute, CUBLAS_GEMM_DEFAULT));
  auto out = dc.get();
  for (int s = 0; s < batch; s++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) {
        double sum = 0;
        for (int l = 0; l < k; l++)
          sum += (double)(float)a[s * m * k + l + i * k] * (float)b[s * k * n + l + j * k];
        near(what, (float)out[s * m * n + i + j * m], sum, tolerance);
      }
}

static void batched(cublasHandle_t h) {
  const int n = 3, batch = 4;
  auto a = numbers<double>(n * n * batch, 1), b = numbers<double>(n * n * batch, 4);
  for (int s = 0; s < batch; s++)
    for (int i = 0; i < n; i++) a[s * n * n + i * n + i] += 5;
  Device<double> da(a), db(b), dc(b);
  std::vector<double *> pa, pb, pc;
  for (int s = 0; s < batch; s++) {
    pa.push_back(da.p + s * n * n);
    pb.push_back(db.p + s * n * n);
    pc.push_back(dc.p + s * n * n);
  }
  Device<double *> qa(pa), qb(pb), qc(pc);
  double one = 1, zero = 0;
  OK(cublasDgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, qa.p, n, qb.p, n, &zero, qc.p,
                        n, batch));
  // C = A B; then solve A X = C: X is B again
  Device<int> pivots(std::vector<int>(n * batch, 0)), info(std::vector<int>(batch, 7));
  OK(cublasDgetrfBatched(h, n, qa.p, n, pivots.p, info.p, batch));
  int host_info = 1;
  OK(cublasDgetrsBatched(h, CUBLAS_OP_N, n, n, (const double **)qa.p, n, pivots.p, qc.p, n,
                         &host_info, batch));
  auto x = dc.get();
  for (size_t i = 0; i < x.size(); i++) near("getrs of the product", x[i], b[i], 1e-11);
  for (int i : info.get()) near("info", i, 0, 0);
}

static void vectors(cublasHandle_t h) {
  const int n = 1000;
  auto x = numbers<double>(2 * n, 1), y = numbers<double>(n, 2);
  Device<double> dx(x), dy(y);
  double alpha = 0.25, dot, norm, sum, want_dot = 0, want_norm = 0, want_sum = 0;
  int largest, best = 0;
  OK(cublasDaxpy(h, n, &alpha, dx.p, 2, dy.p, 1));
  OK(cublasDdot(h, n, dx.p, 2, dy.p, -1, &dot));
  OK(cublasDnrm2(h, n, dx.p, 2, &norm));
  OK(cublasDasum(h, n, dx.p, 2, &sum));
  OK(cublasIdamax(h, n, dx.p, 2, &largest));
  auto out = dy.get();
  for (int i = 0; i < n; i++) {
    near("Daxpy", out[i], y[i] + alpha * x[2 * i], 1e-15);
    want_dot += x[2 * i] * out[n - 1 - i];
    want_norm += x[2 * i] * x[2 * i];
    want_sum += std::fabs(x[2 * i]);
    if (std::fabs(x[2 * i]) > std::fabs(x[2 * best])) best = i;
  }
  near("Ddot", dot, want_dot, 1e-12);
  near("Dnrm2", norm, std::sqrt(want_norm), 1e-12);
  near("Dasum", sum, want_sum, 1e-12);
  near("Idamax", largest, best + 1, 0);
  // the same result on the device
  Device<double> result(std::vector<double>(1, 0.0));
  OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
  OK(cublasDdot(h, n, dx.p, 2, dy.p, -1, result.p));
  OK(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
  near("Ddot on the device", result.get()[0], want_dot, 1e-12);
}

static void triangles(cublasHandle_t h) {
  const int n = 12, m = 5;
  auto a = numbers<float>(n * n, 3), b = numbers<float>(n * m, 4);
  for (int i = 0; i < n; i++) a[i + i * n] = 9 + i;
  Device<float> da(a), db(b), dc(b);
  float one = 1;
  OK(cublasStrmm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n,
                 m, &one, da.p, n, db.p, n, dc.p, n));
  OK(cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n,
                 m, &one, da.p, n, dc.p, n));
  auto out = dc.get();
  for (int i = 0; i < n * m; i++) near("Strsm of Strmm", out[i], b[i], 1e-4);
  // y = A x with the symmetric matrix that the lower half gives
  Device<float> y(std::vector<float>(n, 0.0f));
  float zero = 0;
  OK(cublasSsymv(h, CUBLAS_FILL_MODE_LOWER, n, &one, da.p, n, db.p, 1, &zero, y.p, 1));
  auto got = y.get();
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += (double)(i >= j ? a[i + j * n] : a[j + i * n]) * b[j];
    near("Ssymv", got[i], sum, 1e-5);
  }
}

static void streams(cublasHandle_t h) {
  const int n = 64;
  cudaStream_t s;
  cudaStreamCreate(&s);
  OK(cublasSetStream(h, s));
  Device<float> a(std::vector<float>(n * n, 1.0f)), b(std::vector<float>(n * n, 0.0f));
  float one = 1, zero = 0;
  cudaMemsetAsync(b.p, 0, n * n * sizeof(float), s);
  for (int i = 0; i < 3; i++)  // 1, then n, then n squared
    OK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.p, n, i ? b.p : a.p, n, &zero, b.p,
                   n) == CUBLAS_STATUS_SUCCESS
           ? 0
           : 1);
  // in a graph: three runs, each of which adds a to b
  cudaStreamSynchronize(s);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  Device<float> sum(std::vector<float>(n * n, 0.0f));
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  OK(cublasSaxpy(h, n * n, &one, a.p, 1, sum.p, 1));
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  near("before the graph runs", sum.get()[5], 0, 0);
  for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  near("graph", sum.get()[n * n - 1], 3, 0);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  OK(cublasSetStream(h, 0));
  cudaStreamDestroy(s);
}

static void products_on_the_host() {  // cuBLASXt: 3 x 2 times 2 x 2
  double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 1, 1}, c[6] = {1, 1, 1, 1, 1, 1}, two = 2, one = 1;
  const double want[] = {3, 5, 7, 11, 15, 19};
  int device = 0;
  cublasXtHandle_t h;
  OK(cublasXtCreate(&h));
  OK(cublasXtDeviceSelect(h, 1, &device));
  OK(cublasXtDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 2, &two, a, 3, b, 2, &one, c, 3));
  OK(cublasXtDestroy(h));
  for (int i = 0; i < 6; i++)
    if (c[i] != want[i]) printf("cublasXtDgemm %d: %g instead of %g\n", i, c[i], want[i]), bad++;
}

int main() {
  products_on_the_host();
  cublasHandle_t h;
  int version = 0;
  OK(cublasCreate(&h));
  OK(cublasGetVersion(h, &version));
  gemm_float(h);
  gemm_complex(h);
  gemm_ex<signed char, int>(h, "INT8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 0);
  gemm_ex<__half, float>(h, "FP16", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-6);
  gemm_ex<__nv_bfloat16, __nv_bfloat16>(h, "BF16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F,
                                        4e-3);
  gemm_ex<float, float>(h, "TF32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 1e-6);
  batched(h);
  vectors(h);
  triangles(h);
  streams(h);
  // bad arguments: the library's own status
  float one = 1;
  if (cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, NULL, 3, NULL, 4, &one, NULL, 4) !=
      CUBLAS_STATUS_INVALID_VALUE)
    printf("a small lda was taken\n"), bad++;
  OK(cublasDestroy(h));
  OK(cudaDeviceSynchronize());
  printf("%d wrong\n", bad);
  return bad != 0;
}
