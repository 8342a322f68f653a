// Products with types chosen at run time: cublasGemmEx and its batched forms, cublasHgemm,
// cublasSgemmEx; and the level 1 functions of that kind.
#include "libraries/cublas/internal.h"

#include <math.h>

// Programs in C may still give a cudaDataType.
static Compute compute_of(int type) {
  switch (type) {
    case R_32F:
    case C_32F: return COMPUTE_32F;
    case R_64F:
    case C_64F: return COMPUTE_64F;
    case R_16F: return COMPUTE_16F;
    case R_32I: return COMPUTE_32I;
    default: return (Compute)type;
  }
}

static bool is_compute(Compute c) {
  return c >= COMPUTE_16F && c <= COMPUTE_64F_EMULATED && c != 66 && c != 67 && c != 76;
}

// Alpha and beta are taken when their type is known.
typedef struct Scales {
  const void *alpha, *beta;
} Scales;

static Status multiply(const Handle *h, const char *name, GemmWork *g, Scales s) {
  if (!is_compute(g->compute)) return refuse(name, "the type of the computation is none");
  g->d = g->c;
  if (!gemm_scale_type(g)) {
    warpgrind_library_services.refused(name, "these types of A, B, C and of the computation do not "
                                             "go together");
    return NOT_SUPPORTED;
  }
  if (!s.alpha || !s.beta) return refuse(name, "alpha or beta is a null pointer");
  g->alpha = scalar_take(h, s.alpha, number_bytes(g->scale));
  g->beta = scalar_take(h, s.beta, number_bytes(g->scale));
  return gemm_submit(h, name, g);
}

#define SHAPE .transa = operation(transa), .transb = operation(transb), .m = m, .n = n, .k = k
// Matrices without strides.
#define MATRICES(count, at, bt, ct) \
  .batch = count, .a = {a, at, lda, 0}, .b = {b, bt, ldb, 0}, .c = {c, ct, ldc, 0}
#define EX(INT, SUFFIX) \
  EXPORT Status cublasGemmEx##SUFFIX(const Handle *h, int transa, int transb, INT m, INT n, INT k, \
                                     const void *alpha, const void *a, int at, INT lda, \
                                     const void *b, int bt, INT ldb, const void *beta, void *c, \
                                     int ct, INT ldc, int compute, int algo) { \
    BEGIN(h, "cublasGemmEx"); \
    GemmWork g = {SHAPE, \
                  MATRICES(1, at, bt, ct), \
                  .compute = compute_of(compute)}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  } \
  EXPORT Status cublasGemmBatchedEx##SUFFIX( \
      const Handle *h, int transa, int transb, INT m, INT n, INT k, const void *alpha, \
      const void *const *a, int at, INT lda, const void *const *b, int bt, INT ldb, \
      const void *beta, void *const *c, int ct, INT ldc, INT batch, int compute, int algo) { \
    BEGIN(h, "cublasGemmBatchedEx"); \
    GemmWork g = {SHAPE, \
                  MATRICES(batch, at, bt, ct), \
                  .compute = compute_of(compute), \
                  .pointers = true}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  } \
  EXPORT Status cublasGemmStridedBatchedEx##SUFFIX( \
      const Handle *h, int transa, int transb, INT m, INT n, INT k, const void *alpha, \
      const void *a, int at, INT lda, long long sa, const void *b, int bt, INT ldb, long long sb, \
      const void *beta, void *c, int ct, INT ldc, long long sc, INT batch, int compute, \
      int algo) { \
    BEGIN(h, "cublasGemmStridedBatchedEx"); \
    GemmWork g = {SHAPE, \
                  .batch = batch, \
                  .a = {a, at, lda, sa}, \
                  .b = {b, bt, ldb, sb}, \
                  .c = {c, ct, ldc, sc}, \
                  .compute = compute_of(compute)}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  } \
  EXPORT Status cublasSgemmEx##SUFFIX(const Handle *h, int transa, int transb, INT m, INT n, \
                                      INT k, const float *alpha, const void *a, int at, INT lda, \
                                      const void *b, int bt, INT ldb, const float *beta, void *c, \
                                      int ct, INT ldc) { \
    BEGIN(h, "cublasSgemmEx"); \
    GemmWork g = {SHAPE, \
                  MATRICES(1, at, bt, ct), \
                  .compute = COMPUTE_32F}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  } \
  EXPORT Status cublasCgemmEx##SUFFIX(const Handle *h, int transa, int transb, INT m, INT n, \
                                      INT k, const void *alpha, const void *a, int at, INT lda, \
                                      const void *b, int bt, INT ldb, const void *beta, void *c, \
                                      int ct, INT ldc) { \
    BEGIN(h, "cublasCgemmEx"); \
    GemmWork g = {SHAPE, \
                  MATRICES(1, at, bt, ct), \
                  .compute = COMPUTE_32F}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  } \
  EXPORT Status cublasHgemm##SUFFIX(const Handle *h, int transa, int transb, INT m, INT n, INT k, \
                                    const void *alpha, const void *a, INT lda, const void *b, \
                                    INT ldb, const void *beta, void *c, INT ldc) { \
    BEGIN(h, "cublasHgemm"); \
    GemmWork g = {SHAPE, \
                  MATRICES(1, R_16F, R_16F, R_16F), \
                  .compute = COMPUTE_16F}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  } \
  EXPORT Status cublasHgemmBatched##SUFFIX(const Handle *h, int transa, int transb, INT m, INT n, \
                                           INT k, const void *alpha, const void *const *a, \
                                           INT lda, const void *const *b, INT ldb, \
                                           const void *beta, void *const *c, INT ldc, INT batch) { \
    BEGIN(h, "cublasHgemmBatched"); \
    GemmWork g = {SHAPE, \
                  MATRICES(batch, R_16F, R_16F, R_16F), \
                  .compute = COMPUTE_16F, \
                  .pointers = true}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  } \
  EXPORT Status cublasHgemmStridedBatched##SUFFIX( \
      const Handle *h, int transa, int transb, INT m, INT n, INT k, const void *alpha, \
      const void *a, INT lda, long long sa, const void *b, INT ldb, long long sb, \
      const void *beta, void *c, INT ldc, long long sc, INT batch) { \
    BEGIN(h, "cublasHgemmStridedBatched"); \
    GemmWork g = {SHAPE, \
                  .batch = batch, \
                  .a = {a, R_16F, lda, sa}, \
                  .b = {b, R_16F, ldb, sb}, \
                  .c = {c, R_16F, ldc, sc}, \
                  .compute = COMPUTE_16F}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  }
