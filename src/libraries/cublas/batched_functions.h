// Batches for the type that for_all_types.h sets.
#ifdef FIRST
static bool LOCAL(there)(const char *name, void *p, int rows, int columns, int ld,
                         unsigned access) {
  Operand o = operand_of_matrix(name, p, ELEMENT, (uint64_t)rows, (uint64_t)columns, (uint64_t)ld);
  o.access = access;
  return warpgrind_library_services.more_operands(&o, 1);
}

// Without pivots: right-looking elimination, which stops at a zero.
static int LOCAL(lu_without_pivots)(E *a, int n, int lda) {
  for (int k = 0; k < n; k++) {
    if (a[k + (size_t)k * lda] == 0) return k + 1;
    for (int i = k + 1; i < n; i++) a[i + (size_t)k * lda] /= a[k + (size_t)k * lda];
    for (int j = k + 1; j < n; j++)
      for (int i = k + 1; i < n; i++)
        a[i + (size_t)j * lda] -= a[i + (size_t)k * lda] * a[k + (size_t)j * lda];
  }
  return 0;
}

static void LOCAL(run_getrf)(void *p) {
  BatchWork *w = p;
  for (int i = 0; i < w->batch; i++) {
    E *a = w->a[i];
    if (!LOCAL(there)("A", a, w->n, w->n, w->lda, OPERAND_READ | OPERAND_WRITE)) return;
    if (w->pivots) BLAS(getrf)(&w->n, &w->n, a, &w->lda, w->pivots + (size_t)i * w->n, &w->info[i]);
    else w->info[i] = LOCAL(lu_without_pivots)(a, w->n, w->lda);
  }
}

static void LOCAL(run_getrs)(void *p) {
  BatchWork *w = p;
  int *own = malloc(sizeof *own * (size_t)w->n), info;
  for (int i = 0; own && i < w->n; i++) own[i] = i + 1;
  for (int i = 0; own && i < w->batch; i++) {
    if (!LOCAL(there)("A", w->a[i], w->n, w->n, w->lda, OPERAND_READ) ||
        !LOCAL(there)("B", w->b[i], w->n, w->nrhs, w->ldb, OPERAND_READ | OPERAND_WRITE))
      break;
    BLAS(getrs)
    (&w->trans, &w->n, &w->nrhs, w->a[i], &w->lda, w->pivots ? w->pivots + (size_t)i * w->n : own,
     w->b[i], &w->ldb, &info, 1);
  }
  free(own);
}

static void LOCAL(copy_matrix)(E *to, int ldto, const E *from, int ldfrom, int n) {
  for (int j = 0; j < n; j++)
    memcpy(to + (size_t)j * ldto, from + (size_t)j * ldfrom, (size_t)n * sizeof(E));
}

// The inverse from the factors. factorise: A holds a matrix, which is factorised first.
static void LOCAL(invert)(BatchWork *w, bool factorise) {
  int *own = malloc(sizeof *own * (size_t)(w->n + 1)), size = w->n * 64;
  E *work = malloc(sizeof(E) * (size_t)(size + 1));
  for (int i = 0; own && work && i < w->batch; i++) {
    if (!LOCAL(there)("A", w->a[i], w->n, w->n, w->lda, OPERAND_READ) ||
        !LOCAL(there)("C", w->b[i], w->n, w->n, w->ldb, OPERAND_WRITE))
      break;
    LOCAL(copy_matrix)(w->b[i], w->ldb, w->a[i], w->lda, w->n);
    int *pivots = own, info = 0;
    for (int k = 0; k < w->n; k++) own[k] = k + 1;
    if (factorise) BLAS(getrf)(&w->n, &w->n, w->b[i], &w->ldb, own, &info);
    else if (w->pivots) pivots = w->pivots + (size_t)i * w->n;
    if (!info) BLAS(getri)(&w->n, w->b[i], &w->ldb, pivots, work, &size, &info);
    w->info[i] = info;
  }
  free(own);
  free(work);
}
static void LOCAL(run_getri)(void *p) { LOCAL(invert)(p, false); }
static void LOCAL(run_matinv)(void *p) { LOCAL(invert)(p, true); }

