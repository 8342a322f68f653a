// Level 3 without gemm, for the type that for_all_types.h sets.
#ifdef FIRST
#define RUN_SYMM(name) \
  static void LOCAL(run_##name)(void *p) { \
    BlasArguments *w = p; \
    BLAS(name) \
    (&w->side, &w->uplo, &w->m, &w->n, scalar(&w->alpha), w->a, &w->lda, w->b, &w->ldb, \
     scalar(&w->beta), w->c, &w->ldc); \
  }
#define RUN_SYRK(name) \
  static void LOCAL(run_##name)(void *p) { \
    BlasArguments *w = p; \
    BLAS(name) \
    (&w->uplo, &w->transa, &w->n, &w->k, scalar(&w->alpha), w->a, &w->lda, scalar(&w->beta), w->c, \
     &w->ldc); \
  }
#define RUN_SYR2K(name) \
  static void LOCAL(run_##name)(void *p) { \
    BlasArguments *w = p; \
    BLAS(name) \
    (&w->uplo, &w->transa, &w->n, &w->k, scalar(&w->alpha), w->a, &w->lda, w->b, &w->ldb, \
     scalar(&w->beta), w->c, &w->ldc); \
  }
RUN_SYMM(symm)
RUN_SYRK(syrk)
RUN_SYR2K(syr2k)
#if !REAL
RUN_SYMM(hemm)
RUN_SYRK(herk)
RUN_SYR2K(her2k)
#endif
#undef RUN_SYMM
#undef RUN_SYRK
#undef RUN_SYR2K
// A half of alpha op(A) op(B)' + beta C, for products that are known to be symmetric.
static void LOCAL(half_product)(BlasArguments *w, char transposed, const E *beta, bool hermitian) {
  static const E zero = 0;
  char transa = w->transa == 'N' ? 'N' : transposed, transb = w->transa == 'N' ? transposed : 'N';
  E *product = malloc(((size_t)w->n * (size_t)w->n + 1) * sizeof(E));
  if (!product) return;
  BLAS(gemm)
  (&transa, &transb, &w->n, &w->n, &w->k, scalar(&w->alpha), w->a, &w->lda, w->b, &w->ldb, &zero,
   product, &w->n);
  for (int64_t j = 0; j < w->n; j++) {
    int64_t from = w->uplo == 'L' ? j : 0, end = w->uplo == 'L' ? w->n : j + 1;
    for (int64_t i = from; i < end; i++) {
      E *c = (E *)w->c + i + j * w->ldc, sum = product[i + j * w->n];
      if (*beta != 0) sum += *beta * *c;
      *c = hermitian && i == j ? (E)creal((double _Complex)sum) : sum;
    }
  }
  free(product);
}
static void LOCAL(run_syrkx)(void *p) {
  BlasArguments *w = p;
  LOCAL(half_product)(w, 'T', scalar(&w->beta), false);
}
#if !REAL
static void LOCAL(run_herkx)(void *p) {
  BlasArguments *w = p;
  E beta = *(const R *)scalar(&w->beta);
  LOCAL(half_product)(w, 'C', &beta, true);
}
#endif
static void LOCAL(run_trsm)(void *p) {
  BlasArguments *w = p;
  BLAS(trsm)
  (&w->side, &w->uplo, &w->transa, &w->diag, &w->m, &w->n, scalar(&w->alpha), w->a, &w->lda, w->b,
   &w->ldb);
}
// cuBLAS's trmm has a result of its own: C = alpha op(A) B, where C may be B.
static void LOCAL(run_trmm)(void *p) {
  BlasArguments *w = p;
  if (w->c != w->b)
    for (int j = 0; j < w->n; j++)
      memcpy((E *)w->c + (size_t)j * w->ldc, (E *)w->b + (size_t)j * w->ldb,
             (size_t)w->m * sizeof(E));
  BLAS(trmm)
  (&w->side, &w->uplo, &w->transa, &w->diag, &w->m, &w->n, scalar(&w->alpha), w->a, &w->lda, w->c,
   &w->ldc);
}
// Triangular solves of a batch: pointers in device memory.
static void LOCAL(run_trsm_batched)(void *p) {
  BlasArguments *w = p;
  uint64_t rows = (uint64_t)(w->side == 'L' ? w->m : w->n);
  for (int i = 0; i < w->k; i++) {
    BlasArguments one = *w;
    one.a = ((void **)w->a)[i];
    one.b = ((void **)w->b)[i];
    Operand o[2] = {
        operand_of_matrix("A", one.a, ELEMENT, rows, rows, (uint64_t)w->lda),
        operand_of_matrix("B", one.b, ELEMENT, (uint64_t)w->m, (uint64_t)w->n, (uint64_t)w->ldb)};
    o[0].shape = w->uplo == 'L' ? OPERAND_LOWER : OPERAND_UPPER;
    if (w->diag == 'U') o[0].access |= OPERAND_PARTLY;
    o[1].access = OPERAND_READ | OPERAND_WRITE;
    if (!warpgrind_library_services.more_operands(o, 2)) return;
    LOCAL(run_trsm)(&one);
  }
}

