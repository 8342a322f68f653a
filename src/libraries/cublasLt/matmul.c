// cublasLtMatmul: D = epilogue(alpha op(A) op(B) + beta C).
//
// A matrix in row-major order is the transpose of one in column-major order. So A and B in that
// order only change their operation; for D the transposed product is computed: D' = op(B)' op(A)'.
#include "libraries/cublasLt/internal.h"

static const char name[] = "cublasLtMatmul";

typedef struct Matmul {
  GemmWork gemm;
  Epilogue epilogue;
} Matmul;

// --- running ---

static const char *matrix(const GemmMatrix *x, int64_t i) {
  return (const char *)x->p + i * x->stride * (int64_t)number_bytes(x->type);
}

static void multiply_scalar(Scalar *s, float by) {
  float x = *(const float *)scalar(s) * by;
  s->device = NULL;
  memcpy(s->bytes, &x, sizeof x);
}

static double *product(const GemmWork *g, int64_t b) {
  return gemm_product(g, matrix(&g->a, b), matrix(&g->b, b), matrix(&g->c, b));
}

// Scales of rows and columns are for the product only: C is added afterwards.
static double *scaled_product(const Epilogue *e, const GemmWork *g, int64_t b) {
  GemmWork only_product = *g, only_c = *g;
  only_product.beta = only_c.alpha = (Scalar){0};
  double *sums = product(&only_product, b), *added = product(&only_c, b);
  for (int64_t j = 0; sums && added && j < g->n; j++)
    for (int64_t i = 0; i < g->m; i++) {
      double scale = (e->vector_a ? e->scale_a[i] : 1) * (e->vector_b ? e->scale_b[j] : 1);
      sums[i + j * g->m] = sums[i + j * g->m] * scale + added[i + j * g->m];
    }
  free(added);
  return sums;
}

static void run(void *arguments) {
  const Matmul *w = arguments;
  const Epilogue *e = &w->epilogue;
  GemmWork g = w->gemm;
  if (epilogue_is_empty(e)) {
    gemm_run(&g);
    return;
  }
  if (e->scale_a && !e->vector_a) multiply_scalar(&g.alpha, *e->scale_a);
  if (e->scale_b && !e->vector_b) multiply_scalar(&g.alpha, *e->scale_b);
  if (e->scale_c) multiply_scalar(&g.beta, *e->scale_c);
  for (int64_t b = 0; b < g.batch; b++) {
    double *sums = e->vector_a || e->vector_b ? scaled_product(e, &g, b) : product(&g, b);
    epilogue_apply(e, &g, sums, b);
    gemm_store(&g, sums, (void *)matrix(&g.d, b));
    free(sums);
  }
}

// --- arguments ---

static GemmMatrix matrix_of(const void *p, const Attributes *l) {
  return (GemmMatrix){p, (DataType)l->value[LAYOUT_TYPE], (int64_t)l->value[LAYOUT_LD],
                      (int64_t)l->value[LAYOUT_STRIDE]};
}

static bool is_row_major(const Attributes *l) { return l->value[LAYOUT_ORDER] == ORDER_ROW; }

// Turns an operation into the same one on the transpose. false: it is the conjugate of a complex
// matrix, which BLAS lacks.
static bool transpose(char *operation, bool complex) {
  if (*operation == 'C' && complex) return false;
  *operation = *operation == 'N' ? 'T' : 'N';
  return true;
}

static const char *wrong_leading_dimension(const Attributes *const layouts[4]) {
  static const char *const why[4][2] = {{"lda is smaller than the number of rows of A",
                                         "lda is smaller than the number of columns of A"},
                                        {"ldb is smaller than the number of rows of B",
                                         "ldb is smaller than the number of columns of B"},
                                        {"ldc is smaller than the number of rows of C",
                                         "ldc is smaller than the number of columns of C"},
                                        {"ldd is smaller than the number of rows of D",
                                         "ldd is smaller than the number of columns of D"}};
  for (int i = 0; i < 4; i++) {
    bool row_major = is_row_major(layouts[i]);
    int64_t least = (int64_t)layouts[i]->value[row_major ? LAYOUT_COLS : LAYOUT_ROWS];
    if ((int64_t)layouts[i]->value[LAYOUT_LD] < MAX_OF(1, least)) return why[i][row_major];
  }
  return NULL;
}