EXPORT Status PASTE(cublas, T, getrfBatched, )(const Handle *h, int n, E *const *a, int lda,
                                               int *pivots, int *info, int batch) {
  BEGIN(h, NAME(getrfBatched));
  REQUIRE(n >= 0 && batch >= 0 && lda >= MAX_OF(1, n),
          "n or batchSize is negative, or lda below n");
  if (!n || !batch) return SUCCESS;
  BatchWork w = {
      .n = n, .lda = lda, .batch = batch, .a = (void *const *)a, .pivots = pivots, .info = info};
  LibraryCall c = {
      .name = call_name, .run = LOCAL(run_getrf), .arguments = &w, .argument_bytes = sizeof w};
  add_pointers(&c, "Aarray", a, batch);
  add_ints(&c, "PivotArray", pivots, (uint64_t)n * (uint64_t)batch, OPERAND_WRITE);
  add_ints(&c, "infoArray", info, (uint64_t)batch, OPERAND_WRITE);
  return submit(h, &c);
}

EXPORT Status PASTE(cublas, T, getrsBatched, )(const Handle *h, int trans, int n, int nrhs,
                                               const E *const *a, int lda, const int *pivots,
                                               E *const *b, int ldb, int *info, int batch) {
  BEGIN(h, NAME(getrsBatched));
  REQUIRE(n >= 0 && nrhs >= 0 && batch >= 0, "a size is negative");
  REQUIRE(lda >= MAX_OF(1, n) && ldb >= MAX_OF(1, n), "lda or ldb is smaller than n");
  if (info) *info = 0;
  if (!n || !nrhs || !batch) return SUCCESS;
  BatchWork w = {.n = n,
                 .nrhs = nrhs,
                 .lda = lda,
                 .ldb = ldb,
                 .batch = batch,
                 .trans = operation(trans),
                 .a = (void *const *)a,
                 .b = (void *const *)b,
                 .pivots = (int *)pivots};
  LibraryCall c = {
      .name = call_name, .run = LOCAL(run_getrs), .arguments = &w, .argument_bytes = sizeof w};
  add_pointers(&c, "Aarray", a, batch);
  add_pointers(&c, "Barray", b, batch);
  add_ints(&c, "devIpiv", pivots, (uint64_t)n * (uint64_t)batch, OPERAND_READ);
  return submit(h, &c);
}

EXPORT Status PASTE(cublas, T, getriBatched, )(const Handle *h, int n, const E *const *a, int lda,
                                               const int *pivots, E *const *out, int ldc, int *info,
                                               int batch) {
  BEGIN(h, NAME(getriBatched));
  REQUIRE(n >= 0 && batch >= 0, "n or batchSize is negative");
  REQUIRE(lda >= MAX_OF(1, n) && ldc >= MAX_OF(1, n), "lda or ldc is smaller than n");
  if (!n || !batch) return SUCCESS;
  BatchWork w = {.n = n,
                 .lda = lda,
                 .ldb = ldc,
                 .batch = batch,
                 .a = (void *const *)a,
                 .b = (void *const *)out,
                 .pivots = (int *)pivots,
                 .info = info};
  LibraryCall c = {
      .name = call_name, .run = LOCAL(run_getri), .arguments = &w, .argument_bytes = sizeof w};
  add_pointers(&c, "Aarray", a, batch);
  add_pointers(&c, "Carray", out, batch);
  add_ints(&c, "PivotArray", pivots, (uint64_t)n * (uint64_t)batch, OPERAND_READ);
  add_ints(&c, "infoArray", info, (uint64_t)batch, OPERAND_WRITE);
  return submit(h, &c);
}

EXPORT Status PASTE(cublas, T, matinvBatched, )(const Handle *h, int n, const E *const *a, int lda,
                                                E *const *out, int ldc, int *info, int batch) {
  BEGIN(h, NAME(matinvBatched));
  REQUIRE(n >= 0 && n <= 32 && batch >= 0, "n is not from 0 to 32, or batchSize is negative");
  REQUIRE(lda >= MAX_OF(1, n) && ldc >= MAX_OF(1, n), "lda or lda_inv is smaller than n");
  if (!n || !batch) return SUCCESS;
  BatchWork w = {.n = n,
                 .lda = lda,
                 .ldb = ldc,
                 .batch = batch,
                 .a = (void *const *)a,
                 .b = (void *const *)out,
                 .info = info};
  LibraryCall c = {
      .name = call_name, .run = LOCAL(run_matinv), .arguments = &w, .argument_bytes = sizeof w};
  add_pointers(&c, "A", a, batch);
  add_pointers(&c, "Ainv", out, batch);
  add_ints(&c, "info", info, (uint64_t)batch, OPERAND_WRITE);
  return submit(h, &c);
}

// --- QR and least squares ---

