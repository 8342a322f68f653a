// Eigenvalues and eigenvectors of symmetric and Hermitian matrices, alone, in batches, and of pairs
// (A, B). LAPACK's method of divide and conquer computes all of them, also where a program asks for
// Jacobi's method (…evj) or for some of the values (…evdx).
#include <math.h>

#include "libraries/cusolver/lapack.h"

typedef struct EigenSpace {
  void *work, *rwork;
  int *iwork;
  int lwork, lrwork, liwork, info;
} EigenSpace;

static void call_lapack(const Work *w, EigenSpace *s) {
  char job = w->vectors ? 'V' : 'N', uplo = uplo_letter(w);
  bool complex = number_is_complex(w->type);
  if (w->b && complex) LAPACK2(w, sygvd, hegvd)
  (&w->itype, &job, &uplo, &w->n, w->a, &w->lda, w->b, &w->ldb, w->values, s->work, &s->lwork,
   s->rwork, &s->lrwork, s->iwork, &s->liwork, &s->info, (size_t)1, (size_t)1);
  else if (w->b) LAPACK2(w, sygvd, hegvd)(&w->itype, &job, &uplo, &w->n, w->a, &w->lda, w->b,
                                          &w->ldb, w->values, s->work, &s->lwork, s->iwork,
                                          &s->liwork, &s->info, (size_t)1, (size_t)1);
  else if (complex) LAPACK2(w, syevd, heevd)(&job, &uplo, &w->n, w->a, &w->lda, w->values, s->work,
                                             &s->lwork, s->rwork, &s->lrwork, s->iwork, &s->liwork,
                                             &s->info, (size_t)1, (size_t)1);
  else LAPACK2(w, syevd, heevd)(&job, &uplo, &w->n, w->a, &w->lda, w->values, s->work, &s->lwork,
                                s->iwork, &s->liwork, &s->info, (size_t)1, (size_t)1);
}

static int decompose(const Work *w) {
  double asked[2] = {0}, asked_real[2] = {0};
  int asked_int = 0;
  DataType real = w->type == R_32F || w->type == C_32F ? R_32F : R_64F;
  EigenSpace s = {asked, asked_real, &asked_int, -1, -1, -1, 0};
  call_lapack(w, &s);
  s.lwork = asked_length(w->type, asked);
  s.lrwork = asked_length(real, asked_real);
  s.liwork = MAX_OF(1, asked_int);
  s.work = malloc((size_t)s.lwork * number_bytes(w->type));
  s.rwork = malloc((size_t)s.lrwork * number_bytes(real));
  s.iwork = malloc((size_t)s.liwork * sizeof *s.iwork);
  s.info = -1;
  if (s.work && s.rwork && s.iwork) call_lapack(w, &s);
  free(s.work);
  free(s.rwork);
  free(s.iwork);
  return s.info;
}

// The norm of A V - V diag(values), where `before` holds A and w->a holds V.
static double residual_of(const Work *w, void *before) {
  static const double one[2] = {1, 0}, zero[2];
  static const float one_f[2] = {1, 0}, zero_f[2];
  bool is_double = w->type == R_64F || w->type == C_64F;
  char left = 'L', uplo = uplo_letter(w);
  int ld = MAX_OF(1, w->n), parts = number_is_complex(w->type) ? 2 : 1;
  char *product = malloc((size_t)w->n * (size_t)w->n * number_bytes(w->type) + 1);
  double sum = 0;
  if (!product) return 0;
  LAPACK2(w, symm, hemm)
  (&left, &uplo, &w->n, &w->n, is_double ? (const void *)one : one_f, before, &ld, w->a, &w->lda,
   is_double ? (const void *)zero : zero_f, product, &ld);
  for (int j = 0; j < w->n; j++) {
    double value;
    numbers_widen(&value, (char *)w->values + (size_t)j * real_of(w).bytes,
                  is_double ? R_64F : R_32F, 1);
    for (int i = 0; i < w->n; i++) {
      double x[2], v[2];
      numbers_widen(x, element_at(w, product, ld, i, j), w->type, 1);
      numbers_widen(v, element_at(w, w->a, w->lda, i, j), w->type, 1);
      for (int k = 0; k < parts; k++) sum += pow(x[k] - value * v[k], 2);
    }
  }
  free(product);
  return sqrt(sum);
}

static int decompose_by_jacobi(const Work *w) {
  void *before = NULL;
  bool measures = w->jacobi && w->vectors && !w->b;
  if (measures) before = malloc((size_t)w->n * (size_t)w->n * number_bytes(w->type) + 1);
  if (before) matrix_copy(w, &(MatrixCopy){before, w->a, w->n, w->lda, w->n, w->n});
  int info = decompose(w);
  if (before && !info) w->jacobi->residual = residual_of(w, before);
  free(before);
  return info;
}

