// Products of sparse and dense matrices: SpMV, SpMM, SDDMM.
#include "libraries/cusparse/products.h"

static int64_t rows_of(int op, int64_t rows, int64_t columns) {
  return op == OP_NONE ? rows : columns;
}

// Element (i, j) of op(X), where x is column-major.
static Number element(const Number *x, const Dense *d, int op, int64_t i, int64_t j) {
  if (op == OP_NONE) return x[i + j * d->rows];
  Number n = x[j + i * d->rows];
  return op == OP_CONJUGATE ? conjugate(n) : n;
}

static void scale(Number *x, int64_t n, Number by) {
  for (int64_t i = 0; i < n; i++) x[i] = is_zero(by) ? (Number){0, 0} : times(by, x[i]);
}

// C = alpha op(A) op(B) + beta C
static void run_product(void *p) {
  const ProductWork *w = p;
  Number alpha = scalar_number(&w->alpha, w->compute), beta = scalar_number(&w->beta, w->compute);
  for (int k = 0; k < w->c.batch; k++) {
    Entries e = {0};
    Number *b = dense_load(&w->b, k), *c = dense_load(&w->c, k),
           *sums = calloc((size_t)(w->c.rows * w->c.columns + 1), sizeof *sums);
    if (b && c && sums && entries_load(&w->a, k, true, &e)) {
      entries_transpose(&e, w->opa);
      for (int64_t j = 0; j < w->c.columns; j++)
        for (int64_t i = 0; i < e.n; i++) {
          const Entry *x = &e.list[i];
          Number *sum = &sums[x->row + j * w->c.rows];
          *sum = plus(*sum, times(x->value, element(b, &w->b, w->opb, x->column, j)));
        }
      scale(c, w->c.rows * w->c.columns, beta);
      for (int64_t i = 0; i < w->c.rows * w->c.columns; i++)
        c[i] = plus(c[i], times(alpha, sums[i]));
      dense_store(&w->c, k, c);
    }
    entries_free(&e);
    free(b);
    free(c);
    free(sums);
  }
}

Status product_submit(const Handle *h, const ProductNames *names, ProductWork *w, void *buffer) {
  const char *call_name = names->call;
  int64_t rows = rows_of(w->opa, w->a.rows, w->a.columns),
          inner = rows_of(w->opa, w->a.columns, w->a.rows);
  REQUIRE(rows == w->c.rows && inner == rows_of(w->opb, w->b.rows, w->b.columns) &&
              w->c.columns == rows_of(w->opb, w->b.columns, w->b.rows),
          "the sizes of the operands do not go together");
  REQUIRE(number_bytes(w->compute), "the type of the computation is not known");
  LibraryCall c = {
      .name = call_name, .run = run_product, .arguments = w, .argument_bytes = sizeof *w};
  if (!scalar_is_zero(&w->alpha, number_bytes(w->compute))) {
    add_sparse(&c, names_of_a, &w->a, OPERAND_READ);
    add_dense(&c, names->b, &w->b, OPERAND_READ);
  }
  add_dense(&c, names->c, &w->c, result_access(&w->beta, w->compute));
  add_buffer(&c, buffer);
  call_scalar(&c, "alpha", &w->alpha, element_of(w->compute));
  call_scalar(&c, "beta", &w->beta, element_of(w->compute));
  return submit_call(h, &c);
}

// --- SpMV ---

