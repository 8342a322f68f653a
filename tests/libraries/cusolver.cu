// cuSOLVER's dense routines for the four types: what they return is multiplied out and compared
// with the matrix. The 64-bit functions do the same once more.
// nvcc: -std=c++17 -lcusolver
#include <cusolverDn.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

typedef std::complex<double> Z;
typedef std::vector<Z> Matrix;  // column-major, without gaps
static int bad;
static cusolverDnHandle_t h;
#define OK(call) \
  do { \
    int status_ = (int)(call); \
    if (status_) printf("line %d, %s: status %d\n", __LINE__, #call, status_), bad++; \
  } while (0)

// --- the types ---

template <class T> struct Real { typedef T type; };
template <> struct Real<cuComplex> { typedef float type; };
template <> struct Real<cuDoubleComplex> { typedef double type; };
static void put(float &to, Z x) { to = (float)x.real(); }
static void put(double &to, Z x) { to = x.real(); }
static void put(cuComplex &to, Z x) { to = make_cuComplex((float)x.real(), (float)x.imag()); }
static void put(cuDoubleComplex &to, Z x) { to = make_cuDoubleComplex(x.real(), x.imag()); }
static Z take(float x) { return x; }
static Z take(double x) { return x; }
static Z take(cuComplex x) { return Z(x.x, x.y); }
static Z take(cuDoubleComplex x) { return Z(x.x, x.y); }

// A function of each type by one name: OF_TYPES(getrf) defines getrf_of(T *), which returns it.
#define OF_TYPES2(name, s, d, c, z) \
  static auto name##_of(float *) { return cusolverDn##s; } \
  static auto name##_of(double *) { return cusolverDn##d; } \
  static auto name##_of(cuComplex *) { return cusolverDn##c; } \
  static auto name##_of(cuDoubleComplex *) { return cusolverDn##z; }
#define OF_TYPES(name) OF_TYPES2(name, S##name, D##name, C##name, Z##name)
#define HERMITIAN(name) OF_TYPES2(name, Ssy##name, Dsy##name, Che##name, Zhe##name)
#define UNITARY(name) OF_TYPES2(name, Sor##name, Dor##name, Cun##name, Zun##name)
OF_TYPES(getrf) OF_TYPES(getrf_bufferSize) OF_TYPES(getrs)
OF_TYPES(potrf) OF_TYPES(potrf_bufferSize) OF_TYPES(potrs) OF_TYPES(potri)
OF_TYPES(potrfBatched) OF_TYPES(potrsBatched)
OF_TYPES(geqrf) OF_TYPES(geqrf_bufferSize) UNITARY(gqr) UNITARY(mqr)
OF_TYPES(gesvd) OF_TYPES(gesvd_bufferSize) OF_TYPES(gesvdj) OF_TYPES(gesvdj_bufferSize)
OF_TYPES(gesvdjBatched) OF_TYPES(gesvdjBatched_bufferSize)
HERMITIAN(evd) HERMITIAN(evd_bufferSize) HERMITIAN(evdx) HERMITIAN(evdx_bufferSize)
HERMITIAN(evj) HERMITIAN(evj_bufferSize) HERMITIAN(evjBatched) HERMITIAN(evjBatched_bufferSize)
HERMITIAN(gvd) HERMITIAN(gvd_bufferSize)
OF_TYPES(potri_bufferSize) UNITARY(gqr_bufferSize) UNITARY(mqr_bufferSize)
OF_TYPES2(gesv_bufferSize, SSgesv_bufferSize, DSgesv_bufferSize, CCgesv_bufferSize,
          ZCgesv_bufferSize)
OF_TYPES2(gels_bufferSize, SSgels_bufferSize, DSgels_bufferSize, CCgels_bufferSize,
          ZCgels_bufferSize)
OF_TYPES2(gesv, SSgesv, DSgesv, CCgesv, ZCgesv) OF_TYPES2(gels, SSgels, DSgels, CCgels, ZCgels)
#define F(name) name##_of((T *)0)

template <class T> cudaDataType type_of();
template <> cudaDataType type_of<float>() { return CUDA_R_32F; }
template <> cudaDataType type_of<double>() { return CUDA_R_64F; }
template <> cudaDataType type_of<cuComplex>() { return CUDA_C_32F; }
template <> cudaDataType type_of<cuDoubleComplex>() { return CUDA_C_64F; }

// --- matrices ---

template <class T> static bool is_complex() { return sizeof(T) != sizeof(typename Real<T>::type); }

template <class T> static Matrix random_matrix(int rows, int columns, unsigned seed) {
  Matrix m(rows * columns);
  for (auto &x : m) {
    double part[2];
    for (double &p : part) p = ((seed = seed * 1103515245 + 12345) >> 8 & 0xffff) / 32768.0 - 1;
    x = Z(part[0], is_complex<T>() ? part[1] : 0);
  }
  return m;
}
static Matrix product(const Matrix &a, const Matrix &b, int m, int k, int n) {
  Matrix c(m * n);
  for (int j = 0; j < n; j++)
    for (int l = 0; l < k; l++)
      for (int i = 0; i < m; i++) c[i + j * m] += a[i + l * m] * b[l + j * k];
  return c;
}
static Matrix adjoint(const Matrix &a, int rows, int columns) {
  Matrix out(a.size());
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < rows; i++) out[j + i * columns] = std::conj(a[i + j * rows]);
  return out;
}
template <class T> static Matrix definite(int n, unsigned seed) {
  Matrix a = random_matrix<T>(n, n, seed), c = product(a, adjoint(a, n, n), n, n, n);
  for (int i = 0; i < n; i++) c[i + i * n] += n;
  return c;
}
static Matrix diagonal(const Matrix &values, int rows, int columns) {
  Matrix d(rows * columns);
  for (size_t i = 0; i < values.size(); i++) d[i + i * rows] = values[i];
  return d;
}

