// cuBLAS's less usual functions against sums in double: complex rotations and rank-2 updates, syrkx
// and herkx, level 1 with types chosen at run time, groups of products, QR and least squares of
// batches.
// nvcc: -lcublas
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

typedef std::complex<double> Z;
typedef cuDoubleComplex *P;
static int bad;
static cublasHandle_t h;
#define OK(call) \
  do { \
    int status_ = (int)(call); \
    if (status_) printf("line %d: %s: status %d\n", __LINE__, #call, status_), bad++; \
  } while (0)

static void near(const char *what, Z got, Z want, double tolerance = 1e-12) {
  if (std::abs(got - want) <= tolerance * (1 + std::abs(want))) return;
  printf("%s: (%g, %g) instead of (%g, %g)\n", what, got.real(), got.imag(), want.real(),
         want.imag());
  bad++;
}
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
static double number(int i) { return ((i * 37 + 11) % 101 - 50) / 25.0; }
static std::vector<Z> numbers(int n, int seed) {
  std::vector<Z> v(n);
  for (int i = 0; i < n; i++) v[i] = Z(number(i + seed), number(3 * i + seed + 7));
  return v;
}

static void rotations() {
  const int n = 9;
  auto x = numbers(n, 1), y = numbers(n, 50);
  double c = 0.6;
  Z s(0.48, 0.64);
  Z *dx = device(x), *dy = device(y);
  OK(cublasZrot(h, n, (P)dx, 1, (P)dy, 1, &c, (P)&s));
  auto gx = host(dx, n), gy = host(dy, n);
  for (int i = 0; i < n; i++) {
    near("Zrot x", gx[i], c * x[i] + s * y[i]);
    near("Zrot y", gy[i], c * y[i] - std::conj(s) * x[i]);
  }
  double real = 0.8;
  dx = device(x), dy = device(y);
  OK(cublasZdrot(h, n, (P)dx, 1, (P)dy, 1, &c, &real));
  gx = host(dx, n), gy = host(dy, n);
  for (int i = 0; i < n; i++) {
    near("Zdrot x", gx[i], c * x[i] + real * y[i]);
    near("Zdrot y", gy[i], c * y[i] - real * x[i]);
  }
}

static void updates() {
  const int n = 6, k = 4;
  auto x = numbers(n, 1), y = numbers(2 * n, 50), c = numbers(n * n, 90);
  auto a = numbers(n * k, 3), b = numbers(n * k, 17);
  Z alpha(1, 2), beta(0.5, -1);
  double real = 0.5;
  for (int uplo = 0; uplo < 2; uplo++) {
    cublasFillMode_t fill = uplo ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    auto counts = [&](int i, int j) { return uplo ? i <= j : i >= j; };
    Z *dc = device(c);
    OK(cublasZsyr2(h, fill, n, (P)&alpha, (P)device(x), 1, (P)device(y), 2, (P)dc, n));
    auto out = host(dc, n * n);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        Z sum = alpha * (x[i] * y[2 * j] + y[2 * i] * x[j]);
        near("Zsyr2", out[i + j * n], c[i + j * n] + (counts(i, j) ? sum : 0));
      }
    dc = device(c);
    OK(cublasZsyrkx(h, fill, CUBLAS_OP_N, n, k, (P)&alpha, (P)device(a), n, (P)device(b), n,
                    (P)&beta, (P)dc, n));
    out = host(dc, n * n);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        Z sum = 0;
        for (int l = 0; l < k; l++) sum += a[i + l * n] * b[j + l * n];
        near("Zsyrkx", out[i + j * n],
             counts(i, j) ? alpha * sum + beta * c[i + j * n] : c[i + j * n]);
      }
    dc = device(c);  // A is B, so that the product is hermitian
    Z one = 2;
    OK(cublasZherkx(h, fill, CUBLAS_OP_C, n, k, (P)&one, (P)device(a), k, (P)device(a), k, &real,
                    (P)dc, n));
    out = host(dc, n * n);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        Z sum = 0, old = i == j ? Z(c[i + j * n].real()) : c[i + j * n];
        for (int l = 0; l < k; l++) sum += std::conj(a[l + i * k]) * a[l + j * k];
        near("Zherkx", out[i + j * n], counts(i, j) ? one * sum + real * old : c[i + j * n]);
      }
  }
}

