// cuSPARSE's older functions: tridiagonal and pentadiagonal systems, incomplete factorisations of
// matrices without fill-in (which are the complete ones), products with blocks, sums.
// nvcc: -std=c++17 -Xcompiler -Wno-deprecated-declarations -lcusparse
#include <cusparse.h>
#include <cmath>
#include <cstdio>
#include <vector>

static int bad;
static cusparseHandle_t h;
#define OK(call) \
  do { \
    int status_ = (int)(call); \
    if (status_) printf("line %d, %s: status %d\n", __LINE__, #call, status_), bad++; \
  } while (0)

typedef std::vector<double> Vector;
static double value(int i) { return ((i * 37 + 11) % 101 - 50) / 25.0; }
template <class T> static T *upload(const std::vector<T> &v) {
  T *p;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
static Vector download(const double *p, size_t n) {
  Vector v(n);
  cudaMemcpy(v.data(), p, n * sizeof(double), cudaMemcpyDeviceToHost);
  return v;
}
static void *buffer(size_t bytes) {
  void *p;
  cudaMalloc(&p, bytes + 1);
  return p;
}
static void compare(const char *what, const Vector &got, const Vector &want) {
  double error = 0;
  for (size_t i = 0; i < want.size(); i++) error = std::fmax(error, std::fabs(got[i] - want[i]));
  if (!(error <= 1e-10) || got.size() != want.size()) printf("%s: error %g\n", what, error), bad++;
}

enum { M = 33, RIGHT = 3, BATCH = 4 };

// Bands of BATCH systems: ds, dl, d, du, dw. weak: the diagonal is so small that rows must be
// swapped.
struct Bands {
  Vector band[5];
  Bands(bool weak, bool five) {
    for (int b = 0; b < 5; b++) {
      band[b].resize(M * BATCH);
      for (int i = 0; i < M * BATCH; i++) {
        int row = i % M;
        bool there = row + b - 2 >= 0 && row + b - 2 < M && (five || (b > 0 && b < 4));
        band[b][i] = there ? value(i + b) + (b == 2 ? (weak ? 0.01 : 9) : 0.2) : 0;
      }
    }
  }
  Vector times(const Vector &x, int system, int of) const {
    Vector y(M);
    for (int i = 0; i < M; i++)
      for (int b = 0; b < 5; b++)
        if (i + b - 2 >= 0 && i + b - 2 < M)
          y[i] += band[b][of * M + i] * x[system * M + i + b - 2];
    return y;
  }
};

static Vector interleave(const Vector &v) {
  Vector out(v.size());
  for (int s = 0; s < BATCH; s++)
    for (int i = 0; i < M; i++) out[i * BATCH + s] = v[s * M + i];
  return out;
}

static void tridiagonal() {
  Vector x(M * BATCH), many, each;
  for (int i = 0; i < M * BATCH; i++) x[i] = value(i * 3 + 1);
  size_t bytes;
  for (int pivots = 0; pivots < 2; pivots++) {
    Bands a(pivots, false);
    many.clear(), each.clear();
    for (int s = 0; s < BATCH; s++) {
      Vector one = a.times(x, s, 0), own = a.times(x, s, s);
      if (s < RIGHT) many.insert(many.end(), one.begin(), one.end());
      each.insert(each.end(), own.begin(), own.end());
    }
    double *dl = upload(a.band[1]), *d = upload(a.band[2]), *du = upload(a.band[3]),
           *b = upload(many);
    OK(cusparseDgtsv2_bufferSizeExt(h, M, RIGHT, dl, d, du, b, M, &bytes));
    if (pivots) OK(cusparseDgtsv2(h, M, RIGHT, dl, d, du, b, M, buffer(bytes)));
    else OK(cusparseDgtsv2_nopivot(h, M, RIGHT, dl, d, du, b, M, buffer(bytes)));
    compare(pivots ? "gtsv2" : "gtsv2_nopivot", download(b, M * RIGHT),
            Vector(x.begin(), x.begin() + M * RIGHT));
    if (pivots) continue;
    b = upload(each);
    OK(cusparseDgtsv2StridedBatch_bufferSizeExt(h, M, dl, d, du, b, BATCH, M, &bytes));
    OK(cusparseDgtsv2StridedBatch(h, M, dl, d, du, b, BATCH, M, buffer(bytes)));
    compare("gtsv2StridedBatch", download(b, M * BATCH), x);
    dl = upload(interleave(a.band[1])), d = upload(interleave(a.band[2]));
    du = upload(interleave(a.band[3])), b = upload(interleave(each));
    OK(cusparseDgtsvInterleavedBatch_bufferSizeExt(h, 0, M, dl, d, du, b, BATCH, &bytes));
    OK(cusparseDgtsvInterleavedBatch(h, 0, M, dl, d, du, b, BATCH, buffer(bytes)));
    compare("gtsvInterleavedBatch", download(b, M * BATCH), interleave(x));
  }
  Bands a(false, true);
  each.clear();
  for (int s = 0; s < BATCH; s++) {
    Vector own = a.times(x, s, s);
    each.insert(each.end(), own.begin(), own.end());
  }
  double *p[5], *b = upload(interleave(each));
  for (int i = 0; i < 5; i++) p[i] = upload(interleave(a.band[i]));
  OK(cusparseDgpsvInterleavedBatch_bufferSizeExt(h, 0, M, p[0], p[1], p[2], p[3], p[4], b, BATCH,
                                                 &bytes));
  OK(cusparseDgpsvInterleavedBatch(h, 0, M, p[0], p[1], p[2], p[3], p[4], b, BATCH, buffer(bytes)));
  compare("gpsvInterleavedBatch", download(b, M * BATCH), interleave(x));
}

// A tridiagonal matrix has no fill-in: the product of the factors is the matrix.
static void factors() {
  std::vector<int> offsets(1, 0), columns;
  Vector values;
  for (int i = 0; i < M; i++) {
    for (int j = i - 1; j <= i + 1; j++)
      if (j >= 0 && j < M) columns.push_back(j), values.push_back(i == j ? 4 : -1);
    offsets.push_back((int)columns.size());
  }
  int n = (int)values.size(), size = 0, position = 0, *o = upload(offsets), *c = upload(columns);
  cusparseMatDescr_t descr;
  OK(cusparseCreateMatDescr(&descr));
  for (int cholesky = 0; cholesky < 2; cholesky++) {
    double *v = upload(values);
    if (cholesky) {
      csric02Info_t info;
      OK(cusparseCreateCsric02Info(&info));
      OK(cusparseDcsric02_bufferSize(h, M, n, descr, v, o, c, info, &size));
      void *space = buffer(size);
      auto policy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
      OK(cusparseDcsric02_analysis(h, M, n, descr, v, o, c, info, policy, space));
      OK(cusparseDcsric02(h, M, n, descr, v, o, c, info, policy, space));
      OK(cusparseXcsric02_zeroPivot(h, info, &position));
    } else {
      csrilu02Info_t info;
      OK(cusparseCreateCsrilu02Info(&info));
      OK(cusparseDcsrilu02_bufferSize(h, M, n, descr, v, o, c, info, &size));
      void *space = buffer(size);
      auto policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
      OK(cusparseDcsrilu02_analysis(h, M, n, descr, v, o, c, info, policy, space));
      OK(cusparseDcsrilu02(h, M, n, descr, v, o, c, info, policy, space));
      OK(cusparseXcsrilu02_zeroPivot(h, info, &position));
    }
    Vector f = download(v, n), lower(M * M), upper(M * M), got, want;
    for (int i = 0; i < M; i++)
      for (int k = offsets[i]; k < offsets[i + 1]; k++) {
        int j = columns[k];
        if (j <= i) lower[i * M + j] = i == j && !cholesky ? 1 : f[k];
        if (j >= i && !cholesky) upper[i * M + j] = f[k];
        if (j <= i && cholesky) upper[j * M + i] = f[k];
      }
    for (int i = 0; i < M; i++)
      for (int j = 0; j < M; j++) {
        double sum = 0;
        for (int k = 0; k < M; k++) sum += lower[i * M + k] * upper[k * M + j];
        got.push_back(sum), want.push_back(i == j ? 4 : std::abs(i - j) == 1 ? -1 : 0);
      }
    compare(cholesky ? "csric02" : "csrilu02", got, want);
    if (position != -1) printf("zero pivot %d\n", position), bad++;
  }
}

static void blocks() {  // blocks (0, 0), (0, 1) and (1, 1) of 2 x 2 elements, by columns
  Vector values(12), x = {1, 2, 3, 4}, y = {1, 1, 1, 1}, want(4, 3);
  int rows[3] = {0, 0, 1}, columns[3] = {0, 1, 1};
  for (int i = 0; i < 12; i++) values[i] = value(i);
  for (int b = 0; b < 3; b++)
    for (int e = 0; e < 4; e++)
      want[rows[b] * 2 + e % 2] += 2 * values[b * 4 + e] * x[columns[b] * 2 + e / 2];
  double *dy = upload(y), alpha = 2, beta = 3;
  cusparseMatDescr_t descr;
  OK(cusparseCreateMatDescr(&descr));
  OK(cusparseDbsrmv(h, CUSPARSE_DIRECTION_COLUMN, CUSPARSE_OPERATION_NON_TRANSPOSE, 2, 2, 3, &alpha,
                    descr, upload(values), upload(std::vector<int>{0, 2, 3}),
                    upload(std::vector<int>{0, 1, 1}), 2, upload(x), &beta, dy));
  compare("bsrmv", download(dy, 4), want);
}

// C = 2 A - B, with the patterns 110, 011, 100 and 011, 010, 101; then in blocks of 2 x 2 and back
static void sums() {
  const int n = 3;
  std::vector<int> ao = {0, 2, 4, 5}, ac = {0, 1, 1, 2, 0}, bo = {0, 2, 3, 5}, bc = {1, 2, 1, 0, 2};
  Vector av = {1, 2, 3, 4, 5}, bv = {6, 7, 8, 9, 10}, dense(n * n);
  for (int i = 0; i < n; i++) {
    for (int k = ao[i]; k < ao[i + 1]; k++) dense[i * n + ac[k]] += 2 * av[k];
    for (int k = bo[i]; k < bo[i + 1]; k++) dense[i * n + bc[k]] -= bv[k];
  }
  int *dao = upload(ao), *dac = upload(ac), *dbo = upload(bo), *dbc = upload(bc),
      *dco = upload(std::vector<int>(n + 1)), count = 0;
  double *dav = upload(av), *dbv = upload(bv), two = 2, minus = -1;
  cusparseMatDescr_t d;
  OK(cusparseCreateMatDescr(&d));
  size_t bytes = 0;
  OK(cusparseDcsrgeam2_bufferSizeExt(h, n, n, &two, d, 5, dav, dao, dac, &minus, d, 5, dbv, dbo,
                                     dbc, d, dav, dco, dac, &bytes));
  void *space = buffer(bytes);
  OK(cusparseXcsrgeam2Nnz(h, n, n, d, 5, dao, dac, d, 5, dbo, dbc, d, dco, &count, space));
  if (count != 7) printf("csrgeam2: %d elements\n", count), bad++;
  int *dcc = upload(std::vector<int>(count));
  double *dcv = upload(Vector(count));
  OK(cusparseDcsrgeam2(h, n, n, &two, d, 5, dav, dao, dac, &minus, d, 5, dbv, dbo, dbc, d, dcv, dco,
                       dcc, space));
  auto dense_of = [&](const int *po, const int *pc, const double *pv, int rows) {
    std::vector<int> o(rows + 1);
    cudaMemcpy(o.data(), po, o.size() * sizeof(int), cudaMemcpyDeviceToHost);
    std::vector<int> c(o[rows]);
    cudaMemcpy(c.data(), pc, c.size() * sizeof(int), cudaMemcpyDeviceToHost);
    Vector v = download(pv, c.size()), out(n * n);
    for (int i = 0; i < n; i++)
      for (int k = o[i]; k < o[i + 1]; k++)
        if (c[k] < n) out[i * n + c[k]] = v[k];
    return out;
  };
  compare("csrgeam2", dense_of(dco, dcc, dcv, n), dense);
  int blocks = 0, *offsets = upload(std::vector<int>(3));
  auto rows = CUSPARSE_DIRECTION_ROW;
  OK(cusparseXcsr2bsrNnz(h, rows, n, n, d, dco, dcc, 2, d, offsets, &blocks));
  if (blocks != 4) printf("csr2bsr: %d blocks\n", blocks), bad++;
  int *columns = upload(std::vector<int>(blocks)), *eo = upload(std::vector<int>(5)),
      *ec = upload(std::vector<int>(4 * blocks));
  double *values = upload(Vector(4 * blocks)), *ev = upload(Vector(4 * blocks));
  OK(cusparseDcsr2bsr(h, rows, n, n, d, dcv, dco, dcc, 2, d, values, offsets, columns));
  compare("csr2bsr", download(values, 4),
          {dense[0], dense[1], dense[n], dense[n + 1]});
  OK(cusparseDbsr2csr(h, rows, 2, 2, d, values, offsets, columns, 2, d, ev, eo, ec));
  compare("bsr2csr", dense_of(eo, ec, ev, 4), dense);
  OK(cusparseDestroyMatDescr(d));
}

static void nonzeros() {  // of 3 x 4 elements, columns 5 apart
  std::vector<float> a(20, 9);
  for (int j = 0; j < 4; j++)
    for (int i = 0; i < 3; i++) a[i + j * 5] = i <= j ? 1 : 0;
  float *da = upload(a);
  int *each, total = 0;
  cudaMalloc(&each, 4 * sizeof *each);
  cusparseMatDescr_t descr;
  OK(cusparseCreateMatDescr(&descr));
  for (int direction = 0; direction < 2; direction++) {
    int got[4] = {0};
    OK(cusparseSnnz(h, (cusparseDirection_t)direction, 3, 4, descr, da, 5, each, &total));
    cudaMemcpy(got, each, (3 + direction) * sizeof *got, cudaMemcpyDeviceToHost);
    bool right = direction ? got[0] == 1 && got[1] == 2 && got[2] == 3 && got[3] == 3
                           : got[0] == 4 && got[1] == 3 && got[2] == 2;
    if (total != 9 || !right) printf("nnz: %d %d %d %d\n", total, got[0], got[1], got[2]), bad++;
  }
}

int main() {
  OK(cusparseCreate(&h));
  nonzeros();
  sums();
  tridiagonal();
  factors();
  blocks();
  OK(cusparseDestroy(h));
  if (cudaDeviceSynchronize()) printf("the device failed\n"), bad++;
  printf("%d wrong\n", bad);
  return bad != 0;
}