template <class T> static T *upload(const Matrix &m) {
  std::vector<T> v(m.size());
  for (size_t i = 0; i < m.size(); i++) put(v[i], m[i]);
  T *p;
  cudaMalloc(&p, m.size() * sizeof(T));
  cudaMemcpy(p, v.data(), m.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T> static T *empty(size_t n) {
  T *p;
  cudaMalloc(&p, n * sizeof(T));
  return p;
}
template <class T> static Matrix download(const T *p, size_t n) {
  std::vector<T> v(n);
  Matrix m(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < n; i++) m[i] = take(v[i]);
  return m;
}
static int info_of(int *info, int at = 0) {
  int value;
  cudaMemcpy(&value, info + at, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

template <class T> static void compare(const char *what, const Matrix &got, const Matrix &want) {
  double error = 0, norm = 0, tolerance = sizeof(typename Real<T>::type) == 4 ? 2e-4 : 1e-11;
  for (size_t i = 0; i < want.size(); i++) {
    error = std::fmax(error, std::abs(got[i] - want[i]));
    norm = std::fmax(norm, std::abs(want[i]));
  }
  if (!(error <= tolerance * norm))
    printf("%s, type %d: error %g of %g\n", what, (int)type_of<T>(), error, norm), bad++;
}

// --- routines ---

enum { N = 37, M = 53, RIGHT = 3, BATCH = 3 };

template <class T> static void linear_systems() {
  Matrix a = random_matrix<T>(N, N, 1), x = random_matrix<T>(N, RIGHT, 2),
         b = product(a, x, N, N, RIGHT), spd = definite<T>(N, 3), c = product(spd, x, N, N, RIGHT);
  int *pivots = empty<int>(N), *info = empty<int>(1), size;
  for (int pivoting = 1; pivoting >= 0; pivoting--) {  // the definite matrix needs no pivots
    T *da = upload<T>(pivoting ? a : spd), *db = upload<T>(pivoting ? b : c);
    OK(F(getrf_bufferSize)(h, N, N, da, N, &size));
    OK(F(getrf)(h, N, N, da, N, empty<T>(size), pivoting ? pivots : NULL, info));
    OK(F(getrs)(h, CUBLAS_OP_N, N, RIGHT, da, N, pivoting ? pivots : NULL, db, N, info));
    compare<T>(pivoting ? "getrs" : "getrs without pivots", download(db, N * RIGHT), x);
  }
  for (int uplo = 0; uplo < 2; uplo++) {
    cublasFillMode_t fill = (cublasFillMode_t)uplo;
    T *da = upload<T>(spd), *db = upload<T>(c), *work;
    OK(F(potrf_bufferSize)(h, fill, N, da, N, &size));
    work = empty<T>(size);
    OK(F(potrf)(h, fill, N, da, N, work, size, info));
    OK(F(potrs)(h, fill, N, RIGHT, da, N, db, N, info));
    compare<T>("potrs", download(db, N * RIGHT), x);
    OK(F(potri_bufferSize)(h, fill, N, da, N, &size));
    OK(F(potri)(h, fill, N, da, N, empty<T>(size), size, info));
    Matrix inverse = download(da, N * N), one = diagonal(Matrix(N, 1), N, N);
    for (int j = 0; j < N; j++)
      for (int i = 0; i < j; i++)
        if (uplo) inverse[j + i * N] = std::conj(inverse[i + j * N]);
        else inverse[i + j * N] = std::conj(inverse[j + i * N]);
    compare<T>("potri", product(inverse, spd, N, N, N), one);
  }
  Matrix minus = spd;
  minus[5 + 5 * N] = -1;  // not definite from the sixth minor on
  T *da = upload<T>(minus);
  OK(F(potrf_bufferSize)(h, CUBLAS_FILL_MODE_LOWER, N, da, N, &size));
  OK(F(potrf)(h, CUBLAS_FILL_MODE_LOWER, N, da, N, empty<T>(size), size, info));
  if (info_of(info) != 6) printf("potrf: info %d\n", info_of(info)), bad++;
  size_t bytes;
  int iterations = -1;
  T *solution = empty<T>(N * RIGHT);
  OK(F(gesv_bufferSize)(h, N, RIGHT, NULL, N, NULL, NULL, N, NULL, N, NULL, &bytes));
  OK(F(gesv)(h, N, RIGHT, upload<T>(a), N, pivots, upload<T>(b), N, solution, N,
             empty<char>(bytes), bytes, &iterations, info));
  compare<T>("gesv", download(solution, N * RIGHT), x);
  if (iterations < 0) printf("gesv: %d iterations\n", iterations), bad++;
}

template <class T> static void batches() {
  Matrix a[BATCH], x[BATCH], b[BATCH];
  T *da[BATCH], *db[BATCH], **pa = empty<T *>(BATCH), **pb = empty<T *>(BATCH);
  int *info = empty<int>(BATCH);
  for (int i = 0; i < BATCH; i++) {
    a[i] = definite<T>(N, 10 + i), x[i] = random_matrix<T>(N, 1, 20 + i);
    b[i] = product(a[i], x[i], N, N, 1);
    da[i] = upload<T>(a[i]), db[i] = upload<T>(b[i]);
  }
  cudaMemcpy(pa, da, sizeof da, cudaMemcpyHostToDevice);
  cudaMemcpy(pb, db, sizeof db, cudaMemcpyHostToDevice);
  OK(F(potrfBatched)(h, CUBLAS_FILL_MODE_LOWER, N, pa, N, info, BATCH));
  OK(F(potrsBatched)(h, CUBLAS_FILL_MODE_LOWER, N, 1, pa, N, pb, N, info, BATCH));
  for (int i = 0; i < BATCH; i++) compare<T>("potrsBatched", download(db[i], N), x[i]);
}

template <class T> static void orthogonal() {
  Matrix a = random_matrix<T>(M, N, 4), c = random_matrix<T>(M, RIGHT, 5);
  T *da = upload<T>(a), *tau = empty<T>(N), *dc = upload<T>(c), *work;
  int *info = empty<int>(1), size;
  OK(F(geqrf_bufferSize)(h, M, N, da, M, &size));
  work = empty<T>(size);
  OK(F(geqrf)(h, M, N, da, M, tau, work, size, info));
  Matrix r = download(da, M * N), upper(N * N);
  for (int j = 0; j < N; j++)
    for (int i = 0; i <= j; i++) upper[i + j * N] = r[i + j * M];
  cublasOperation_t adjoint_of = is_complex<T>() ? CUBLAS_OP_C : CUBLAS_OP_T;
  OK(F(mqr_bufferSize)(h, CUBLAS_SIDE_LEFT, adjoint_of, M, RIGHT, N, da, M, tau, dc, M, &size));
  OK(F(mqr)(h, CUBLAS_SIDE_LEFT, adjoint_of, M, RIGHT, N, da, M, tau, dc, M, empty<T>(size), size,
            info));
  OK(F(gqr_bufferSize)(h, M, N, N, da, M, tau, &size));
  OK(F(gqr)(h, M, N, N, da, M, tau, empty<T>(size), size, info));
  Matrix q = download(da, M * N);
  compare<T>("geqrf", product(q, upper, M, N, N), a);
  compare<T>("gqr", product(adjoint(q, M, N), q, N, M, N), diagonal(Matrix(N, 1), N, N));
  Matrix rotated = download(dc, M * RIGHT), top(N * RIGHT);
  for (int j = 0; j < RIGHT; j++)
    for (int i = 0; i < N; i++) top[i + j * N] = rotated[i + j * M];
  compare<T>("mqr", top, product(adjoint(q, M, N), c, N, M, RIGHT));
  T *x = empty<T>(N * RIGHT);
  size_t bytes;
  int iterations;
  OK(F(gels_bufferSize)(h, M, N, RIGHT, NULL, M, NULL, M, NULL, N, NULL, &bytes));
  Matrix exact = random_matrix<T>(N, RIGHT, 6);
  OK(F(gels)(h, M, N, RIGHT, upload<T>(a), M, upload<T>(product(a, exact, M, N, RIGHT)), M, x, N,
             empty<char>(bytes), bytes, &iterations, info));
  compare<T>("gels", download(x, N * RIGHT), exact);
}

template <class T> static void eigenvalues() {
  typedef typename Real<T>::type R;
  const cusolverEigMode_t vectors = CUSOLVER_EIG_MODE_VECTOR;
  const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER, upper = CUBLAS_FILL_MODE_UPPER;
  Matrix a = definite<T>(N, 7), b = definite<T>(N, 8);
  R *w = empty<R>(N);
  int *info = empty<int>(1), size, count = -1;
  T *da = upload<T>(a), *db = upload<T>(b);
  OK(F(evd_bufferSize)(h, vectors, lower, N, da, N, w, &size));
  OK(F(evd)(h, vectors, lower, N, da, N, w, empty<T>(size), size, info));
  Matrix v = download(da, N * N), values = download(w, N);
  compare<T>("evd", product(a, v, N, N, N), product(v, diagonal(values, N, N), N, N, N));
  da = upload<T>(a);
  cusolverEigRange_t some = CUSOLVER_EIG_RANGE_I;
  OK(F(evdx_bufferSize)(h, vectors, some, upper, N, da, N, 0, 0, 4, 9, &count, w, &size));
  OK(F(evdx)(h, vectors, some, upper, N, da, N, 0, 0, 4, 9, &count, w, empty<T>(size), size, info));
  if (count != 6) printf("evdx: %d values\n", count), bad++;
  compare<T>("evdx", download(w, 6), Matrix(values.begin() + 3, values.begin() + 9));
  v = download(da, N * 6);
  compare<T>("vectors of evdx", product(a, v, N, N, 6),
             product(v, diagonal(Matrix(values.begin() + 3, values.begin() + 9), 6, 6), N, 6, 6));
  syevjInfo_t jacobi;
  double residual = -1;
  OK(cusolverDnCreateSyevjInfo(&jacobi));
  da = upload<T>(a);
  OK(F(evj_bufferSize)(h, vectors, lower, N, da, N, w, &size, jacobi));
  OK(F(evj)(h, vectors, lower, N, da, N, w, empty<T>(size), size, info, jacobi));
  compare<T>("evj", download(w, N), values);
  OK(cusolverDnXsyevjGetResidual(h, jacobi, &residual));
  if (!(residual >= 0 && residual < 0.1)) printf("evj: residual %g\n", residual), bad++;
  Matrix two = a;
  two.insert(two.end(), b.begin(), b.end());
  R *both = empty<R>(2 * N);
  T *batch = upload<T>(two);
  int *infos = empty<int>(2);
  OK(F(evjBatched_bufferSize)(h, vectors, lower, N, batch, N, both, &size, jacobi, 2));
  OK(F(evjBatched)(h, vectors, lower, N, batch, N, both, empty<T>(size), size, infos, jacobi, 2));
  v = download(batch + N * N, N * N);
  compare<T>("evjBatched", product(b, v, N, N, N),
             product(v, diagonal(download(both + N, N), N, N), N, N, N));
  da = upload<T>(a);
  OK(F(gvd_bufferSize)(h, CUSOLVER_EIG_TYPE_1, vectors, lower, N, da, N, db, N, w, &size));
  OK(F(gvd)(h, CUSOLVER_EIG_TYPE_1, vectors, lower, N, da, N, db, N, w, empty<T>(size), size,
            info));
  v = download(da, N * N);
  compare<T>("gvd", product(a, v, N, N, N),
             product(product(b, v, N, N, N), diagonal(download(w, N), N, N), N, N, N));
}

template <class T> static void singular_values() {
  typedef typename Real<T>::type R;
  const cusolverEigMode_t vectors = CUSOLVER_EIG_MODE_VECTOR;
  Matrix a = random_matrix<T>(M, N, 9);
  R *s = empty<R>(2 * N);
  T *da = upload<T>(a), *u = empty<T>(M * M), *v = empty<T>(N * N);
  int *info = empty<int>(2), size;
  OK(F(gesvd_bufferSize)(h, M, N, &size));
  OK(F(gesvd)(h, 'A', 'A', M, N, da, M, s, u, M, v, N, empty<T>(size), size, NULL, info));
  Matrix values = download(s, N);
  compare<T>("gesvd",
             product(product(download(u, M * M), diagonal(values, M, N), M, M, N),
                     download(v, N * N), M, N, N),
             a);
  gesvdjInfo_t jacobi;
  OK(cusolverDnCreateGesvdjInfo(&jacobi));
  da = upload<T>(a);
  OK(F(gesvdj_bufferSize)(h, vectors, 1, M, N, da, M, s, u, M, v, N, &size, jacobi));
  OK(F(gesvdj)(h, vectors, 1, M, N, da, M, s, u, M, v, N, empty<T>(size), size, info, jacobi));
  compare<T>("gesvdj", download(s, N), values);
  compare<T>("vectors of gesvdj",
             product(product(download(u, M * N), diagonal(values, N, N), M, N, N),
                     adjoint(download(v, N * N), N, N), M, N, N),
             a);
  const int m = 20, n = 12;
  Matrix small[2] = {random_matrix<T>(m, n, 30), random_matrix<T>(m, n, 31)}, two = small[0];
  two.insert(two.end(), small[1].begin(), small[1].end());
  T *sa = upload<T>(two), *su = empty<T>(2 * m * m), *sv = empty<T>(2 * n * n);
  OK(F(gesvdjBatched_bufferSize)(h, vectors, m, n, sa, m, s, su, m, sv, n, &size, jacobi, 2));
  OK(F(gesvdjBatched)(h, vectors, m, n, sa, m, s, su, m, sv, n, empty<T>(size), size, info, jacobi,
                      2));
  compare<T>("gesvdjBatched",
             product(product(download(su + m * m, m * m), diagonal(download(s + n, n), m, n), m, m,
                             n),
                     adjoint(download(sv + n * n, n * n), n, n), m, n, n),
             small[1]);
}

// The two workspaces of a call with 64-bit sizes: WORK(work) passes them on.
struct Workspaces {
  size_t device, host;
  void *on_device;
  std::vector<char> on_host;
  void allocate() {
    cudaMalloc(&on_device, device + 1);  // a call that needs none still gets a pointer
    on_host.resize(host + 1);
  }
};
#define SIZES(of) &of.device, &of.host
#define WORK(of) of.on_device, of.device, of.on_host.data(), of.host

template <class T> static void wide_sizes() {
  typedef typename Real<T>::type R;
  cudaDataType t = type_of<T>(), r = type_of<R>();
  const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
  Matrix a = random_matrix<T>(N, N, 1), x = random_matrix<T>(N, RIGHT, 2),
         b = product(a, x, N, N, RIGHT), spd = definite<T>(N, 3);
  T *da = upload<T>(a), *db = upload<T>(b);
  int64_t *pivots = empty<int64_t>(N), count = 0;
  int *info = empty<int>(1);
  cusolverDnParams_t params;
  Workspaces lu, cholesky, eigen, range, svd;
  OK(cusolverDnCreateParams(&params));
  OK(cusolverDnXgetrf_bufferSize(h, params, N, N, t, da, N, t, SIZES(lu)));
  lu.allocate();
  OK(cusolverDnXgetrf(h, params, N, N, t, da, N, pivots, t, WORK(lu), info));
  OK(cusolverDnXgetrs(h, params, CUBLAS_OP_N, N, RIGHT, t, da, N, pivots, t, db, N, info));
  compare<T>("Xgetrs", download(db, N * RIGHT), x);
  da = upload<T>(spd), db = upload<T>(product(spd, x, N, N, RIGHT));
  OK(cusolverDnXpotrf_bufferSize(h, params, lower, N, t, da, N, t, SIZES(cholesky)));
  cholesky.allocate();
  OK(cusolverDnXpotrf(h, params, lower, N, t, da, N, t, WORK(cholesky), info));
  OK(cusolverDnXpotrs(h, params, lower, N, RIGHT, t, da, N, t, db, N, info));
  compare<T>("Xpotrs", download(db, N * RIGHT), x);
  R *w = empty<R>(N);
  da = upload<T>(spd);
  cusolverEigMode_t mode = CUSOLVER_EIG_MODE_VECTOR;
  OK(cusolverDnXsyevd_bufferSize(h, params, mode, lower, N, t, da, N, r, w, t, SIZES(eigen)));
  eigen.allocate();
  OK(cusolverDnXsyevd(h, params, mode, lower, N, t, da, N, r, w, t, WORK(eigen), info));
  Matrix v = download(da, N * N), values = download(w, N);
  compare<T>("Xsyevd", product(spd, v, N, N, N), product(v, diagonal(values, N, N), N, N, N));
  da = upload<T>(spd);
  R low = (R)((values[3].real() + values[4].real()) / 2),
    high = (R)((values[8].real() + values[9].real()) / 2);
  mode = CUSOLVER_EIG_MODE_NOVECTOR;
  cusolverEigRange_t between = CUSOLVER_EIG_RANGE_V;
  OK(cusolverDnXsyevdx_bufferSize(h, params, mode, between, lower, N, t, da, N, &low, &high, 0, 0,
                                  &count, r, w, t, SIZES(range)));
  range.allocate();
  OK(cusolverDnXsyevdx(h, params, mode, between, lower, N, t, da, N, &low, &high, 0, 0, &count, r,
                       w, t, WORK(range), info));
  if (count != 5) printf("Xsyevdx: %d values\n", (int)count), bad++;
  compare<T>("Xsyevdx", download(w, 5), Matrix(values.begin() + 4, values.begin() + 9));
  T *u = empty<T>(N * N), *vt = empty<T>(N * N);
  da = upload<T>(a);
  OK(cusolverDnXgesvd_bufferSize(h, params, 'S', 'S', N, N, t, da, N, r, w, t, u, N, t, vt, N, t,
                                 SIZES(svd)));
  svd.allocate();
  OK(cusolverDnXgesvd(h, params, 'S', 'S', N, N, t, da, N, r, w, t, u, N, t, vt, N, t, WORK(svd),
                      info));
  compare<T>("Xgesvd",
             product(product(download(u, N * N), diagonal(download(w, N), N, N), N, N, N),
                     download(vt, N * N), N, N, N),
             a);
}

// A part whose kernels failed is named: later calls of the library only say that something did.
template <class T> static void part(const char *name, void (*run)()) {
  run();
  cudaError_t error = cudaDeviceSynchronize();
  if (error) printf("%s, type %d: %s\n", name, (int)type_of<T>(), cudaGetErrorName(error)), bad++;
}
template <class T> static void all() {
  part<T>("linear systems", linear_systems<T>);
  part<T>("batches", batches<T>);
  part<T>("orthogonal", orthogonal<T>);
  part<T>("eigenvalues", eigenvalues<T>);
  part<T>("singular values", singular_values<T>);
  part<T>("wide sizes", wide_sizes<T>);
}

int main() {
  OK(cusolverDnCreate(&h));
  all<float>();
  all<double>();
  all<cuComplex>();
  all<cuDoubleComplex>();
  cudaStream_t s;
  cudaStreamCreate(&s);
  OK(cusolverDnSetStream(h, s));
  all<double>();
  if (cusolverDnSgetrf(h, 4, 4, NULL, 2, NULL, NULL, NULL) != CUSOLVER_STATUS_INVALID_VALUE)
    printf("a small leading dimension is taken\n"), bad++;
  OK(cusolverDnDestroy(h));
  printf("%d wrong\n", bad);
  return bad != 0;
}