// Submits symm, syrk and their relatives. by_c: C is n by n, and only one half of it counts.
static Status LOCAL(submit_update)(const Handle *h, LibraryCall *c, BlasArguments *w, bool by_c,
                                   size_t beta_bytes) {
  unsigned reads = scalar_is_zero(&w->beta, beta_bytes) ? 0 : OPERAND_READ;
  uint64_t rows = (uint64_t)(by_c ? w->n : w->m);
  add_matrix(c, operand_of_matrix("C", w->c, ELEMENT, rows, (uint64_t)w->n, (uint64_t)w->ldc),
             OPERAND_WRITE | reads | (w->beta.device ? OPERAND_PARTLY : 0),
             !by_c            ? OPERAND_FULL
             : w->uplo == 'L' ? OPERAND_LOWER
                              : OPERAND_UPPER);
  call_scalar(c, "alpha", &w->alpha, ELEMENT);
  call_scalar(c, "beta", &w->beta, ELEMENT);
  c->arguments = w;
  c->argument_bytes = sizeof *w;
  return submit(h, c);
}
#endif

#define SYMM(function, text, routine) \
  EXPORT Status function(const Handle *h, int side, int uplo, INT m, INT n, const E *alpha, \
                         const E *a, INT lda, const E *b, INT ldb, const E *beta, E *c, INT ldc) { \
    BEGIN(h, text); \
    REQUIRE(m >= 0 && n >= 0 && fits(m) && fits(n), "m and n must be from 0 to 2^31 - 1"); \
    INT ka = side == 0 ? m : n; \
    REQUIRE(lda >= MAX_OF(1, ka), "lda is smaller than the number of rows of A"); \
    REQUIRE(ldb >= MAX_OF(1, m), "ldb is smaller than the number of rows of B"); \
    REQUIRE(ldc >= MAX_OF(1, m), "ldc is smaller than the number of rows of C"); \
    if (!m || !n) return SUCCESS; \
    BlasArguments w = {.side = side == 0 ? 'L' : 'R', \
                       .uplo = fill(uplo), \
                       .m = (int)m, \
                       .n = (int)n, \
                       .lda = (int)lda, \
                       .ldb = (int)ldb, \
                       .ldc = (int)ldc, \
                       .alpha = scalar_take(h, alpha, sizeof(E)), \
                       .beta = scalar_take(h, beta, sizeof(E)), \
                       .a = (void *)a, \
                       .b = (void *)b, \
                       .c = c}; \
    LibraryCall call = {.name = call_name, .run = LOCAL(routine)}; \
    add_matrix(&call, \
               operand_of_matrix("A", a, ELEMENT, (uint64_t)ka, (uint64_t)ka, (uint64_t)lda), \
               OPERAND_READ, shape(uplo)); \
    add_matrix(&call, operand_of_matrix("B", b, ELEMENT, (uint64_t)m, (uint64_t)n, (uint64_t)ldb), \
               OPERAND_READ, OPERAND_FULL); \
    return LOCAL(submit_update)(h, &call, &w, false, sizeof(E)); \
  }