// The sizes m, n and k of the product; false: the matrices do not go together.
static bool sizes(GemmWork *g, const Attributes *a, const Attributes *b, const Attributes *c,
                  const Attributes *d) {
  bool plain_a = g->transa == 'N', plain_b = g->transb == 'N';
  g->m = (int64_t)d->value[LAYOUT_ROWS];
  g->n = (int64_t)d->value[LAYOUT_COLS];
  g->k = (int64_t)a->value[plain_a ? LAYOUT_COLS : LAYOUT_ROWS];
  g->batch = (int64_t)d->value[LAYOUT_BATCH];
  return (int64_t)a->value[plain_a ? LAYOUT_ROWS : LAYOUT_COLS] == g->m &&
         (int64_t)b->value[plain_b ? LAYOUT_COLS : LAYOUT_ROWS] == g->n &&
         (int64_t)b->value[plain_b ? LAYOUT_ROWS : LAYOUT_COLS] == g->k &&
         (int64_t)c->value[LAYOUT_ROWS] == g->m && (int64_t)c->value[LAYOUT_COLS] == g->n;
}

// Turns row-major orders into operations on transposes; layouts: of A, B, C and D. false: it cannot
static bool take_orders(GemmWork *g, const Attributes *const layouts[4]) {
  bool complex = number_is_complex(g->c.type);
  if (is_row_major(layouts[0]) && !transpose(&g->transa, complex)) return false;
  if (is_row_major(layouts[1]) && !transpose(&g->transb, complex)) return false;
  if (!is_row_major(layouts[3])) return true;
  if (!transpose(&g->transa, complex) || !transpose(&g->transb, complex)) return false;
  GemmMatrix a = g->a;
  char transa = g->transa;
  int64_t m = g->m;
  g->a = g->b;
  g->transa = g->transb;
  g->m = g->n;
  g->b = a;
  g->transb = transa;
  g->n = m;
  g->swapped = true;
  return true;
}

static Status submit(const Matmul *w, const void *stream) {
  LibraryCall call = {
      .name = name, .stream = stream, .run = run, .arguments = w, .argument_bytes = sizeof *w};
  gemm_operands(&call, &w->gemm);
  epilogue_operands(&call, &w->epilogue, &w->gemm);
  if (!blas()) return NOT_SUPPORTED;  // blas() has said what is missing
  return warpgrind_library_services.submit(&call) ? EXECUTION_FAILED : SUCCESS;
}

EXPORT Status cublasLtMatmul(void *handle, const void *description, const void *alpha,
                             const void *pa, const void *layout_a, const void *pb,
                             const void *layout_b, const void *beta, const void *pc,
                             const void *layout_c, void *pd, const void *layout_d, const void *algo,
                             void *workspace, size_t workspace_bytes, const void *stream) {
  if (!handle) return NOT_INITIALIZED;
  const Attributes *d = attributes_of(description),
                   *layouts[4] = {attributes_of(layout_a), attributes_of(layout_b),
                                  attributes_of(layout_c), attributes_of(layout_d)};
  if (!d || !layouts[0] || !layouts[1] || !layouts[2] || !layouts[3] || !alpha || !beta)
    return lt_refuse(name, "an argument is null");
  for (int i = 0; i < 4; i++)
    if (layouts[i]->value[LAYOUT_ORDER] > ORDER_ROW)
      return lt_unsupported(name, "only column-major and row-major order are served");
  if (is_row_major(layouts[2]) != is_row_major(layouts[3]))
    return lt_unsupported(name, "C and D of different orders are not served");
  Matmul w = {.gemm = {.transa = lt_operation(d->value[DESC_TRANSA]),
                       .transb = lt_operation(d->value[DESC_TRANSB]),
                       .a = matrix_of(pa, layouts[0]),
                       .b = matrix_of(pb, layouts[1]),
                       .c = matrix_of(pc ? pc : pd, layouts[2]),
                       .d = matrix_of(pd, layouts[3]),
                       .compute = (Compute)d->value[DESC_COMPUTE]}};
  GemmWork *g = &w.gemm;
  if (!sizes(g, layouts[0], layouts[1], layouts[2], layouts[3]))
    return lt_refuse(name, "the shapes of A, B and D do not go together");
  if (!gemm_scale_type(g))
    return lt_unsupported(name, "these types of A, B, C and D are not served");
  const char *wrong = wrong_leading_dimension(layouts);
  if (wrong) return lt_refuse(name, wrong);
  if (!take_orders(g, layouts))
    return lt_unsupported(name, "conjugate transposes in row-major order are not served");
  w.epilogue = epilogue_of(d, g->d.type, g->swapped);
  const char *missing = epilogue_beyond(&w.epilogue, g, d);
  if (missing) return lt_unsupported(name, missing);
  wrong = gemm_wrong(g);
  if (!wrong) wrong = epilogue_wrong(&w.epilogue, g);
  if (wrong) return lt_refuse(name, wrong);
  if (warpgrind_library_services.enter()) return EXECUTION_FAILED;
  if (d->value[DESC_POINTER_MODE] == 1) {
    g->alpha.device = alpha;
    g->beta.device = beta;
  } else {
    memcpy(g->alpha.bytes, alpha, number_bytes(g->scale));
    memcpy(g->beta.bytes, beta, number_bytes(g->scale));
  }
  return submit(&w, stream);
}
