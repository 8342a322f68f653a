// Level 1 with types chosen at run time: cublasAxpyEx, cublasDotEx …
#include "libraries/cublas/internal.h"

#include <math.h>

typedef struct VectorEx {
  int64_t n, incx, incy;
  const void *x;
  void *y, *result;
  DataType xt, yt, rt, at;
  Scalar alpha, beta;
  bool conjugates, least, wide;
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

static double magnitude(const VectorEx *w, int64_t i) {
  double x[2];
  load(x, w->x, w->xt, w->n, w->incx, i);
  return fabs(x[0]) + fabs(x[1]);
}
static void run_asum(void *p) {
  VectorEx *w = p;
  double sum[2] = {0};
  for (int64_t i = 0; i < w->n; i++) sum[0] += magnitude(w, i);
  store(w->result, w->rt, 1, 1, 0, sum);
}
static void run_index(void *p) {
  VectorEx *w = p;
  int64_t best = 0;
  for (int64_t i = 1; i < w->n; i++) {
    double a = magnitude(w, i), b = magnitude(w, best);
    if (w->least ? a < b : a > b) best = i;
  }
  int64_t found = w->n > 0 && w->incx > 0 ? best + 1 : 0;
  if (w->wide) *(int64_t *)w->result = found;
  else *(int *)w->result = (int)found;
}
static void run_copy(void *p) {
  VectorEx *w = p;
  for (int64_t i = 0; i < w->n; i++) {
    double x[2];
    load(x, w->x, w->xt, w->n, w->incx, i);
    store(w->y, w->yt, w->n, w->incy, i, x);
  }
}
static void run_swap(void *p) {
  VectorEx *w = p;
  for (int64_t i = 0; i < w->n; i++) {
    double x[2], y[2];
    load(x, w->x, w->xt, w->n, w->incx, i);
    load(y, w->y, w->yt, w->n, w->incy, i);
    store(w->y, w->yt, w->n, w->incy, i, x);
    store((void *)w->x, w->xt, w->n, w->incx, i, y);
  }
}
// x = c x + s y, y = c y - conj(s) x
static void run_rot(void *p) {
  VectorEx *w = p;
  double c[2] = {0}, s[2] = {0};
  numbers_widen(c, scalar(&w->alpha), w->at, 1);
  numbers_widen(s, scalar(&w->beta), w->at, 1);
  for (int64_t i = 0; i < w->n; i++) {
    double x[2], y[2];
    load(x, w->x, w->xt, w->n, w->incx, i);
    load(y, w->y, w->yt, w->n, w->incy, i);
    double new_x[] = {c[0] * x[0] + s[0] * y[0] - s[1] * y[1],
                      c[0] * x[1] + s[0] * y[1] + s[1] * y[0]},
           new_y[] = {c[0] * y[0] - s[0] * x[0] - s[1] * x[1],
                      c[0] * y[1] - s[0] * x[1] + s[1] * x[0]};
    store((void *)w->x, w->xt, w->n, w->incx, i, new_x);
    store(w->y, w->yt, w->n, w->incy, i, new_y);
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
  call_scalar(&c, "s", &w->beta, element_of(w->at));
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

enum { BOTH = OPERAND_READ | OPERAND_WRITE };
#define INDEX_EX(name, INT, SUFFIX, least_) \
  EXPORT Status cublas##name##SUFFIX(const Handle *h, INT n, const void *x, int xt, INT incx, \
                                     INT *result) { \
    BEGIN(h, "cublas" #name); \
    REQUIRE(result, "the pointer for the result is null"); \
    VectorEx w = {n, incx, .x = x, .result = result, .xt = xt, .rt = R_32I, .least = least_}; \
    w.wide = sizeof(INT) == 8; \
    return vector_call(h, call_name, run_index, &w, OPERAND_READ, 0); \
  }
#define MORE_EX(INT, SUFFIX) \
  EXPORT Status cublasAsumEx##SUFFIX(const Handle *h, INT n, const void *x, int xt, INT incx, \
                                     void *result, int rt, int execution) { \
    BEGIN(h, "cublasAsumEx"); \
    VectorEx w = {n, incx, .x = x, .result = result, .xt = xt, .rt = rt}; \
    return vector_call(h, call_name, run_asum, &w, OPERAND_READ, 0); \
  } \
  EXPORT Status cublasCopyEx##SUFFIX(const Handle *h, INT n, const void *x, int xt, INT incx, \
                                     void *y, int yt, INT incy) { \
    BEGIN(h, "cublasCopyEx"); \
    VectorEx w = {n, incx, incy, x, y, .xt = xt, .yt = yt}; \
    return vector_call(h, call_name, run_copy, &w, OPERAND_READ, OPERAND_WRITE); \
  } \
  EXPORT Status cublasSwapEx##SUFFIX(const Handle *h, INT n, void *x, int xt, INT incx, void *y, \
                                     int yt, INT incy) { \
    BEGIN(h, "cublasSwapEx"); \
    VectorEx w = {n, incx, incy, x, y, .xt = xt, .yt = yt}; \
    return vector_call(h, call_name, run_swap, &w, BOTH, BOTH); \
  } \
  EXPORT Status cublasRotEx##SUFFIX(const Handle *h, INT n, void *x, int xt, INT incx, void *y, \
                                    int yt, INT incy, const void *c, const void *s, int type, \
                                    int execution) { \
    BEGIN(h, "cublasRotEx"); \
    REQUIRE(c &&s &&number_bytes(type), "c or s is null, or of a type that is not served"); \
    VectorEx w = {n, incx, incy, x, y, .xt = xt, .yt = yt, .at = type}; \
    w.alpha = scalar_take(h, c, number_bytes(type)); \
    w.beta = scalar_take(h, s, number_bytes(type)); \
    return vector_call(h, call_name, run_rot, &w, BOTH, BOTH); \
  } \
  INDEX_EX(IamaxEx, INT, SUFFIX, false) \
  INDEX_EX(IaminEx, INT, SUFFIX, true)
MORE_EX(int, )
MORE_EX(int64_t, _64)