#define SYRK(function, text, routine, SCALAR) \
  EXPORT Status function(const Handle *h, int uplo, int trans, INT n, INT k, const SCALAR *alpha, \
                         const E *a, INT lda, const SCALAR *beta, E *c, INT ldc) { \
    BEGIN(h, text); \
    REQUIRE(n >= 0 && k >= 0 && fits(n) && fits(k), "n and k must be from 0 to 2^31 - 1"); \
    INT rows = trans == 0 ? n : k, columns = trans == 0 ? k : n; \
    REQUIRE(lda >= MAX_OF(1, rows), "lda is smaller than the number of rows of A"); \
    REQUIRE(ldc >= MAX_OF(1, n), "ldc is smaller than the number of rows of C"); \
    if (!n) return SUCCESS; \
    BlasArguments w = {.uplo = fill(uplo), \
                       .transa = operation(trans), \
                       .n = (int)n, \
                       .k = (int)k, \
                       .lda = (int)lda, \
                       .ldc = (int)ldc, \
                       .alpha = scalar_take(h, alpha, sizeof(SCALAR)), \
                       .beta = scalar_take(h, beta, sizeof(SCALAR)), \
                       .a = (void *)a, \
                       .c = c}; \
    LibraryCall call = {.name = call_name, .run = LOCAL(routine)}; \
    add_matrix( \
        &call, \
        operand_of_matrix("A", a, ELEMENT, (uint64_t)rows, (uint64_t)columns, (uint64_t)lda), \
        OPERAND_READ, OPERAND_FULL); \
    return LOCAL(submit_update)(h, &call, &w, true, sizeof(SCALAR)); \
  }
#define SYR2K(function, text, routine, SCALAR) \
  EXPORT Status function(const Handle *h, int uplo, int trans, INT n, INT k, const E *alpha, \
                         const E *a, INT lda, const E *b, INT ldb, const SCALAR *beta, E *c, \
                         INT ldc) { \
    BEGIN(h, text); \
    REQUIRE(n >= 0 && k >= 0 && fits(n) && fits(k), "n and k must be from 0 to 2^31 - 1"); \
    INT rows = trans == 0 ? n : k, columns = trans == 0 ? k : n; \
    REQUIRE(lda >= MAX_OF(1, rows), "lda is smaller than the number of rows of A"); \
    REQUIRE(ldb >= MAX_OF(1, rows), "ldb is smaller than the number of rows of B"); \
    REQUIRE(ldc >= MAX_OF(1, n), "ldc is smaller than the number of rows of C"); \
    if (!n) return SUCCESS; \
    BlasArguments w = {.uplo = fill(uplo), \
                       .transa = operation(trans), \
                       .n = (int)n, \
                       .k = (int)k, \
                       .lda = (int)lda, \
                       .ldb = (int)ldb, \
                       .ldc = (int)ldc, \
                       .alpha = scalar_take(h, alpha, sizeof(E)), \
                       .beta = scalar_take(h, beta, sizeof(SCALAR)), \
                       .a = (void *)a, \
                       .b = (void *)b, \
                       .c = c}; \
    LibraryCall call = {.name = call_name, .run = LOCAL(routine)}; \
    add_matrix( \
        &call, \
        operand_of_matrix("A", a, ELEMENT, (uint64_t)rows, (uint64_t)columns, (uint64_t)lda), \
        OPERAND_READ, OPERAND_FULL); \
    add_matrix( \
        &call, \
        operand_of_matrix("B", b, ELEMENT, (uint64_t)rows, (uint64_t)columns, (uint64_t)ldb), \
        OPERAND_READ, OPERAND_FULL); \
    return LOCAL(submit_update)(h, &call, &w, true, sizeof(SCALAR)); \
  }