EX(int, )
EX(int64_t, _64)

// --- level 1 with types chosen at run time ---

typedef struct VectorEx {
  int64_t n, incx, incy;
  const void *x;
  void *y, *result;
  DataType xt, yt, rt, at;
  Scalar alpha;
  bool conjugates;
} VectorEx;

static void load(double *to, const void *p, DataType t, int64_t n, int64_t inc, int64_t i) {
  int64_t first = inc < 0 ? (1 - n) * inc : 0;
  to[1] = 0;
  numbers_widen(to, (const char *)p + (first + i * inc) * (int64_t)number_bytes(t), t, 1);
}
static void store(void *p, DataType t, int64_t n, int64_t inc, int64_t i, const double *x) {
  int64_t first = inc < 0 ? (1 - n) * inc : 0;
  numbers_narrow((char *)p + (first + i * inc) * (int64_t)number_bytes(t), t, x, 1);
}

static void run_dot(void *p) {
  VectorEx *w = p;
  double sum[2] = {0};
  for (int64_t i = 0; i < w->n; i++) {
    double x[2], y[2];
    load(x, w->x, w->xt, w->n, w->incx, i);
    load(y, w->y, w->yt, w->n, w->incy, i);
    if (w->conjugates) x[1] = -x[1];
    sum[0] += x[0] * y[0] - x[1] * y[1];
    sum[1] += x[0] * y[1] + x[1] * y[0];
  }
  store(w->result, w->rt, 1, 1, 0, sum);
}
static void run_nrm2(void *p) {
  VectorEx *w = p;
  double sum = 0, out[2] = {0};
  for (int64_t i = 0; i < w->n; i++) {
    double x[2];
    load(x, w->x, w->xt, w->n, w->incx, i);
    sum += x[0] * x[0] + x[1] * x[1];
  }
  out[0] = sqrt(sum);
  store(w->result, w->rt, 1, 1, 0, out);
}
static void run_axpy(void *p) {
  VectorEx *w = p;
  double a[2] = {0};
  numbers_widen(a, scalar(&w->alpha), w->at, 1);
  for (int64_t i = 0; i < w->n; i++) {
    double x[2], y[2];
    load(x, w->x, w->xt, w->n, w->incx, i);
    load(y, w->y, w->yt, w->n, w->incy, i);
    y[0] += a[0] * x[0] - a[1] * x[1];
    y[1] += a[0] * x[1] + a[1] * x[0];
    store(w->y, w->yt, w->n, w->incy, i, y);
  }
}
static void run_scal(void *p) {
  VectorEx *w = p;
  double a[2] = {0};
  numbers_widen(a, scalar(&w->alpha), w->at, 1);
  for (int64_t i = 0; i < w->n; i++) {
    double x[2], y[2];
    load(x, w->x, w->xt, w->n, w->incx, i);
    y[0] = a[0] * x[0] - a[1] * x[1];
    y[1] = a[0] * x[1] + a[1] * x[0];
    store((void *)w->x, w->xt, w->n, w->incx, i, y);
  }
}