static void types_at_run_time() {
  const int n = 20;
  std::vector<__half> x(n);
  std::vector<float> y(n);
  for (int i = 0; i < n; i++) x[i] = (float)number(i), y[i] = (float)number(3 * i);
  __half *dx = device(x), *copy = device(std::vector<__half>(n));
  float *dy = device(y), *dz = device(std::vector<float>(n, 1));
  OK(cublasCopyEx(h, n, dx, CUDA_R_16F, 1, copy, CUDA_R_16F, 1));
  auto got = host(copy, n);
  for (int i = 0; i < n; i++) near("CopyEx", (float)got[i], (float)x[i]);
  float sum = 0, want = 0;
  for (auto v : y) want += std::fabs(v);
  OK(cublasAsumEx(h, n, dy, CUDA_R_32F, 1, &sum, CUDA_R_32F, CUDA_R_32F));
  near("AsumEx", sum, want, 1e-5);
  int index = 0, largest = 0, least = 0, smallest = 0;
  for (int i = 0; i < n; i++) {
    if (std::fabs(y[i]) > std::fabs(y[largest])) largest = i;
    if (std::fabs(y[i]) < std::fabs(y[smallest])) smallest = i;
  }
  OK(cublasIamaxEx(h, n, dy, CUDA_R_32F, 1, &index));
  OK(cublasIaminEx(h, n, dy, CUDA_R_32F, 1, &least));
  near("IamaxEx", index, largest + 1);
  near("IaminEx", least, smallest + 1);
  float c = 0.6f, s = 0.8f;
  OK(cublasRotEx(h, n, dy, CUDA_R_32F, 1, dz, CUDA_R_32F, 1, &c, &s, CUDA_R_32F, CUDA_R_32F));
  auto ry = host(dy, n), rz = host(dz, n);
  for (int i = 0; i < n; i++) {
    near("RotEx x", ry[i], c * y[i] + s, 1e-6);
    near("RotEx y", rz[i], c - s * y[i], 1e-6);
  }
  OK(cublasSwapEx(h, n, dy, CUDA_R_32F, 1, dz, CUDA_R_32F, 1));
  auto sy = host(dy, n);
  for (int i = 0; i < n; i++) near("SwapEx", sy[i], rz[i]);
}

static void groups() {  // two products of 3 x 2 and one of 2 x 4
  const int m[] = {3, 2}, n[] = {3, 4}, k[] = {2, 5}, size[] = {2, 1};
  const cublasOperation_t plain[] = {CUBLAS_OP_N, CUBLAS_OP_N};
  double alpha[] = {2, 3}, beta[] = {0, 1};
  std::vector<double> a[3], b[3], c[3];
  std::vector<double *> pa, pb, pc;
  for (int p = 0; p < 3; p++) {
    int g = p / 2;
    for (int i = 0; i < m[g] * k[g]; i++) a[p].push_back(number(i + p));
    for (int i = 0; i < k[g] * n[g]; i++) b[p].push_back(number(3 * i + p));
    for (int i = 0; i < m[g] * n[g]; i++) c[p].push_back(number(7 * i + p));
    pa.push_back(device(a[p])), pb.push_back(device(b[p])), pc.push_back(device(c[p]));
  }
  double **da = device(pa), **db = device(pb), **dc = device(pc);
  OK(cublasDgemmGroupedBatched(h, plain, plain, m, n, k, alpha, da, m, db, k, beta, dc, m, 2,
                               size));
  for (int p = 0; p < 3; p++) {
    int g = p / 2;
    auto out = host(pc[p], m[g] * n[g]);
    for (int j = 0; j < n[g]; j++)
      for (int i = 0; i < m[g]; i++) {
        double sum = 0;
        for (int l = 0; l < k[g]; l++) sum += a[p][i + l * m[g]] * b[p][l + j * k[g]];
        near("groups", out[i + j * m[g]], alpha[g] * sum + beta[g] * c[p][i + j * m[g]]);
      }
  }
}

static void least_squares() {  // the right sides are A x: the solution is x
  const int m = 8, n = 3, batch = 2;
  std::vector<double> a[batch], x[batch], b[batch];
  std::vector<double *> pa, pb, pq, ptau;
  for (int p = 0; p < batch; p++) {
    for (int i = 0; i < m * n; i++) a[p].push_back(number(i * i + p));
    for (int i = 0; i < n; i++) x[p].push_back(number(5 * i + p));
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += a[p][i + j * m] * x[p][j];
      b[p].push_back(sum);
    }
    pa.push_back(device(a[p])), pb.push_back(device(b[p])), pq.push_back(device(a[p]));
    ptau.push_back(device(std::vector<double>(n)));
  }
  int info = -1, *infos = device(std::vector<int>(batch, -1));
  OK(cublasDgelsBatched(h, CUBLAS_OP_N, m, n, 1, device(pa), m, device(pb), m, &info, infos,
                        batch));
  if (info) printf("gelsBatched: info %d\n", info), bad++;
  OK(cublasDgeqrfBatched(h, m, n, device(pq), m, device(ptau), &info, batch));
  for (int p = 0; p < batch; p++) {
    auto solution = host(pb[p], n), r = host(pq[p], m * n);
    for (int i = 0; i < n; i++) near("gelsBatched", solution[i], x[p][i], 1e-10);
    for (int j = 0; j < n; j++)  // R'R is A'A
      for (int i = 0; i < n; i++) {
        double want = 0, got = 0;
        for (int l = 0; l < m; l++) want += a[p][l + i * m] * a[p][l + j * m];
        for (int l = 0; l <= std::min(i, j); l++) got += r[l + i * m] * r[l + j * m];
        near("geqrfBatched", got, want, 1e-10);
      }
  }
}

int main() {
  OK(cublasCreate(&h));
  rotations();
  updates();
  types_at_run_time();
  groups();
  least_squares();
  OK(cublasDestroy(h));
  if (cudaDeviceSynchronize()) printf("the device failed\n"), bad++;
  printf("%d wrong\n", bad);
  return bad != 0;
}