SYMM(API(symm), NAME(symm), run_symm)
SYRK(API(syrk), NAME(syrk), run_syrk, E)
SYR2K(API(syr2k), NAME(syr2k), run_syr2k, E)
SYR2K(NEW(syrkx), NAME(syrkx), run_syrkx, E)
#if !REAL
SYMM(API(hemm), NAME(hemm), run_hemm)
SYRK(API(herk), NAME(herk), run_herk, R)
SYR2K(API(her2k), NAME(her2k), run_her2k, R)
SYR2K(NEW(herkx), NAME(herkx), run_herkx, R)
#endif
#undef SYMM
#undef SYRK
#undef SYR2K

// --- a triangle A, and matrices that it is multiplied with or solved for ---
#define REQUIRE_TRIANGULAR() \
  REQUIRE(m >= 0 && n >= 0 && fits(m) && fits(n), "m and n must be from 0 to 2^31 - 1"); \
  REQUIRE(lda >= MAX_OF(1, side == 0 ? m : n), "lda is smaller than the number of rows of A"); \
  REQUIRE(ldb >= MAX_OF(1, m), "ldb is smaller than the number of rows of B")
#define TRIANGULAR \
  .side = side == 0 ? 'L' : 'R', .uplo = fill(uplo), .transa = operation(trans), \
  .diag = diag ? 'U' : 'N', .m = (int)m, .n = (int)n, .lda = (int)lda, .ldb = (int)ldb, \
  .alpha = scalar_take(h, alpha, sizeof(E)), .a = (void *)a, .b = (void *)b
#define TRIANGULAR_CALL(routine) \
  { .name = call_name, .run = LOCAL(routine), .arguments = &w, .argument_bytes = sizeof w }
#ifdef FIRST
static void LOCAL(add_triangle)(LibraryCall *c, const BlasArguments *w) {
  uint64_t order = (uint64_t)(w->side == 'L' ? w->m : w->n);
  add_matrix(c, operand_of_matrix("A", w->a, ELEMENT, order, order, (uint64_t)w->lda), OPERAND_READ,
             shape_with_diagonal(w->uplo == 'U', w->diag == 'U'));
  call_scalar(c, "alpha", &w->alpha, ELEMENT);
}
static void LOCAL(add_rectangle)(LibraryCall *c, const BlasArguments *w, Operand o,
                                 unsigned access) {
  o.rows = (uint64_t)w->m;
  o.columns = (uint64_t)w->n;
  add_matrix(c, o, access, OPERAND_FULL);
}
#endif

EXPORT Status API(trsm)(const Handle *h, int side, int uplo, int trans, int diag, INT m, INT n,
                        const E *alpha, const E *a, INT lda, E *b, INT ldb) {
  BEGIN(h, NAME(trsm));
  REQUIRE_TRIANGULAR();
  if (!m || !n) return SUCCESS;
  BlasArguments w = {TRIANGULAR};
  LibraryCall c = TRIANGULAR_CALL(run_trsm);
  LOCAL(add_triangle)(&c, &w);
  LOCAL(add_rectangle)
  (&c, &w, operand_of_matrix("B", b, ELEMENT, 0, 0, (uint64_t)ldb), OPERAND_READ | OPERAND_WRITE);
  return submit(h, &c);
}

EXPORT Status NEW(trsmBatched)(const Handle *h, int side, int uplo, int trans, int diag, INT m,
                               INT n, const E *alpha, const E *const *a, INT lda, E *const *b,
                               INT ldb, INT batch) {
  BEGIN(h, NAME(trsmBatched));
  REQUIRE_TRIANGULAR();
  REQUIRE(batch >= 0 && fits(batch), "batchCount is not from 0 to 2^31 - 1");
  if (!m || !n || !batch) return SUCCESS;
  BlasArguments w = {TRIANGULAR, .k = (int)batch};
  LibraryCall c = TRIANGULAR_CALL(run_trsm_batched);
  Element pointer = {sizeof(void *), OPERAND_OTHER};
  add_vector(&c, operand_of_vector("A", a, pointer, (uint64_t)batch, 1), OPERAND_READ);
  add_vector(&c, operand_of_vector("B", b, pointer, (uint64_t)batch, 1), OPERAND_READ);
  call_scalar(&c, "alpha", &w.alpha, ELEMENT);
  return submit(h, &c);
}