EXPORT Status cusparseSpMV_bufferSize(const Handle *h, int op, const void *alpha, const Sparse *a,
                                      const Dense *x, const void *beta, const Dense *y, int compute,
                                      int alg, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseSpMV_preprocess(const Handle *h, int op, const void *alpha, const Sparse *a,
                                      const Dense *x, const void *beta, Dense *y, int compute,
                                      int alg, void *buffer) {
  return handle_check(h);
}
EXPORT Status cusparseSpMV(const Handle *h, int op, const void *alpha, const Sparse *a,
                           const Dense *x, const void *beta, Dense *y, int compute, int alg,
                           void *buffer) {
  BEGIN(h);
  REQUIRE(IS(a, SPARSE) && IS(x, DENSE) && IS(y, DENSE), "a descriptor is none, or was destroyed");
  REQUIRE(alpha && beta, "alpha or beta is null");
  ProductWork w = {*a,
                   *x,
                   *y,
                   op,
                   OP_NONE,
                   scalar_take(h, alpha, (DataType)compute),
                   scalar_take(h, beta, (DataType)compute),
                   (DataType)compute};
  return product_submit(h, &(ProductNames){call_name, "x", "y"}, &w, buffer);
}

// --- SpMM ---

EXPORT Status cusparseSpMM_bufferSize(const Handle *h, int opa, int opb, const void *alpha,
                                      const Sparse *a, const Dense *b, const void *beta,
                                      const Dense *c, int compute, int alg, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseSpMM_preprocess(const Handle *h, int opa, int opb, const void *alpha,
                                      const Sparse *a, const Dense *b, const void *beta, Dense *c,
                                      int compute, int alg, void *buffer) {
  return handle_check(h);
}
EXPORT Status cusparseSpMM(const Handle *h, int opa, int opb, const void *alpha, const Sparse *a,
                           const Dense *b, const void *beta, Dense *c, int compute, int alg,
                           void *buffer) {
  BEGIN(h);
  REQUIRE(IS(a, SPARSE) && IS(b, DENSE) && IS(c, DENSE), "a descriptor is none, or was destroyed");
  REQUIRE(alpha && beta, "alpha or beta is null");
  ProductWork w = {*a,
                   *b,
                   *c,
                   opa,
                   opb,
                   scalar_take(h, alpha, (DataType)compute),
                   scalar_take(h, beta, (DataType)compute),
                   (DataType)compute};
  return product_submit(h, &(ProductNames){call_name, "B", "C"}, &w, buffer);
}

// --- SDDMM: the elements of op(A) op(B) where C has some ---

typedef struct SampledWork {
  Dense a, b;
  Sparse c;
  int opa, opb;
  Scalar alpha, beta;
  DataType compute;
} SampledWork;

static void run_sampled(void *p) {
  const SampledWork *w = p;
  Number alpha = scalar_number(&w->alpha, w->compute), beta = scalar_number(&w->beta, w->compute);
  int64_t inner = rows_of(w->opa, w->a.columns, w->a.rows);
  for (int k = 0; k < w->c.batch; k++) {
    Entries e = {0};
    Number *a = dense_load(&w->a, k), *b = dense_load(&w->b, k);
    if (a && b && entries_load(&w->c, k, true, &e))
      for (int64_t i = 0; i < e.n; i++) {
        const Entry *x = &e.list[i];
        Number sum = {0, 0};
        for (int64_t l = 0; l < inner; l++)
          sum = plus(sum, times(element(a, &w->a, w->opa, x->row, l),
                                element(b, &w->b, w->opb, l, x->column)));
        sum = times(alpha, sum);
        if (!is_zero(beta)) sum = plus(sum, times(beta, x->value));
        number_store(w->c.values, w->c.type, x->at, sum);
      }
    entries_free(&e);
    free(a);
    free(b);
  }
}

EXPORT Status cusparseSDDMM_bufferSize(const Handle *h, int opa, int opb, const void *alpha,
                                       const Dense *a, const Dense *b, const void *beta,
                                       const Sparse *c, int compute, int alg, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseSDDMM_preprocess(const Handle *h, int opa, int opb, const void *alpha,
                                       const Dense *a, const Dense *b, const void *beta, Sparse *c,
                                       int compute, int alg, void *buffer) {
  return handle_check(h);
}
EXPORT Status cusparseSDDMM(const Handle *h, int opa, int opb, const void *alpha, const Dense *a,
                            const Dense *b, const void *beta, Sparse *c, int compute, int alg,
                            void *buffer) {
  BEGIN(h);
  REQUIRE(IS(a, DENSE) && IS(b, DENSE) && IS(c, SPARSE), "a descriptor is none, or was destroyed");
  REQUIRE(alpha && beta, "alpha or beta is null");
  REQUIRE(rows_of(opa, a->rows, a->columns) == c->rows &&
              rows_of(opb, b->columns, b->rows) == c->columns &&
              rows_of(opa, a->columns, a->rows) == rows_of(opb, b->rows, b->columns),
          "the sizes of the operands do not go together");
  SampledWork w = {*a,
                   *b,
                   *c,
                   opa,
                   opb,
                   scalar_take(h, alpha, (DataType)compute),
                   scalar_take(h, beta, (DataType)compute),
                   (DataType)compute};
  LibraryCall call = {
      .name = call_name, .run = run_sampled, .arguments = &w, .argument_bytes = sizeof w};
  add_dense(&call, "A", a, OPERAND_READ);
  add_dense(&call, "B", b, OPERAND_READ);
  add_sparse(&call, names_of_c, c, result_access(&w.beta, w.compute));
  add_buffer(&call, buffer);
  call_scalar(&call, "alpha", &w.alpha, element_of(w.compute));
  call_scalar(&call, "beta", &w.beta, element_of(w.compute));
  return submit_call(h, &call);
}