static Element element_of(DataType t) { return (Element){number_bytes(t), number_format(t)}; }

static Status vector_call(const Handle *h, const char *name, void (*run)(void *), VectorEx *w,
                          unsigned x_access, unsigned y_access) {
  if (!number_bytes(w->xt) || (w->y && !number_bytes(w->yt)) || (w->result && !number_bytes(w->rt)))
    return refuse(name, "the type of an operand is not one that is served");
  LibraryCall c = {.name = name, .run = run, .arguments = w, .argument_bytes = sizeof *w};
  uint64_t n = (uint64_t)MAX_OF(w->n, 0);
  add_vector(&c, operand_of_vector("x", w->x, element_of(w->xt), n, w->incx), x_access);
  if (w->y) add_vector(&c, operand_of_vector("y", w->y, element_of(w->yt), n, w->incy), y_access);
  if (w->result && h->device_pointers)
    add_vector(&c, operand_of_vector("result", w->result, element_of(w->rt), 1, 1), OPERAND_WRITE);
  c.waits = w->result && !h->device_pointers;
  call_scalar(&c, "alpha", &w->alpha, element_of(w->at));
  return submit(h, &c);
}

#define VECTOR_EX(INT, SUFFIX) \
  EXPORT Status cublasDotEx##SUFFIX(const Handle *h, INT n, const void *x, int xt, INT incx, \
                                    const void *y, int yt, INT incy, void *result, int rt, \
                                    int execution) { \
    BEGIN(h, "cublasDotEx"); \
    VectorEx w = {n, incx, incy, x, (void *)y, result, xt, yt, rt}; \
    return vector_call(h, call_name, run_dot, &w, OPERAND_READ, OPERAND_READ); \
  } \
  EXPORT Status cublasDotcEx##SUFFIX(const Handle *h, INT n, const void *x, int xt, INT incx, \
                                     const void *y, int yt, INT incy, void *result, int rt, \
                                     int execution) { \
    BEGIN(h, "cublasDotcEx"); \
    VectorEx w = {n, incx, incy, x, (void *)y, result, xt, yt, rt, .conjugates = true}; \
    return vector_call(h, call_name, run_dot, &w, OPERAND_READ, OPERAND_READ); \
  } \
  EXPORT Status cublasNrm2Ex##SUFFIX(const Handle *h, INT n, const void *x, int xt, INT incx, \
                                     void *result, int rt, int execution) { \
    BEGIN(h, "cublasNrm2Ex"); \
    VectorEx w = {n, incx, .x = x, .result = result, .xt = xt, .rt = rt}; \
    return vector_call(h, call_name, run_nrm2, &w, OPERAND_READ, 0); \
  } \
  EXPORT Status cublasAxpyEx##SUFFIX(const Handle *h, INT n, const void *alpha, int at, \
                                     const void *x, int xt, INT incx, void *y, int yt, INT incy, \
                                     int execution) { \
    BEGIN(h, "cublasAxpyEx"); \
    REQUIRE(alpha &&number_bytes(at), "alpha is null, or of a type that is not served"); \
    VectorEx w = {n,        incx,     incy, \
                  x,        y,        .xt = xt, \
                  .yt = yt, .at = at, .alpha = scalar_take(h, alpha, number_bytes(at))}; \
    return vector_call(h, call_name, run_axpy, &w, OPERAND_READ, OPERAND_READ | OPERAND_WRITE); \
  } \
  EXPORT Status cublasScalEx##SUFFIX(const Handle *h, INT n, const void *alpha, int at, void *x, \
                                     int xt, INT incx, int execution) { \
    BEGIN(h, "cublasScalEx"); \
    REQUIRE(alpha &&number_bytes(at), "alpha is null, or of a type that is not served"); \
    VectorEx w = {n,        incx,     .x = x, \
                  .xt = xt, .at = at, .alpha = scalar_take(h, alpha, number_bytes(at))}; \
    return vector_call(h, call_name, run_scal, &w, OPERAND_READ | OPERAND_WRITE, 0); \
  }
VECTOR_EX(int, )
VECTOR_EX(int64_t, _64)