EXPORT Status API(trmm)(const Handle *h, int side, int uplo, int trans, int diag, INT m, INT n,
                        const E *alpha, const E *a, INT lda, const E *b, INT ldb, E *c, INT ldc) {
  BEGIN(h, NAME(trmm));
  REQUIRE_TRIANGULAR();
  REQUIRE(ldc >= MAX_OF(1, m), "ldc is smaller than the number of rows of C");
  if (!m || !n) return SUCCESS;
  BlasArguments w = {TRIANGULAR, .ldc = (int)ldc, .c = c};
  LibraryCall call = TRIANGULAR_CALL(run_trmm);
  LOCAL(add_triangle)(&call, &w);
  LOCAL(add_rectangle)
  (&call, &w, operand_of_matrix("B", b, ELEMENT, 0, 0, (uint64_t)ldb), OPERAND_READ);
  LOCAL(add_rectangle)
  (&call, &w, operand_of_matrix("C", c, ELEMENT, 0, 0, (uint64_t)ldc), OPERAND_WRITE);
  return submit(h, &call);
}
#undef REQUIRE_TRIANGULAR
#undef TRIANGULAR
#undef TRIANGULAR_CALL

// --- BLAS-like extensions ---
#ifdef FIRST
static E LOCAL(at)(const E *a, int64_t ld, int64_t i, int64_t j, char trans) {
  E x = trans == 'N' ? a[i + j * ld] : a[j + i * ld];
#if !REAL
  if (trans == 'C') x = sizeof(R) == 8 ? (E)conj(x) : (E)conjf((float _Complex)x);
#endif
  return x;
}
// C = alpha op(A) + beta op(B)
static void LOCAL(run_geam)(void *p) {
  BlasArguments *w = p;
  E alpha = *(const E *)scalar(&w->alpha), beta = *(const E *)scalar(&w->beta);
  E *out = malloc(((size_t)w->m * (size_t)w->n + 1) * sizeof(E));  // C may be A or B
  for (int64_t j = 0; out && j < w->n; j++)
    for (int64_t i = 0; i < w->m; i++) {
      E sum = 0;
      if (alpha != 0) sum += alpha * LOCAL(at)(w->a, w->lda, i, j, w->transa);
      if (beta != 0) sum += beta * LOCAL(at)(w->b, w->ldb, i, j, w->transb);
      out[i + j * w->m] = sum;
    }
  for (int64_t j = 0; out && j < w->n; j++)
    memcpy((E *)w->c + j * w->ldc, out + j * w->m, (size_t)w->m * sizeof(E));
  free(out);
}
// C = A diag(x) or diag(x) A
static void LOCAL(run_dgmm)(void *p) {
  BlasArguments *w = p;
  int64_t n = w->side == 'L' ? w->m : w->n;
  const E *x = w->x;
  int64_t first = w->incx < 0 ? (1 - n) * (int64_t)w->incx : 0;
  for (int64_t j = 0; j < w->n; j++)
    for (int64_t i = 0; i < w->m; i++)
      ((E *)w->c)[i + j * w->ldc] = ((const E *)w->a)[i + j * w->lda] *
                                    x[first + (w->side == 'L' ? i : j) * w->incx];
}
#endif

