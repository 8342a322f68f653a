// Level 2 for the type that for_all_types.h sets.
#define MATRIX(rows, columns) \
  operand_of_matrix("A", a, ELEMENT, (uint64_t)(rows), (uint64_t)(columns), (uint64_t)lda)
#define VECTOR(name, p, n, inc) operand_of_vector(name, p, ELEMENT, (uint64_t)(n), inc)
// Packed: the columns of a triangle, one after the other.
#define PACKED(n) operand_of_vector("AP", ap, ELEMENT, (uint64_t)(n) * ((uint64_t)(n) + 1) / 2, 1)
#define SIZES(n) \
  REQUIRE((n) >= 0 && fits(n), "n must be from 0 to 2^31 - 1"); \
  if (!(n)) return SUCCESS
#define INCREMENT(inc) REQUIRE((inc) != 0 && fits(inc), #inc " must not be 0")

#ifdef FIRST
static void LOCAL(run_gemv)(void *p) {
  BlasArguments *w = p;
  BLAS(gemv)
  (&w->transa, &w->m, &w->n, scalar(&w->alpha), w->a, &w->lda, w->x, &w->incx, scalar(&w->beta),
   w->y, &w->incy);
}
static void LOCAL(run_gbmv)(void *p) {
  BlasArguments *w = p;
  BLAS(gbmv)
  (&w->transa, &w->m, &w->n, &w->kl, &w->ku, scalar(&w->alpha), w->a, &w->lda, w->x, &w->incx,
   scalar(&w->beta), w->y, &w->incy);
}
// symv and its relatives: y = alpha A x + beta y
#define RUN_SYMV(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f) \
    (&w->uplo, &w->n, scalar(&w->alpha), w->a, &w->lda, w->x, &w->incx, scalar(&w->beta), w->y, \
     &w->incy); \
  }
#define RUN_SBMV(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f) \
    (&w->uplo, &w->n, &w->k, scalar(&w->alpha), w->a, &w->lda, w->x, &w->incx, scalar(&w->beta), \
     w->y, &w->incy); \
  }
#define RUN_SPMV(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f) \
    (&w->uplo, &w->n, scalar(&w->alpha), w->a, w->x, &w->incx, scalar(&w->beta), w->y, &w->incy); \
  }
#define RUN_TRMV(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f)(&w->uplo, &w->transa, &w->diag, &w->n, w->a, &w->lda, w->x, &w->incx); \
  }
#define RUN_TBMV(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f)(&w->uplo, &w->transa, &w->diag, &w->n, &w->k, w->a, &w->lda, w->x, &w->incx); \
  }
#define RUN_TPMV(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f)(&w->uplo, &w->transa, &w->diag, &w->n, w->a, w->x, &w->incx); \
  }
#define RUN_GER(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f)(&w->m, &w->n, scalar(&w->alpha), w->x, &w->incx, w->y, &w->incy, w->a, &w->lda); \
  }
#define RUN_SYR(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f)(&w->uplo, &w->n, scalar(&w->alpha), w->x, &w->incx, w->a, &w->lda); \
  }
#define RUN_SYR2(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f)(&w->uplo, &w->n, scalar(&w->alpha), w->x, &w->incx, w->y, &w->incy, w->a, &w->lda); \
  }
#define RUN_SPR(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f)(&w->uplo, &w->n, scalar(&w->alpha), w->x, &w->incx, w->a); \
  }
#define RUN_SPR2(f) \
  static void LOCAL(run_##f)(void *p) { \
    BlasArguments *w = p; \
    BLAS(f)(&w->uplo, &w->n, scalar(&w->alpha), w->x, &w->incx, w->y, &w->incy, w->a); \
  }
RUN_TRMV(trmv)
RUN_TRMV(trsv)
RUN_TBMV(tbmv)
RUN_TBMV(tbsv)
RUN_TPMV(tpmv)
RUN_TPMV(tpsv)
RUN_SYMV(symv)
RUN_SYR(syr)
#if REAL
RUN_SBMV(sbmv)
RUN_SPMV(spmv)
RUN_GER(ger)
RUN_SYR2(syr2)
RUN_SPR(spr)
RUN_SPR2(spr2)
#else
RUN_SYMV(hemv)
RUN_SBMV(hbmv)
RUN_SPMV(hpmv)
RUN_GER(geru)
RUN_GER(gerc)
RUN_SYR(her)
RUN_SYR2(her2)
// BLAS has it for real numbers only: A = A + alpha (x y' + y x')
static void LOCAL(run_syr2)(void *p) {
  BlasArguments *w = p;
  E alpha = *(const E *)scalar(&w->alpha), *a = w->a;
  const E *x = w->x, *y = w->y;
  x += w->incx < 0 ? (int64_t)(1 - w->n) * w->incx : 0;
  y += w->incy < 0 ? (int64_t)(1 - w->n) * w->incy : 0;
  for (int64_t j = 0; j < w->n; j++) {
    int64_t from = w->uplo == 'L' ? j : 0, end = w->uplo == 'L' ? w->n : j + 1;
    for (int64_t i = from; i < end; i++)
      a[i + j * w->lda] += alpha *
                           (x[i * w->incx] * y[j * w->incy] + y[i * w->incy] * x[j * w->incx]);
  }
}
RUN_SPR(hpr)
RUN_SPR2(hpr2)
#endif
#undef RUN_TRMV
#undef RUN_TBMV
#undef RUN_TPMV
#undef RUN_SYMV
#undef RUN_SBMV
#undef RUN_SPMV
#undef RUN_GER
#undef RUN_SYR
#undef RUN_SYR2
#undef RUN_SPR
#undef RUN_SPR2
#endif