// --- some of the values: they and their vectors move to the front ---

static void keep_range(const Work *w) {
  DataType real = w->type == R_32F || w->type == C_32F ? R_32F : R_64F;
  size_t bytes = number_bytes(real);
  bool by_index = w->range == RANGE_INDEX;
  int first = by_index ? w->il - 1 : 0, end = by_index ? w->iu : 0;
  for (int i = 0; !by_index && i < w->n; i++) {  // vl < value <= vu, and the values are sorted
    double value;
    numbers_widen(&value, (char *)w->values + (size_t)i * bytes, real, 1);
    first += value <= w->vl;
    end += value <= w->vu;
  }
  int count = MAX_OF(0, end - first);
  memmove(w->values, (char *)w->values + (size_t)first * bytes, (size_t)count * bytes);
  if (w->vectors && first && count)
    memmove(w->a, element_at(w, w->a, w->lda, 0, first),
            (size_t)(element_at(w, w->a, w->lda, w->n, count - 1) - (char *)w->a));
  if (w->count) *w->count = count;
  if (w->wide_count) *w->wide_count = count;
}

static void run_eigen(void *p) {
  const Work *w = p;
  for (int i = 0; i < w->batch; i++) {
    Work one = *w;
    one.a = (char *)w->a + (size_t)i * (size_t)w->sa * number_bytes(w->type);
    one.values = (char *)w->values + (size_t)i * (size_t)w->ss * real_of(w).bytes;
    one.info = w->info ? w->info + i : NULL;
    int info = decompose_by_jacobi(&one);
    if (w->range != RANGE_ALL && !info) keep_range(&one);
    else if (w->count) *w->count = w->n;
    if (w->range == RANGE_ALL && w->wide_count) *w->wide_count = w->n;
    set_info(&one, info);
  }
}

static void add_batched(LibraryCall *c, const Work *w, Operand o, int64_t stride) {
  o.batch = (uint64_t)w->batch;
  o.slice = (uint64_t)stride * o.element;
  call_operand(c, &o);
}

static Status eigen(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->uplo == 0 || w->uplo == 1, "uplo is neither lower nor upper");
  REQUIRE(w->n >= 0 && w->batch >= 0, "n and the number of matrices must be from 0 to 2^31 - 1");
  REQUIRE(w->lda >= MAX_OF(1, w->n), "lda is smaller than the number of rows of A");
  REQUIRE(w->range == RANGE_ALL || w->range == RANGE_INDEX || w->range == RANGE_VALUE,
          "range is none of CUSOLVER_EIG_RANGE_…");
  REQUIRE(w->range != RANGE_INDEX || (w->il >= 1 && w->il <= w->iu && w->iu <= w->n),
          "il to iu is no range from 1 to n");
  REQUIRE(w->range != RANGE_VALUE || w->vl < w->vu, "vl is not below vu");
  LibraryCall c = {.name = call_name, .waits = w->count || w->wide_count};
  Operand a = operand_of_matrix("A", w->a, element_of(w), (uint64_t)w->n, (uint64_t)w->n,
                                (uint64_t)w->lda);
  a.shape = triangle(w);
  a.access = OPERAND_READ | (w->vectors ? 0 : OPERAND_WRITE);
  add_batched(&c, w, a, w->sa);
  a.shape = OPERAND_FULL;
  a.access = OPERAND_WRITE;
  if (w->vectors) add_batched(&c, w, a, w->sa);
  Operand values = operand_of_vector("W", w->values, real_of(w), (uint64_t)w->n, 1);
  values.access = OPERAND_WRITE;
  add_batched(&c, w, values, w->ss);
  if (w->b)
    add_matrix(&c, w,
               (Shape){"B", w->b, w->n, w->n, w->ldb, OPERAND_READ | OPERAND_WRITE, triangle(w)});
  add_info(&c, w);
  REQUIRE(add_workspace(&c, w, w->n, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run_eigen);
}

Status solver_syevd(const Handle *h, const char *call_name, const Work *w) {
  return eigen(h, call_name, w);
}

Status solver_sygvd(const Handle *h, const char *call_name, const Work *w) {
  REQUIRE(w->itype >= 1 && w->itype <= 3, "itype is not from 1 to 3");
  REQUIRE(w->ldb >= MAX_OF(1, w->n), "ldb is smaller than the number of rows of B");
  return eigen(h, call_name, w);
}