EXPORT Status NEW(geam)(const Handle *h, int transa, int transb, INT m, INT n, const E *alpha,
                        const E *a, INT lda, const E *beta, const E *b, INT ldb, E *c, INT ldc) {
  BEGIN(h, NAME(geam));
  REQUIRE(m >= 0 && n >= 0 && fits(m) && fits(n), "m and n must be from 0 to 2^31 - 1");
  INT ra = transa == 0 ? m : n, rb = transb == 0 ? m : n;
  BlasArguments w = {.transa = operation(transa),
                     .transb = operation(transb),
                     .m = (int)m,
                     .n = (int)n,
                     .lda = (int)lda,
                     .ldb = (int)ldb,
                     .ldc = (int)ldc,
                     .alpha = scalar_take(h, alpha, sizeof(E)),
                     .beta = scalar_take(h, beta, sizeof(E)),
                     .a = (void *)a,
                     .b = (void *)b,
                     .c = c};
  bool reads_a = !scalar_is_zero(&w.alpha, sizeof(E));
  bool reads_b = !scalar_is_zero(&w.beta, sizeof(E));
  REQUIRE(!reads_a || lda >= MAX_OF(1, ra), "lda is smaller than the number of rows of A");
  REQUIRE(!reads_b || ldb >= MAX_OF(1, rb), "ldb is smaller than the number of rows of B");
  REQUIRE(ldc >= MAX_OF(1, m), "ldc is smaller than the number of rows of C");
  if (!m || !n) return SUCCESS;
  LibraryCall call = {
      .name = call_name, .run = LOCAL(run_geam), .arguments = &w, .argument_bytes = sizeof w};
  if (reads_a)
    add_matrix(&call,
               operand_of_matrix("A", a, ELEMENT, (uint64_t)ra, (uint64_t)(transa == 0 ? n : m),
                                 (uint64_t)lda),
               OPERAND_READ | (w.alpha.device ? OPERAND_PARTLY : 0), OPERAND_FULL);
  if (reads_b)
    add_matrix(&call,
               operand_of_matrix("B", b, ELEMENT, (uint64_t)rb, (uint64_t)(transb == 0 ? n : m),
                                 (uint64_t)ldb),
               OPERAND_READ | (w.beta.device ? OPERAND_PARTLY : 0), OPERAND_FULL);
  add_matrix(&call, operand_of_matrix("C", c, ELEMENT, (uint64_t)m, (uint64_t)n, (uint64_t)ldc),
             OPERAND_WRITE, OPERAND_FULL);
  call_scalar(&call, "alpha", &w.alpha, ELEMENT);
  call_scalar(&call, "beta", &w.beta, ELEMENT);
  return submit(h, &call);
}

EXPORT Status NEW(dgmm)(const Handle *h, int side, INT m, INT n, const E *a, INT lda, const E *x,
                        INT incx, E *c, INT ldc) {
  BEGIN(h, NAME(dgmm));
  REQUIRE(m >= 0 && n >= 0 && fits(m) && fits(n) && fits(incx), "a size is not from 0 to 2^31 - 1");
  REQUIRE(lda >= MAX_OF(1, m), "lda is smaller than the number of rows of A");
  REQUIRE(ldc >= MAX_OF(1, m), "ldc is smaller than the number of rows of C");
  if (!m || !n) return SUCCESS;
  BlasArguments w = {.side = side == 0 ? 'L' : 'R',
                     .m = (int)m,
                     .n = (int)n,
                     .lda = (int)lda,
                     .ldc = (int)ldc,
                     .incx = (int)incx,
                     .a = (void *)a,
                     .x = (void *)x,
                     .c = c};
  LibraryCall call = {
      .name = call_name, .run = LOCAL(run_dgmm), .arguments = &w, .argument_bytes = sizeof w};
  add_matrix(&call, operand_of_matrix("A", a, ELEMENT, (uint64_t)m, (uint64_t)n, (uint64_t)lda),
             OPERAND_READ, OPERAND_FULL);
  add_vector(&call, operand_of_vector("x", x, ELEMENT, (uint64_t)(side == 0 ? m : n), incx),
             OPERAND_READ);
  add_matrix(&call, operand_of_matrix("C", c, ELEMENT, (uint64_t)m, (uint64_t)n, (uint64_t)ldc),
             OPERAND_WRITE, OPERAND_FULL);
  return submit(h, &call);
}