// y = alpha op(A) x + beta y
#define GENERAL \
  .transa = operation(trans), .m = (int)m, .n = (int)n, .lda = (int)lda, .incx = (int)incx, \
  .incy = (int)incy, .alpha = scalar_take(h, alpha, sizeof(E)), \
  .beta = scalar_take(h, beta, sizeof(E)), .a = (void *)a, .x = (void *)x, .y = y
EXPORT Status API(gemv)(const Handle *h, int trans, INT m, INT n, const E *alpha, const E *a,
                        INT lda, const E *x, INT incx, const E *beta, E *y, INT incy) {
  BEGIN(h, NAME(gemv));
  REQUIRE(m >= 0 && n >= 0 && fits(m) && fits(n), "m and n must be from 0 to 2^31 - 1");
  REQUIRE(lda >= MAX_OF(1, m), "lda is smaller than the number of rows of A");
  INCREMENT(incx);
  INCREMENT(incy);
  if (!m || !n) return SUCCESS;
  BlasArguments w = {GENERAL};
  LibraryCall c = {.name = call_name, .run = LOCAL(run_gemv)};
  add_matrix(&c, MATRIX(m, n), OPERAND_READ, OPERAND_FULL);
  add_vector(&c, VECTOR("x", x, trans == 0 ? n : m, incx), OPERAND_READ);
  add_vector(&c, VECTOR("y", y, trans == 0 ? m : n, incy), access_of_y(&w, sizeof(E)));
  return finish(h, &c, &w, ELEMENT);
}

EXPORT Status API(gbmv)(const Handle *h, int trans, INT m, INT n, INT kl, INT ku, const E *alpha,
                        const E *a, INT lda, const E *x, INT incx, const E *beta, E *y, INT incy) {
  BEGIN(h, NAME(gbmv));
  REQUIRE(m >= 0 && n >= 0 && kl >= 0 && ku >= 0 && fits(m) && fits(n),
          "a size is negative or above 2^31 - 1");
  REQUIRE(lda >= kl + ku + 1, "lda is smaller than kl + ku + 1");
  INCREMENT(incx);
  INCREMENT(incy);
  if (!m || !n) return SUCCESS;
  BlasArguments w = {GENERAL, .kl = (int)kl, .ku = (int)ku};
  LibraryCall c = {.name = call_name, .run = LOCAL(run_gbmv)};
  add_matrix(&c, MATRIX(kl + ku + 1, n), OPERAND_READ | OPERAND_PARTLY, OPERAND_FULL);
  add_vector(&c, VECTOR("x", x, trans == 0 ? n : m, incx), OPERAND_READ);
  add_vector(&c, VECTOR("y", y, trans == 0 ? m : n, incy), access_of_y(&w, sizeof(E)));
  return finish(h, &c, &w, ELEMENT);
}

#undef GENERAL

#define SYMV_ARGUMENTS(pa) \
  { \
    .uplo = fill(uplo), .n = (int)n, .incx = (int)incx, .incy = (int)incy, \
    .alpha = scalar_take(h, alpha, sizeof(E)), .beta = scalar_take(h, beta, sizeof(E)), \
    .a = (void *)(pa), .x = (void *)x, .y = y \
  }
#define SYMV(f) \
  EXPORT Status API(f)(const Handle *h, int uplo, INT n, const E *alpha, const E *a, INT lda, \
                       const E *x, INT incx, const E *beta, E *y, INT incy) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    INCREMENT(incy); \
    REQUIRE(lda >= n, "lda is smaller than n"); \
    BlasArguments w = SYMV_ARGUMENTS(a); \
    w.lda = (int)lda; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_matrix(&c, MATRIX(n, n), OPERAND_READ, shape(uplo)); \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ); \
    add_vector(&c, VECTOR("y", y, n, incy), access_of_y(&w, sizeof(E))); \
    return finish(h, &c, &w, ELEMENT); \
  }