static void LOCAL(run_geqrf)(void *p) {
  BatchWork *w = p;
  int size = MAX_OF(1, w->n) * 64, info, least = MIN_OF(w->m, w->n);
  E *work = malloc((size_t)size * sizeof(E));
  for (int i = 0; work && i < w->batch; i++) {
    if (!LOCAL(there)("A", w->a[i], w->m, w->n, w->lda, OPERAND_READ | OPERAND_WRITE) ||
        !LOCAL(there)("Tau", w->b[i], least, 1, MAX_OF(1, least), OPERAND_WRITE))
      break;
    BLAS(geqrf)(&w->m, &w->n, w->a[i], &w->lda, w->b[i], work, &size, &info);
  }
  free(work);
}
EXPORT Status PASTE(cublas, T, geqrfBatched, )(const Handle *h, int m, int n, E *const *a, int lda,
                                               E *const *tau, int *info, int batch) {
  BEGIN(h, NAME(geqrfBatched));
  REQUIRE(m >= 0 && n >= 0 && batch >= 0, "a size is negative");
  REQUIRE(lda >= MAX_OF(1, m), "lda is smaller than m");
  if (info) *info = 0;
  if (!m || !n || !batch) return SUCCESS;
  BatchWork w = {
      .m = m, .n = n, .lda = lda, .batch = batch, .a = (void *const *)a, .b = (void *const *)tau};
  LibraryCall c = {
      .name = call_name, .run = LOCAL(run_geqrf), .arguments = &w, .argument_bytes = sizeof w};
  add_pointers(&c, "Aarray", a, batch);
  add_pointers(&c, "TauArray", tau, batch);
  return submit(h, &c);
}

// Least squares; cuBLAS serves more rows than columns, without transposition.
static void LOCAL(run_gels)(void *p) {
  BatchWork *w = p;
  int size = (w->m + w->n + w->nrhs) * 64, info = 0;
  E *work = malloc((size_t)size * sizeof(E));
  for (int i = 0; work && i < w->batch; i++) {
    unsigned both = OPERAND_READ | OPERAND_WRITE;
    if (!LOCAL(there)("A", w->a[i], w->m, w->n, w->lda, both) ||
        !LOCAL(there)("C", w->b[i], w->m, w->nrhs, w->ldb, both))
      break;
    BLAS(gels)
    (&w->trans, &w->m, &w->n, &w->nrhs, w->a[i], &w->lda, w->b[i], &w->ldb, work, &size, &info, 1);
    if (w->info) w->info[i] = info;
  }
  free(work);
}
EXPORT Status PASTE(cublas, T, gelsBatched, )(const Handle *h, int trans, int m, int n, int nrhs,
                                              E *const *a, int lda, E *const *c, int ldc, int *info,
                                              int *infos, int batch) {
  BEGIN(h, NAME(gelsBatched));
  REQUIRE(trans == 0 && m >= n, "only systems without transposition, m >= n, are served");
  REQUIRE(n >= 0 && nrhs >= 0 && batch >= 0, "a size is negative");
  REQUIRE(lda >= MAX_OF(1, m) && ldc >= MAX_OF(1, m), "lda or ldc is smaller than m");
  if (info) *info = 0;
  if (!n || !nrhs || !batch) return SUCCESS;
  BatchWork w = {.trans = 'N',
                 .m = m,
                 .n = n,
                 .nrhs = nrhs,
                 .lda = lda,
                 .ldb = ldc,
                 .batch = batch,
                 .a = (void *const *)a,
                 .b = (void *const *)c,
                 .info = infos};
  LibraryCall call = {
      .name = call_name, .run = LOCAL(run_gels), .arguments = &w, .argument_bytes = sizeof w};
  add_pointers(&call, "Aarray", a, batch);
  add_pointers(&call, "Carray", c, batch);
  add_ints(&call, "devInfoArray", infos, (uint64_t)batch, OPERAND_WRITE);
  return submit(h, &call);
}

// --- products with vectors ---

static void LOCAL(run_gemv_batch)(void *p) {
  BatchWork *w = p;
  uint64_t nx = (uint64_t)(w->trans == 'N' ? w->n : w->m),
           ny = (uint64_t)(w->trans == 'N' ? w->m : w->n);
  for (int i = 0; i < w->batch; i++) {
    const void *a = w->a ? w->a[i] : w->a_base + i * w->sa * (long long)sizeof(E),
               *x = w->b ? w->b[i] : w->x_base + i * w->sx * (long long)sizeof(E);
    void *y = w->y ? w->y[i] : w->y_base + i * w->sy * (long long)sizeof(E);
    Operand o[3] = {
        operand_of_matrix("A", a, ELEMENT, (uint64_t)w->m, (uint64_t)w->n, (uint64_t)w->lda),
        operand_of_vector("x", x, ELEMENT, nx, w->incx),
        operand_of_vector("y", y, ELEMENT, ny, w->incy)};
    o[2].access = OPERAND_WRITE | OPERAND_READ | OPERAND_PARTLY;
    if (w->a && !warpgrind_library_services.more_operands(o, 3)) return;
    BLAS(gemv)
    (&w->trans, &w->m, &w->n, scalar(&w->alpha), a, &w->lda, x, &w->incx, scalar(&w->beta), y,
     &w->incy);
  }
}
#endif

