// Singular values and vectors. LAPACK's gesvd computes all of them, also where a program asks for
// Jacobi's method (gesvdj), the polar decomposition (gesvdp) or an approximation (gesvda).
#include "libraries/cusolver/lapack.h"

// U has m rows and VT n columns; these functions return the other size of each.
static int columns_of_u(const Work *w) {
  return w->jobu == 'A' ? w->m : w->jobu == 'S' ? MIN_OF(w->m, w->n) : 0;
}
static int rows_of_vt(const Work *w) {
  return w->jobv == 'A' ? w->n : w->jobv == 'S' ? MIN_OF(w->m, w->n) : 0;
}
// A program may want only the first k columns of V and U.
static int kept(const Work *w, int columns) { return w->k ? MIN_OF(w->k, columns) : columns; }

static void call_gesvd(const Work *w, void *u, int ldu, void *vt, int ldvt, int *info) {
  void *rwork = malloc(((size_t)MIN_OF(w->m, w->n) * 5 + 1) * sizeof(double));
  void *values = malloc(((size_t)MIN_OF(w->m, w->n) + 1) * sizeof(double));
  if (rwork && values && number_is_complex(w->type))
    WITH_WORK(w, LAPACK(w, gesvd)(&w->jobu, &w->jobv, &w->m, &w->n, w->a, &w->lda, values, u, &ldu,
                                  vt, &ldvt, work, &lwork, rwork, info, (size_t)1, (size_t)1));
  else if (rwork && values)
    WITH_WORK(w, LAPACK(w, gesvd)(&w->jobu, &w->jobv, &w->m, &w->n, w->a, &w->lda, values, u, &ldu,
                                  vt, &ldvt, work, &lwork, info, (size_t)1, (size_t)1));
  if (values) memcpy(w->values, values, (size_t)kept(w, MIN_OF(w->m, w->n)) * real_of(w).bytes);
  free(rwork);
  free(values);
}

// Computes both factors in memory of its own, then copies the columns of U and V that are wanted.
static void decompose(const Work *w, int *info) {
  size_t bytes = number_bytes(w->type);
  int rows = rows_of_vt(w), columns = columns_of_u(w), ldu = MAX_OF(1, w->m),
      ldvt = MAX_OF(1, rows);
  void *u = malloc((size_t)w->m * (size_t)columns * bytes + 1),
       *vt = malloc((size_t)rows * (size_t)w->n * bytes + 1);
  if (u && vt) {
    call_gesvd(w, u, ldu, vt, ldvt, info);
    MatrixCopy left = {w->u, u, w->ldu, ldu, w->m, kept(w, columns)},
               right = {w->v, vt, w->ldv, ldvt, w->n, kept(w, rows)};
    if (columns) matrix_copy(w, &left);
    if (rows) matrix_copy_adjoint(w, &right);
  }
  free(u);
  free(vt);
}

static void run_gesvd(void *p) {
  const Work *w = p;
  for (int i = 0; i < w->batch; i++) {
    size_t bytes = number_bytes(w->type), at = (size_t)i;
    Work one = *w;
    int info = -1;
    one.a = (char *)w->a + at * (size_t)w->sa * bytes;
    one.u = (char *)w->u + at * (size_t)w->su * bytes;
    one.v = (char *)w->v + at * (size_t)w->sv * bytes;
    one.values = (char *)w->values + at * (size_t)w->ss * real_of(w).bytes;
    one.info = w->info ? w->info + i : NULL;
    void *copy = NULL;
    if (w->k) {  // A must keep its contents
      copy = malloc((size_t)w->m * (size_t)w->n * bytes + 1);
      if (!copy) return;
      matrix_copy(w, &(MatrixCopy){copy, one.a, w->m, w->lda, w->m, w->n});
      one.a = copy;
      one.lda = MAX_OF(1, w->m);
    }
    if (w->by_v) decompose(&one, &info);
    else call_gesvd(&one, one.u, MAX_OF(1, w->ldu), one.v, MAX_OF(1, w->ldv), &info);
    set_info(&one, info);
    free(copy);
  }
}

static void add(LibraryCall *c, const Work *w, Operand o, unsigned access, int64_t stride) {
  o.access = access;
  o.batch = (uint64_t)w->batch;
  o.slice = (uint64_t)stride * o.element;
  call_operand(c, &o);
}

static Operand matrix(const Work *w, const char *name, const void *p, int rows, int columns,
                      int ld) {
  return operand_of_matrix(name, p, element_of(w), (uint64_t)rows, (uint64_t)columns, (uint64_t)ld);
}

static void add_operands(LibraryCall *c, const Work *w) {
  int size = kept(w, MIN_OF(w->m, w->n)), columns = kept(w, columns_of_u(w)),
      rows = kept(w, rows_of_vt(w));
  unsigned of_a = OPERAND_READ | (w->k ? 0 : OPERAND_WRITE);
  add(c, w, matrix(w, "A", w->a, w->m, w->n, w->lda), of_a, w->sa);
  add(c, w, operand_of_vector("S", w->values, real_of(w), (uint64_t)size, 1), OPERAND_WRITE, w->ss);
  if (columns) add(c, w, matrix(w, "U", w->u, w->m, columns, w->ldu), OPERAND_WRITE, w->su);
  if (rows && w->by_v) add(c, w, matrix(w, "V", w->v, w->n, rows, w->ldv), OPERAND_WRITE, w->sv);
  else if (rows) add(c, w, matrix(w, "VT", w->v, rows, w->n, w->ldv), OPERAND_WRITE, w->sv);
  add_info(c, w);
}

static bool is_job(char job) { return job == 'A' || job == 'S' || job == 'O' || job == 'N'; }

Status solver_gesvd(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->m >= 0 && w->n >= 0 && w->batch >= 0, "a size is not from 0 to 2^31 - 1");
  REQUIRE(is_job(w->jobu) && is_job(w->jobv), "jobu and jobvt are one of A, S, O and N");
  REQUIRE(w->jobu != 'O' || w->jobv != 'O', "jobu and jobvt cannot both be O");
  REQUIRE(w->by_v || w->m >= w->n, "gesvd takes matrices with m >= n only");
  REQUIRE(w->lda >= MAX_OF(1, w->m), "lda is smaller than the number of rows of A");
  REQUIRE(!columns_of_u(w) || w->ldu >= MAX_OF(1, w->m),
          "ldu is smaller than the number of rows of U");
  REQUIRE(!rows_of_vt(w) || w->ldv >= MAX_OF(1, w->by_v ? w->n : rows_of_vt(w)),
          "ldv is smaller than the number of rows of V");
  LibraryCall c = {.name = call_name};
  add_operands(&c, w);
  REQUIRE(add_workspace(&c, w, w->m, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run_gesvd);
}