#define SBMV(f) \
  EXPORT Status API(f)(const Handle *h, int uplo, INT n, INT k, const E *alpha, const E *a, \
                       INT lda, const E *x, INT incx, const E *beta, E *y, INT incy) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    INCREMENT(incy); \
    REQUIRE(k >= 0 && lda >= k + 1, "lda is smaller than k + 1"); \
    BlasArguments w = SYMV_ARGUMENTS(a); \
    w.lda = (int)lda; \
    w.k = (int)k; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_matrix(&c, MATRIX(k + 1, n), OPERAND_READ | OPERAND_PARTLY, OPERAND_FULL); \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ); \
    add_vector(&c, VECTOR("y", y, n, incy), access_of_y(&w, sizeof(E))); \
    return finish(h, &c, &w, ELEMENT); \
  }
#define SPMV(f) \
  EXPORT Status API(f)(const Handle *h, int uplo, INT n, const E *alpha, const E *ap, const E *x, \
                       INT incx, const E *beta, E *y, INT incy) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    INCREMENT(incy); \
    BlasArguments w = SYMV_ARGUMENTS(ap); \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_vector(&c, PACKED(n), OPERAND_READ); \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ); \
    add_vector(&c, VECTOR("y", y, n, incy), access_of_y(&w, sizeof(E))); \
    return finish(h, &c, &w, ELEMENT); \
  }
#define TRIANGULAR_ARGUMENTS(pa) \
  { \
    .uplo = fill(uplo), .transa = operation(trans), .diag = diag ? 'U' : 'N', .n = (int)n, \
    .incx = (int)incx, .a = (void *)(pa), .x = x \
  }
#define TRMV(f) \
  EXPORT Status API(f)(const Handle *h, int uplo, int trans, int diag, INT n, const E *a, INT lda, \
                       E *x, INT incx) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    REQUIRE(lda >= n, "lda is smaller than n"); \
    BlasArguments w = TRIANGULAR_ARGUMENTS(a); \
    w.lda = (int)lda; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_matrix(&c, MATRIX(n, n), OPERAND_READ, shape_with_diagonal(uplo, diag)); \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ | OPERAND_WRITE); \
    return finish(h, &c, &w, ELEMENT); \
  }
#define TBMV(f) \
  EXPORT Status API(f)(const Handle *h, int uplo, int trans, int diag, INT n, INT k, const E *a, \
                       INT lda, E *x, INT incx) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    REQUIRE(k >= 0 && lda >= k + 1, "lda is smaller than k + 1"); \
    BlasArguments w = TRIANGULAR_ARGUMENTS(a); \
    w.lda = (int)lda; \
    w.k = (int)k; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_matrix(&c, MATRIX(k + 1, n), OPERAND_READ | OPERAND_PARTLY, OPERAND_FULL); \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ | OPERAND_WRITE); \
    return finish(h, &c, &w, ELEMENT); \
  }
#define TPMV(f) \
  EXPORT Status API(f)(const Handle *h, int uplo, int trans, int diag, INT n, const E *ap, E *x, \
                       INT incx) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    BlasArguments w = TRIANGULAR_ARGUMENTS(ap); \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_vector(&c, PACKED(n), OPERAND_READ | (diag ? OPERAND_PARTLY : 0)); \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ | OPERAND_WRITE); \
    return finish(h, &c, &w, ELEMENT); \
  }
#define GER(f) \
  EXPORT Status API(f)(const Handle *h, INT m, INT n, const E *alpha, const E *x, INT incx, \
                       const E *y, INT incy, E *a, INT lda) { \
    BEGIN(h, NAME(f)); \
    REQUIRE(m >= 0 && n >= 0 && fits(m) && fits(n), "m and n must be from 0 to 2^31 - 1"); \
    REQUIRE(lda >= MAX_OF(1, m), "lda is smaller than the number of rows of A"); \
    INCREMENT(incx); \
    INCREMENT(incy); \
    if (!m || !n) return SUCCESS; \
    BlasArguments w = {.m = (int)m, \
                       .n = (int)n, \
                       .lda = (int)lda, \
                       .incx = (int)incx, \
                       .incy = (int)incy, \
                       .alpha = scalar_take(h, alpha, sizeof(E)), \
                       .a = a, \
                       .x = (void *)x, \
                       .y = (void *)y}; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_vector(&c, VECTOR("x", x, m, incx), OPERAND_READ); \
    add_vector(&c, VECTOR("y", y, n, incy), OPERAND_READ); \
    add_matrix(&c, MATRIX(m, n), OPERAND_READ | OPERAND_WRITE, OPERAND_FULL); \
    return finish(h, &c, &w, ELEMENT); \
  }