EXPORT Status NEW(gemvBatched)(const Handle *h, int trans, INT m, INT n, const E *alpha,
                               const E *const *a, INT lda, const E *const *x, INT incx,
                               const E *beta, E *const *y, INT incy, INT batch) {
  BEGIN(h, NAME(gemvBatched));
  REQUIRE(m >= 0 && n >= 0 && batch >= 0 && fits(m) && fits(n) && fits(batch),
          "a size is negative or above 2^31 - 1");
  REQUIRE(lda >= MAX_OF(1, m) && incx && incy, "lda is smaller than m, or an increment is 0");
  if (!m || !n || !batch) return SUCCESS;
  BatchWork w = {.m = (int)m,
                 .n = (int)n,
                 .lda = (int)lda,
                 .incx = (int)incx,
                 .incy = (int)incy,
                 .batch = (int)batch,
                 .trans = operation(trans),
                 .a = (void *const *)a,
                 .b = (void *const *)x,
                 .y = (void *const *)y,
                 .alpha = scalar_take(h, alpha, sizeof(E)),
                 .beta = scalar_take(h, beta, sizeof(E))};
  LibraryCall c = {
      .name = call_name, .run = LOCAL(run_gemv_batch), .arguments = &w, .argument_bytes = sizeof w};
  add_pointers(&c, "Aarray", a, (int)batch);
  add_pointers(&c, "xarray", x, (int)batch);
  add_pointers(&c, "yarray", y, (int)batch);
  call_scalar(&c, "alpha", &w.alpha, ELEMENT);
  call_scalar(&c, "beta", &w.beta, ELEMENT);
  return submit(h, &c);
}

EXPORT Status NEW(gemvStridedBatched)(const Handle *h, int trans, INT m, INT n, const E *alpha,
                                      const E *a, INT lda, long long sa, const E *x, INT incx,
                                      long long sx, const E *beta, E *y, INT incy, long long sy,
                                      INT batch) {
  BEGIN(h, NAME(gemvStridedBatched));
  REQUIRE(m >= 0 && n >= 0 && batch >= 0 && fits(m) && fits(n) && fits(batch),
          "a size is negative or above 2^31 - 1");
  REQUIRE(lda >= MAX_OF(1, m) && incx && incy, "lda is smaller than m, or an increment is 0");
  REQUIRE(sa >= 0 && sx >= 0 && sy >= 0, "a stride is negative");
  if (!m || !n || !batch) return SUCCESS;
  BatchWork w = {.m = (int)m,
                 .n = (int)n,
                 .lda = (int)lda,
                 .incx = (int)incx,
                 .incy = (int)incy,
                 .batch = (int)batch,
                 .trans = operation(trans),
                 .a_base = (const char *)a,
                 .x_base = (const char *)x,
                 .y_base = (char *)y,
                 .sa = sa,
                 .sx = sx,
                 .sy = sy,
                 .alpha = scalar_take(h, alpha, sizeof(E)),
                 .beta = scalar_take(h, beta, sizeof(E))};
  LibraryCall c = {
      .name = call_name, .run = LOCAL(run_gemv_batch), .arguments = &w, .argument_bytes = sizeof w};
  Operand o[3] = {operand_of_matrix("A", a, ELEMENT, (uint64_t)m, (uint64_t)n, (uint64_t)lda),
                  operand_of_vector("x", x, ELEMENT, (uint64_t)(trans == 0 ? n : m), incx),
                  operand_of_vector("y", y, ELEMENT, (uint64_t)(trans == 0 ? m : n), incy)};
  long long strides[3] = {sa, sx, sy};
  bool reads_y = !scalar_is_zero(&w.beta, sizeof(E));
  o[2].access = OPERAND_WRITE | (reads_y ? OPERAND_READ : 0) | (w.beta.device ? OPERAND_PARTLY : 0);
  for (int i = 0; i < 3; i++) {
    o[i].batch = strides[i] ? (uint64_t)batch : 1;
    o[i].slice = (uint64_t)strides[i] * sizeof(E);
    call_operand(&c, &o[i]);
  }
  call_scalar(&c, "alpha", &w.alpha, ELEMENT);
  call_scalar(&c, "beta", &w.beta, ELEMENT);
  return submit(h, &c);
}
