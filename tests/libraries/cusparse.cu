// cuSPARSE's generic interface for the four types, all formats and index types against loops over
// dense matrices in double.
// nvcc: -std=c++17 -Xcompiler -Wno-deprecated-declarations -lcusparse
#include <cusparse.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

typedef std::complex<double> Z;
typedef std::vector<Z> Matrix;  // column-major, without gaps
static int bad;
static cusparseHandle_t h;
#define OK(call) \
  do { \
    int status_ = (int)(call); \
    if (status_) printf("line %d, %s: status %d\n", __LINE__, #call, status_), bad++; \
  } while (0)

// --- types and matrices ---

static void put(float &to, Z x) { to = (float)x.real(); }
static void put(double &to, Z x) { to = x.real(); }
static void put(cuComplex &to, Z x) { to = make_cuComplex((float)x.real(), (float)x.imag()); }
static void put(cuDoubleComplex &to, Z x) { to = make_cuDoubleComplex(x.real(), x.imag()); }
static Z take(float x) { return x; }
static Z take(double x) { return x; }
static Z take(cuComplex x) { return Z(x.x, x.y); }
static Z take(cuDoubleComplex x) { return Z(x.x, x.y); }
template <cudaDataType D, bool C> struct Traits {
  static const cudaDataType data = D;
  static const bool complex = C;
};
template <class T> struct Type;
template <> struct Type<float> : Traits<CUDA_R_32F, false> {};
template <> struct Type<double> : Traits<CUDA_R_64F, false> {};
template <> struct Type<cuComplex> : Traits<CUDA_C_32F, true> {};
template <> struct Type<cuDoubleComplex> : Traits<CUDA_C_64F, true> {};

template <class T> static Matrix random_matrix(int rows, int columns, unsigned seed, int density) {
  Matrix m(rows * columns);
  for (auto &x : m) {
    unsigned n[3];
    for (unsigned &p : n) p = (seed = seed * 1103515245 + 12345) >> 8 & 0xffff;
    if ((int)(n[2] % 100) < density)
      x = Z(n[0] / 32768.0 - 0.9, Type<T>::complex ? n[1] / 32768.0 - 1 : 0);
  }
  return m;
}
static Matrix apply(const Matrix &a, int rows, int columns, int op) {
  if (!op) return a;
  Matrix out(a.size());
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < rows; i++)
      out[j + i * columns] = op == 2 ? std::conj(a[i + j * rows]) : a[i + j * rows];
  return out;
}
static Matrix product(const Matrix &a, const Matrix &b, int m, int k, int n) {
  Matrix c(m * n);
  for (int j = 0; j < n; j++)
    for (int l = 0; l < k; l++)
      for (int i = 0; i < m; i++) c[i + j * m] += a[i + l * m] * b[l + j * k];
  return c;
}
template <class T> static T *upload(const std::vector<T> &v) {
  T *p;
  cudaMalloc(&p, (v.size() + 1) * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T> static T *upload(const Matrix &m) {
  std::vector<T> v(m.size());
  for (size_t i = 0; i < m.size(); i++) put(v[i], m[i]);
  return upload(v);
}
template <class T> static T *empty(size_t n) {
  T *p;
  cudaMalloc(&p, (n + 1) * sizeof(T));
  return p;
}
template <class T> static std::vector<T> get(const T *p, size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}
template <class T> static Matrix download(const T *p, size_t n) {
  Matrix m;
  for (T x : get(p, n)) m.push_back(take(x));
  return m;
}
template <class T> static void compare(const char *what, const Matrix &got, const Matrix &want) {
  double error = 0, norm = 1, tolerance = Type<T>::data % 4 == CUDA_R_32F ? 1e-5 : 1e-13;
  for (size_t i = 0; i < want.size(); i++) {
    error = std::fmax(error, std::abs(got[i] - want[i]));
    norm = std::fmax(norm, std::abs(want[i]));
  }
  if (!(error <= tolerance * norm) || got.size() != want.size())
    printf("%s, type %d: error %g of %g\n", what, (int)Type<T>::data, error, norm), bad++;
}

// --- a matrix in each format ---

template <class I> struct Lines {  // compressed rows, or columns of the transposed matrix
  std::vector<I> offsets, indices, rows;
  Matrix values;
};
template <class I> static Lines<I> compress(const Matrix &a, int rows, int columns, int base) {
  Lines<I> l;
  for (int i = 0; i < rows; i++) {
    l.offsets.push_back((I)l.values.size() + base);
    for (int j = 0; j < columns; j++)
      if (a[i + j * rows] != Z(0)) {
        l.rows.push_back(i + base), l.indices.push_back(j + base);
        l.values.push_back(a[i + j * rows]);
      }
  }
  l.offsets.push_back((I)l.values.size() + base);
  return l;
}
template <class T, class I>
static cusparseSpMatDescr_t sparse(const Matrix &a, int rows, int columns, int format,
                                   int at_one) {
  auto index = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  auto base = at_one ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  auto type = Type<T>::data;
  cusparseSpMatDescr_t d = NULL;
  if (format == CUSPARSE_FORMAT_CSC) {
    auto l = compress<I>(apply(a, rows, columns, 1), columns, rows, at_one);
    OK(cusparseCreateCsc(&d, rows, columns, l.values.size(), upload(l.offsets), upload(l.indices),
                         upload<T>(l.values), index, index, base, type));
    return d;
  }
  auto l = compress<I>(a, rows, columns, at_one);
  size_t n = l.values.size();
  if (format == CUSPARSE_FORMAT_CSR)
    OK(cusparseCreateCsr(&d, rows, columns, n, upload(l.offsets), upload(l.indices),
                         upload<T>(l.values), index, index, base, type));
  if (format == CUSPARSE_FORMAT_COO)
    OK(cusparseCreateCoo(&d, rows, columns, n, upload(l.rows), upload(l.indices),
                         upload<T>(l.values), index, base, type));
  if (format == CUSPARSE_FORMAT_SLICED_ELLPACK) {
    const int slice = 4;
    std::vector<I> offsets(1, at_one), indices;
    Matrix values;
    for (int first = 0; first < rows; first += slice) {
      int width = 0;
      for (int i = first; i < first + slice && i < rows; i++)
        width = std::max(width, (int)(l.offsets[i + 1] - l.offsets[i]));
      for (int k = 0; k < width; k++)
        for (int i = first; i < first + slice; i++) {
          bool there = i < rows && k < l.offsets[i + 1] - l.offsets[i];
          indices.push_back(there ? l.indices[l.offsets[i] - at_one + k] : -1);
          values.push_back(there ? l.values[l.offsets[i] - at_one + k] : Z(0));
        }
      offsets.push_back((I)values.size() + at_one);
    }
    OK(cusparseCreateSlicedEll(&d, rows, columns, n, values.size(), slice, upload(offsets),
                               upload(indices), upload<T>(values), index, index, base, type));
  }
  return d;
}

enum { M = 19, N = 23, K = 5 };
static const int formats[] = {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO};

template <class T, class I> static void products() {
  auto type = Type<T>::data;
  Matrix a = random_matrix<T>(M, N, 1, 30), scalars = random_matrix<T>(2, 1, 2, 100);
  T alpha, beta;
  put(alpha, scalars[0]), put(beta, scalars[1]);
  Z alpha_z = take(alpha), beta_z = take(beta);
  size_t bytes = 0;
  for (int op = 0; op < (Type<T>::complex ? 3 : 2); op++)
    for (int format : formats) {
      int rows = op ? N : M, inner = op ? M : N;
      auto d = sparse<T, I>(a, M, N, format, op & 1);
      Matrix x = random_matrix<T>(inner, 1, 3, 100), y = random_matrix<T>(rows, 1, 4, 100),
             want = product(apply(a, M, N, op), x, rows, inner, 1);
      for (int i = 0; i < rows; i++) want[i] = alpha_z * want[i] + beta_z * y[i];
      T *dy = upload<T>(y);
      cusparseDnVecDescr_t vx, vy;
      OK(cusparseCreateDnVec(&vx, inner, upload<T>(x), type));
      OK(cusparseCreateDnVec(&vy, rows, dy, type));
      OK(cusparseSpMV_bufferSize(h, (cusparseOperation_t)op, &alpha, d, vx, &beta, vy, type,
                                 CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
      OK(cusparseSpMV(h, (cusparseOperation_t)op, &alpha, d, vx, &beta, vy, type,
                      CUSPARSE_SPMV_ALG_DEFAULT, empty<char>(bytes)));
      compare<T>("SpMV", download(dy, rows), want);
      for (int opb = 0; opb < 2; opb++)
        for (auto order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
          if (format == CUSPARSE_FORMAT_CSC && order == CUSPARSE_ORDER_ROW) continue;
          int br = opb ? K : inner, bc = opb ? inner : K;
          Matrix b = random_matrix<T>(br, bc, 5, 100),
                 wanted = product(apply(a, M, N, op), apply(b, br, bc, opb), rows, inner, K);
          for (auto &v : wanted) v *= alpha_z;
          bool by_rows = order == CUSPARSE_ORDER_ROW;
          T *dc = empty<T>(rows * K), zero;
          put(zero, 0);
          cusparseDnMatDescr_t db, mc;
          OK(cusparseCreateDnMat(&db, br, bc, by_rows ? bc : br,
                                 upload<T>(by_rows ? apply(b, br, bc, 1) : b), type, order));
          OK(cusparseCreateDnMat(&mc, rows, K, by_rows ? K : rows, dc, type, order));
          OK(cusparseSpMM_bufferSize(h, (cusparseOperation_t)op, (cusparseOperation_t)opb, &alpha,
                                     d, db, &zero, mc, type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
          OK(cusparseSpMM(h, (cusparseOperation_t)op, (cusparseOperation_t)opb, &alpha, d, db,
                          &zero, mc, type, CUSPARSE_SPMM_ALG_DEFAULT, empty<char>(bytes)));
          Matrix got = download(dc, rows * K);
          compare<T>("SpMM", by_rows ? apply(got, K, rows, 1) : got, wanted);
        }
      OK(cusparseDestroySpMat(d));
    }
  auto d = sparse<T, I>(a, M, N, CUSPARSE_FORMAT_SLICED_ELLPACK, 0);
  Matrix x = random_matrix<T>(N, 1, 3, 100), want = product(a, x, M, N, 1);
  T *dy = upload<T>(Matrix(M)), one, zero;
  put(one, 1), put(zero, 0);
  cusparseDnVecDescr_t vx, vy;
  OK(cusparseCreateDnVec(&vx, N, upload<T>(x), type));
  OK(cusparseCreateDnVec(&vy, M, dy, type));
  OK(cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, d, vx, &zero, vy, type,
                             CUSPARSE_SPMV_SELL_ALG1, &bytes));
  OK(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, d, vx, &zero, vy, type,
                  CUSPARSE_SPMV_SELL_ALG1, empty<char>(bytes)));
  compare<T>("SpMV of slices", download(dy, M), want);
}

template <class T> static void blocks() {  // two rows and columns of blocks of 2 x 2
  auto type = Type<T>::data;
  Matrix a = random_matrix<T>(4, 4, 6, 100), b = random_matrix<T>(4, K, 7, 100);
  for (int j = 0; j < 2; j++) a[2 + j * 4] = a[3 + j * 4] = 0;  // block (1, 0) is not stored
  Matrix values;
  for (int block : {0, 1, 3})
    for (int e = 0; e < 4; e++)
      values.push_back(a[block / 2 * 2 + e / 2 + (block % 2 * 2 + e % 2) * 4]);
  cusparseSpMatDescr_t d;
  cusparseDnMatDescr_t db, dc;
  T *c = empty<T>(4 * K), one, zero;
  put(one, 1), put(zero, 0);
  size_t bytes;
  OK(cusparseCreateBsr(&d, 2, 2, 3, 2, 2, upload(std::vector<int>{0, 2, 3}),
                       upload(std::vector<int>{0, 1, 1}), upload<T>(values), CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type, CUSPARSE_ORDER_ROW));
  OK(cusparseCreateDnMat(&db, 4, K, 4, upload<T>(b), type, CUSPARSE_ORDER_COL));
  OK(cusparseCreateDnMat(&dc, 4, K, 4, c, type, CUSPARSE_ORDER_COL));
  OK(cusparseSpMM_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                             &one, d, db, &zero, dc, type, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  OK(cusparseSpMM(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, d,
                  db, &zero, dc, type, CUSPARSE_SPMM_ALG_DEFAULT, empty<char>(bytes)));
  compare<T>("SpMM of blocks", download(c, 4 * K), product(a, b, 4, 4, K));
}

template <class T, class I> static void solves() {
  auto type = Type<T>::data;
  Matrix a = random_matrix<T>(N, N, 8, 40);
  for (int i = 0; i < N; i++) a[i + i * N] = 3;
  T alpha, one;
  put(alpha, 2), put(one, 1);
  size_t bytes;
  for (int fill = 0; fill < 2; fill++)
    for (int unit = 0; unit < 2; unit++)
      for (int op = 0; op < (Type<T>::complex ? 3 : 2); op++) {
        Matrix t = a, x = random_matrix<T>(N, K, 9, 100);
        for (int j = 0; j < N; j++)
          for (int i = 0; i < N; i++) {
            if (fill ? i > j : i < j) t[i + j * N] = 0;
            if (i == j && unit) t[i + j * N] = 1;
          }
        Matrix b = product(apply(t, N, N, op), x, N, N, K), want = x;
        for (auto &v : want) v *= 2;
        auto d = sparse<T, I>(a, N, N, CUSPARSE_FORMAT_CSR, fill);
        OK(cusparseSpMatSetAttribute(d, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
        OK(cusparseSpMatSetAttribute(d, CUSPARSE_SPMAT_DIAG_TYPE, &unit, sizeof unit));
        T *out = empty<T>(N * K), *db = upload<T>(b);
        cusparseDnVecDescr_t vb, vx;
        cusparseSpSVDescr_t plan;
        OK(cusparseCreateDnVec(&vb, N, db, type));
        OK(cusparseCreateDnVec(&vx, N, out, type));
        OK(cusparseSpSV_createDescr(&plan));
        auto o = (cusparseOperation_t)op;
        OK(cusparseSpSV_bufferSize(h, o, &alpha, d, vb, vx, type, CUSPARSE_SPSV_ALG_DEFAULT, plan,
                                   &bytes));
        OK(cusparseSpSV_analysis(h, o, &alpha, d, vb, vx, type, CUSPARSE_SPSV_ALG_DEFAULT, plan,
                                 empty<char>(bytes)));
        OK(cusparseSpSV_solve(h, o, &alpha, d, vb, vx, type, CUSPARSE_SPSV_ALG_DEFAULT, plan));
        compare<T>("SpSV", download(out, N), Matrix(want.begin(), want.begin() + N));
        OK(cusparseSpSV_destroyDescr(plan));
        cusparseDnMatDescr_t mb, mx;
        cusparseSpSMDescr_t many;
        OK(cusparseCreateDnMat(&mb, N, K, N, db, type, CUSPARSE_ORDER_COL));
        OK(cusparseCreateDnMat(&mx, N, K, N, out, type, CUSPARSE_ORDER_COL));
        OK(cusparseSpSM_createDescr(&many));
        OK(cusparseSpSM_bufferSize(h, o, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, d, mb, mx, type,
                                   CUSPARSE_SPSM_ALG_DEFAULT, many, &bytes));
        OK(cusparseSpSM_analysis(h, o, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, d, mb, mx, type,
                                 CUSPARSE_SPSM_ALG_DEFAULT, many, empty<char>(bytes)));
        OK(cusparseSpSM_solve(h, o, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, d, mb, mx, type,
                              CUSPARSE_SPSM_ALG_DEFAULT, many));
        compare<T>("SpSM", download(out, N * K), want);
        OK(cusparseSpSM_destroyDescr(many));
      }
}

// The dense matrix of a result in CSR with indices from 0.
template <class T> static Matrix expand(int *offsets, int *columns, T *values, int m, int n) {
  Matrix out(m * n);
  auto o = get(offsets, m + 1);
  auto c = get(columns, o[m]);
  Matrix v = download(values, o[m]);
  for (int i = 0; i < m; i++)
    for (int k = o[i]; k < o[i + 1]; k++) out[i + c[k] * m] = v[k];
  return out;
}

template <class T> static void sparse_products() {
  auto type = Type<T>::data;
  auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  Matrix a = random_matrix<T>(M, N, 10, 20), b = random_matrix<T>(N, K, 11, 30);
  auto da = sparse<T, int>(a, M, N, CUSPARSE_FORMAT_CSR, 0),
       db = sparse<T, int>(b, N, K, CUSPARSE_FORMAT_CSR, 0);
  T one, zero;
  put(one, 1), put(zero, 0);
  int *offsets = empty<int>(M + 1);
  cusparseSpMatDescr_t dc;
  cusparseSpGEMMDescr_t plan;
  size_t bytes1, bytes2;
  int64_t rows, columns, count;
  auto alg = CUSPARSE_SPGEMM_DEFAULT;
  OK(cusparseCreateCsr(&dc, M, K, 0, offsets, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ZERO, type));
  OK(cusparseSpGEMM_createDescr(&plan));
  OK(cusparseSpGEMM_workEstimation(h, none, none, &one, da, db, &zero, dc, type, alg, plan, &bytes1,
                                   NULL));
  OK(cusparseSpGEMM_workEstimation(h, none, none, &one, da, db, &zero, dc, type, alg, plan, &bytes1,
                                   empty<char>(bytes1)));
  OK(cusparseSpGEMM_compute(h, none, none, &one, da, db, &zero, dc, type, alg, plan, &bytes2,
                            NULL));
  OK(cusparseSpGEMM_compute(h, none, none, &one, da, db, &zero, dc, type, alg, plan, &bytes2,
                            empty<char>(bytes2)));
  OK(cusparseSpMatGetSize(dc, &rows, &columns, &count));
  int *indices = empty<int>(count);
  T *values = empty<T>(count);
  OK(cusparseCsrSetPointers(dc, offsets, indices, values));
  OK(cusparseSpGEMM_copy(h, none, none, &one, da, db, &zero, dc, type, alg, plan));
  compare<T>("SpGEMM", expand(offsets, indices, values, M, K), product(a, b, M, N, K));
  OK(cusparseSpGEMM_destroyDescr(plan));

  Matrix x = random_matrix<T>(M, N, 12, 100), y = random_matrix<T>(N, K, 13, 100),
         pattern = random_matrix<T>(M, K, 14, 40), want = product(x, y, M, N, K);
  auto ds = sparse<T, int>(pattern, M, K, CUSPARSE_FORMAT_CSR, 0);
  cusparseDnMatDescr_t dx, dy;
  size_t bytes;
  void *po, *pc, *pv;
  cusparseIndexType_t to, tc;
  cusparseIndexBase_t base;
  cudaDataType tv;
  OK(cusparseCreateDnMat(&dx, M, N, M, upload<T>(x), type, CUSPARSE_ORDER_COL));
  OK(cusparseCreateDnMat(&dy, N, K, N, upload<T>(y), type, CUSPARSE_ORDER_COL));
  OK(cusparseSDDMM_bufferSize(h, none, none, &one, dx, dy, &one, ds, type,
                              CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
  OK(cusparseSDDMM(h, none, none, &one, dx, dy, &one, ds, type, CUSPARSE_SDDMM_ALG_DEFAULT,
                   empty<char>(bytes)));
  OK(cusparseCsrGet(ds, &rows, &columns, &count, &po, &pc, &pv, &to, &tc, &base, &tv));
  for (int i = 0; i < M * K; i++) want[i] = pattern[i] == Z(0) ? Z(0) : want[i] + pattern[i];
  compare<T>("SDDMM", expand((int *)po, (int *)pc, (T *)pv, M, K), want);
}

template <class T> static void conversions() {
  auto type = Type<T>::data;
  Matrix a = random_matrix<T>(M, N, 15, 25);
  size_t bytes;
  int64_t rows, columns, count;
  for (int format : formats) {
    auto d = sparse<T, int>(a, M, N, format, 1);
    cusparseDnMatDescr_t dense;
    T *out = empty<T>(M * N);
    OK(cusparseCreateDnMat(&dense, M, N, M, out, type, CUSPARSE_ORDER_COL));
    OK(cusparseSparseToDense_bufferSize(h, d, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes));
    OK(cusparseSparseToDense(h, d, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, empty<char>(bytes)));
    compare<T>("SparseToDense", download(out, M * N), a);
    if (format != CUSPARSE_FORMAT_CSR) continue;
    int *offsets = empty<int>(M + 1);
    cusparseSpMatDescr_t back;
    OK(cusparseCreateCsr(&back, M, N, 0, offsets, NULL, NULL, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    OK(cusparseDenseToSparse_bufferSize(h, dense, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                        &bytes));
    char *buffer = empty<char>(bytes);
    OK(cusparseDenseToSparse_analysis(h, dense, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    OK(cusparseSpMatGetSize(back, &rows, &columns, &count));
    int *indices = empty<int>(count);
    T *values = empty<T>(count);
    OK(cusparseCsrSetPointers(back, offsets, indices, values));
    OK(cusparseDenseToSparse_convert(h, dense, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    compare<T>("DenseToSparse", expand(offsets, indices, values, M, N), a);
    int *column_offsets = empty<int>(N + 1), *row_indices = empty<int>(count),
        *row_of = empty<int>(count), *again = empty<int>(M + 1);
    T *transposed = empty<T>(count);
    OK(cusparseCsr2cscEx2_bufferSize(h, M, N, (int)count, values, offsets, indices, transposed,
                                     column_offsets, row_indices, type, CUSPARSE_ACTION_NUMERIC,
                                     CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &bytes));
    OK(cusparseCsr2cscEx2(h, M, N, (int)count, values, offsets, indices, transposed, column_offsets,
                          row_indices, type, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                          CUSPARSE_CSR2CSC_ALG1, empty<char>(bytes)));
    compare<T>("Csr2cscEx2", expand(column_offsets, row_indices, transposed, N, M),
               apply(a, M, N, 1));
    OK(cusparseXcsr2coo(h, offsets, (int)count, M, row_of, CUSPARSE_INDEX_BASE_ZERO));
    OK(cusparseXcoo2csr(h, row_of, (int)count, M, again, CUSPARSE_INDEX_BASE_ZERO));
    if (get(again, M + 1) != get(offsets, M + 1)) printf("coo2csr\n"), bad++;
    int *p = empty<int>(count);
    OK(cusparseCreateIdentityPermutation(h, (int)count, p));
    OK(cusparseXcoosort_bufferSizeExt(h, M, N, (int)count, row_of, indices, &bytes));
    OK(cusparseXcoosortByColumn(h, M, N, (int)count, row_of, indices, p, empty<char>(bytes)));
    Matrix by_column, sorted = download(values, count);
    for (int i : get(p, count)) by_column.push_back(sorted[i]);
    compare<T>("coosort", by_column, download(transposed, count));
  }
}

template <class T> static void vectors() {
  auto type = Type<T>::data;
  Matrix x = random_matrix<T>(4, 1, 16, 100), y = random_matrix<T>(N, 1, 17, 100), want = y;
  std::vector<int> at = {2, 5, 11, 20};
  T *dx = upload<T>(x), *dy = upload<T>(y), alpha, beta, dot;
  put(alpha, 2), put(beta, 3);
  cusparseSpVecDescr_t vx;
  cusparseDnVecDescr_t vy;
  size_t bytes;
  OK(cusparseCreateSpVec(&vx, N, 4, upload(at), dx, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                         type));
  OK(cusparseCreateDnVec(&vy, N, dy, type));
  OK(cusparseAxpby(h, &alpha, vx, &beta, vy));
  for (auto &v : want) v *= 3;
  for (int i = 0; i < 4; i++) want[at[i]] += 2.0 * x[i];
  compare<T>("Axpby", download(dy, N), want);
  OK(cusparseSpVV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, vx, vy, &dot, type, &bytes));
  OK(cusparseSpVV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, vx, vy, &dot, type, empty<char>(bytes)));
  Z sum = 0;
  for (int i = 0; i < 4; i++) sum += x[i] * want[at[i]];
  compare<T>("SpVV", Matrix(1, take(dot)), Matrix(1, sum));
  OK(cusparseGather(h, vy, vx));
  for (int i = 0; i < 4; i++) x[i] = want[at[i]];
  compare<T>("Gather", download(dx, 4), x);
  cudaMemset(dy, 0, N * sizeof(T));
  OK(cusparseScatter(h, vx, vy));
  Matrix only(N);
  for (int i = 0; i < 4; i++) only[at[i]] = x[i];
  compare<T>("Scatter", download(dy, N), only);
}

template <class T> static void all() {
  products<T, int>();
  products<T, int64_t>();
  blocks<T>();
  solves<T, int>();
  sparse_products<T>();
  conversions<T>();
  vectors<T>();
}

int main() {
  OK(cusparseCreate(&h));
  all<float>();
  all<double>();
  all<cuComplex>();
  all<cuDoubleComplex>();
  OK(cusparseDestroy(h));
  if (cudaDeviceSynchronize()) printf("the device failed\n"), bad++;
  printf("%d wrong\n", bad);
  return bad != 0;
}