#define SYR(f, SCALAR) \
  EXPORT Status API(f)(const Handle *h, int uplo, INT n, const SCALAR *alpha, const E *x, \
                       INT incx, E *a, INT lda) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    REQUIRE(lda >= n, "lda is smaller than n"); \
    BlasArguments w = {.uplo = fill(uplo), \
                       .n = (int)n, \
                       .lda = (int)lda, \
                       .incx = (int)incx, \
                       .alpha = scalar_take(h, alpha, sizeof(SCALAR)), \
                       .a = a, \
                       .x = (void *)x}; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ); \
    add_matrix(&c, MATRIX(n, n), OPERAND_READ | OPERAND_WRITE, shape(uplo)); \
    return finish(h, &c, &w, (Element){sizeof(SCALAR), FORMAT}); \
  }
#define SYR2(f) \
  EXPORT Status API(f)(const Handle *h, int uplo, INT n, const E *alpha, const E *x, INT incx, \
                       const E *y, INT incy, E *a, INT lda) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    INCREMENT(incy); \
    REQUIRE(lda >= n, "lda is smaller than n"); \
    BlasArguments w = {.uplo = fill(uplo), \
                       .n = (int)n, \
                       .lda = (int)lda, \
                       .incx = (int)incx, \
                       .incy = (int)incy, \
                       .alpha = scalar_take(h, alpha, sizeof(E)), \
                       .a = a, \
                       .x = (void *)x, \
                       .y = (void *)y}; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ); \
    add_vector(&c, VECTOR("y", y, n, incy), OPERAND_READ); \
    add_matrix(&c, MATRIX(n, n), OPERAND_READ | OPERAND_WRITE, shape(uplo)); \
    return finish(h, &c, &w, ELEMENT); \
  }
#define SPR(f, SCALAR) \
  EXPORT Status API(f)(const Handle *h, int uplo, INT n, const SCALAR *alpha, const E *x, \
                       INT incx, E *ap) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    BlasArguments w = {.uplo = fill(uplo), \
                       .n = (int)n, \
                       .incx = (int)incx, \
                       .alpha = scalar_take(h, alpha, sizeof(SCALAR)), \
                       .a = ap, \
                       .x = (void *)x}; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ); \
    add_vector(&c, PACKED(n), OPERAND_READ | OPERAND_WRITE); \
    return finish(h, &c, &w, (Element){sizeof(SCALAR), FORMAT}); \
  }
#define SPR2(f) \
  EXPORT Status API(f)(const Handle *h, int uplo, INT n, const E *alpha, const E *x, INT incx, \
                       const E *y, INT incy, E *ap) { \
    BEGIN(h, NAME(f)); \
    SIZES(n); \
    INCREMENT(incx); \
    INCREMENT(incy); \
    BlasArguments w = {.uplo = fill(uplo), \
                       .n = (int)n, \
                       .incx = (int)incx, \
                       .incy = (int)incy, \
                       .alpha = scalar_take(h, alpha, sizeof(E)), \
                       .a = ap, \
                       .x = (void *)x, \
                       .y = (void *)y}; \
    LibraryCall c = {.name = call_name, .run = LOCAL(run_##f)}; \
    add_vector(&c, VECTOR("x", x, n, incx), OPERAND_READ); \
    add_vector(&c, VECTOR("y", y, n, incy), OPERAND_READ); \
    add_vector(&c, PACKED(n), OPERAND_READ | OPERAND_WRITE); \
    return finish(h, &c, &w, ELEMENT); \
  }
TRMV(trmv)
TRMV(trsv)
TBMV(tbmv)
TBMV(tbsv)
TPMV(tpmv)
TPMV(tpsv)
SYMV(symv)
SYR(syr, E)
#if REAL
SBMV(sbmv)
SPMV(spmv)
GER(ger)
SYR2(syr2)
SPR(spr, E)
SPR2(spr2)
#else
SYMV(hemv)
SBMV(hbmv)
SPMV(hpmv)
GER(geru)
GER(gerc)
SYR(her, R)
SYR2(syr2)
SYR2(her2)
SPR(hpr, R)
SPR2(hpr2)
#endif
#undef SYMV_ARGUMENTS
#undef TRIANGULAR_ARGUMENTS
#undef SYMV
#undef SBMV
#undef SPMV
#undef TRMV
#undef TBMV
#undef TPMV
#undef GER
#undef SYR
#undef SYR2
#undef SPR
#undef SPR2
#undef MATRIX
#undef VECTOR
#undef PACKED
#undef SIZES
#undef INCREMENT
