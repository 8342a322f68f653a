// Factorisations of square matrices, and the solves and inverses that use them.
#include "libraries/cusolver/lapack.h"

#define READ OPERAND_READ
#define WRITE OPERAND_WRITE
#define BOTH (OPERAND_READ | OPERAND_WRITE)

// --- LU ---

// Without pivots: right-looking elimination, which stops at a zero.
static int lu_without_pivots(const Work *w) {
  static const double minus_one[2] = {-1, 0};
  static const float minus_one_f[2] = {-1, 0};
  bool is_double = w->type == R_64F || w->type == C_64F;
  const void *minus = is_double ? (const void *)minus_one : minus_one_f;
  int one = 1, size = MIN_OF(w->m, w->n);
  for (int k = 0; k < size; k++) {
    void *pivot = element_at(w, w->a, w->lda, k, k);
    double value[2] = {0}, inverse[2] = {0};
    numbers_widen(value, pivot, w->type, 1);
    double norm = value[0] * value[0] + value[1] * value[1];
    if (norm == 0) return k + 1;
    int below = w->m - k - 1, right = w->n - k - 1;
    inverse[0] = value[0] / norm;
    inverse[1] = -value[1] / norm;
    char scale[16];
    numbers_narrow(scale, w->type, inverse, 1);
    void *column = element_at(w, w->a, w->lda, k + 1, k);
    if (below > 0) LAPACK(w, scal)(&below, scale, column, &one);
    if (below > 0 && right > 0) LAPACK2(w, ger, geru)
    (&below, &right, minus, column, &one, element_at(w, w->a, w->lda, k, k + 1), &w->lda,
     element_at(w, w->a, w->lda, k + 1, k + 1), &w->lda);
  }
  return 0;
}

static void run_getrf(void *p) {
  const Work *w = p;
  int info = -1, size = MIN_OF(w->m, w->n), *own = malloc(sizeof *own * (size_t)(size + 1));
  if (!w->pivots) info = lu_without_pivots(w);
  else if (own) {
    LAPACK(w, getrf)(&w->m, &w->n, w->a, &w->lda, own, &info);
    pivots_store(w, own, size);
  }
  set_info(w, info);
  free(own);
}

Status solver_getrf(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->m >= 0 && w->n >= 0, "m and n must be from 0 to 2^31 - 1");
  REQUIRE(w->lda >= MAX_OF(1, w->m), "lda is smaller than the number of rows of A");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->m, w->n, w->lda, BOTH, OPERAND_FULL});
  add_pivots(&c, w, MIN_OF(w->m, w->n), WRITE);
  add_info(&c, w);
  REQUIRE(add_workspace(&c, w, w->m, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run_getrf);
}

static void run_getrs(void *p) {
  const Work *w = p;
  char trans = trans_letter(w);
  int info = -5, *pivots = pivots_load(w, w->n, w->n);
  for (int i = 0; pivots && i < w->n; i++)
    if (pivots[i] < 1) {
      free(pivots);
      pivots = NULL;
    }
  if (pivots) LAPACK(w, getrs)
  (&trans, &w->n, &w->nrhs, w->a, &w->lda, pivots, w->b, &w->ldb, &info, (size_t)1);
  set_info(w, info);
  free(pivots);
}

#define REQUIRE_SOLVE() \
  REQUIRE(w->n >= 0 && w->nrhs >= 0, "n and nrhs must be from 0 to 2^31 - 1"); \
  REQUIRE(w->lda >= MAX_OF(1, w->n), "lda is smaller than the number of rows of A"); \
  REQUIRE(w->ldb >= MAX_OF(1, w->n), "ldb is smaller than the number of rows of B")
#define REQUIRE_TRIANGLE() \
  REQUIRE(w->uplo == 0 || w->uplo == 1, "uplo is neither lower nor upper"); \
  REQUIRE(w->n >= 0, "n must be from 0 to 2^31 - 1"); \
  REQUIRE(w->lda >= MAX_OF(1, w->n), "lda is smaller than the number of rows of A")

Status solver_getrs(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE_SOLVE();
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, READ, OPERAND_FULL});
  add_pivots(&c, w, w->n, READ);
  add_matrix(&c, w, (Shape){"B", w->b, w->n, w->nrhs, w->ldb, BOTH, OPERAND_FULL});
  add_info(&c, w);
  return submit(h, &c, w, run_getrs);
}

static void run_laswp(void *p) {
  const Work *w = p;
  int *pivots = pivots_load(w, w->k2, w->lda);
  if (pivots) LAPACK(w, laswp)(&w->n, w->a, &w->lda, &w->k1, &w->k2, pivots, &w->incx);
  free(pivots);
}

Status solver_laswp(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->n >= 0 && w->k1 >= 1 && w->k2 >= w->k1, "n is negative, or k1 to k2 is no range");
  REQUIRE(w->lda >= w->k2, "lda is smaller than k2");
  REQUIRE(w->incx == 1 || w->incx == -1, "incx is neither 1 nor -1");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->k2, w->n, w->lda, BOTH | OPERAND_PARTLY, OPERAND_FULL});
  add_pivots(&c, w, w->k2, READ);
  return submit(h, &c, w, run_laswp);
}

// --- one triangle in place: Cholesky and its relatives ---

// The routine's name stands at two places of LAPACK's table, so that a macro makes the function.
#define TRIANGULAR(name) \
  static void run_##name(void *p) { \
    const Work *w = p; \
    char uplo = uplo_letter(w); \
    int info = 0; \
    LAPACK(w, name)(&uplo, &w->n, w->a, &w->lda, &info, (size_t)1); \
    set_info(w, info); \
  } \
  Status solver_##name(const Handle *h, const char *call_name, const Work *w) { \
    return triangle_in_place(h, call_name, w, run_##name); \
  }

static Status triangle_in_place(const Handle *h, const char *call_name, const Work *w,
                                void (*run)(void *)) {
  BEGIN_ROUTINE();
  REQUIRE_TRIANGLE();
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, BOTH, triangle(w)});
  add_info(&c, w);
  REQUIRE(add_workspace(&c, w, w->n, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run);
}
TRIANGULAR(potrf)
TRIANGULAR(potri)
TRIANGULAR(lauum)

static void run_trtri(void *p) {
  const Work *w = p;
  char uplo = uplo_letter(w), diag = diag_letter(w);
  int info = 0;
  LAPACK(w, trtri)(&uplo, &diag, &w->n, w->a, &w->lda, &info, (size_t)1, (size_t)1);
  set_info(w, info);
}
Status solver_trtri(const Handle *h, const char *call_name, const Work *w) {
  return triangle_in_place(h, call_name, w, run_trtri);
}

static void run_potrs(void *p) {
  const Work *w = p;
  char uplo = uplo_letter(w);
  int info = 0;
  LAPACK(w, potrs)(&uplo, &w->n, &w->nrhs, w->a, &w->lda, w->b, &w->ldb, &info, (size_t)1);
  set_info(w, info);
}

Status solver_potrs(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE_TRIANGLE();
  REQUIRE_SOLVE();
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, READ, triangle(w)});
  add_matrix(&c, w, (Shape){"B", w->b, w->n, w->nrhs, w->ldb, BOTH, OPERAND_FULL});
  add_info(&c, w);
  return submit(h, &c, w, run_potrs);
}

// --- symmetric indefinite ---

static void run_sytrf(void *p) {
  const Work *w = p;
  char uplo = uplo_letter(w);
  int info = -1, *own = malloc(sizeof *own * (size_t)(w->n + 1));
  if (own)
    WITH_WORK(w,
              LAPACK(w, sytrf)(&uplo, &w->n, w->a, &w->lda, own, work, &lwork, &info, (size_t)1));
  if (own && w->pivots) pivots_store(w, own, w->n);
  set_info(w, info);
  free(own);
}

Status solver_sytrf(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE_TRIANGLE();
  REQUIRE(w->pivots, "ipiv is null: the factorisation without pivots is not served");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, BOTH, triangle(w)});
  add_pivots(&c, w, w->n, WRITE);
  add_info(&c, w);
  REQUIRE(add_workspace(&c, w, w->n, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run_sytrf);
}

static void run_sytri(void *p) {
  const Work *w = p;
  char uplo = uplo_letter(w);
  int info = -1, *pivots = pivots_load(w, w->n, w->n);
  void *work = malloc((size_t)(w->n + 1) * 2 * number_bytes(w->type));
  if (pivots && work) LAPACK(w, sytri)(&uplo, &w->n, w->a, &w->lda, pivots, work, &info, (size_t)1);
  set_info(w, info);
  free(pivots);
  free(work);
}

Status solver_sytri(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE_TRIANGLE();
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, BOTH, triangle(w)});
  add_pivots(&c, w, w->n, READ);
  add_info(&c, w);
  REQUIRE(add_workspace(&c, w, w->n, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run_sytri);
}

static void run_sytrs(void *p) {
  const Work *w = p;
  char uplo = uplo_letter(w);
  int info = -1, *pivots = pivots_load(w, w->n, w->n);
  if (pivots) LAPACK(w, sytrs)
  (&uplo, &w->n, &w->nrhs, w->a, &w->lda, pivots, w->b, &w->ldb, &info, (size_t)1);
  set_info(w, info);
  free(pivots);
}

Status solver_sytrs(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE_TRIANGLE();
  REQUIRE_SOLVE();
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, READ, triangle(w)});
  add_pivots(&c, w, w->n, READ);
  add_matrix(&c, w, (Shape){"B", w->b, w->n, w->nrhs, w->ldb, BOTH, OPERAND_FULL});
  add_info(&c, w);
  REQUIRE(add_workspace(&c, w, w->n, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run_sytrs);
}

// --- batches: pointers in device memory ---

static bool matrix_is_there(const Work *w, Shape s) {
  LibraryCall one = {0};
  add_matrix(&one, w, s);
  return warpgrind_library_services.more_operands(one.operands, one.noperands);
}

static void run_potrf_batched(void *p) {
  const Work *w = p;
  for (int i = 0; i < w->batch; i++) {
    Work one = *w;
    one.a = ((void **)w->a)[i];
    one.info = w->info ? w->info + i : NULL;
    if (!matrix_is_there(w, (Shape){"A", one.a, w->n, w->n, w->lda, BOTH, triangle(w)})) return;
    run_potrf(&one);
  }
}

static void run_potrs_batched(void *p) {
  const Work *w = p;
  for (int i = 0; i < w->batch; i++) {
    Work one = *w;
    one.a = ((void **)w->a)[i];
    one.b = ((void **)w->b)[i];
    if (!matrix_is_there(w, (Shape){"A", one.a, w->n, w->n, w->lda, READ, triangle(w)}) ||
        !matrix_is_there(w, (Shape){"B", one.b, w->n, w->nrhs, w->ldb, BOTH, OPERAND_FULL}))
      return;
    run_potrs(&one);
  }
}

static const Element pointer_element = {sizeof(void *), OPERAND_OTHER};

Status solver_potrf_batched(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE_TRIANGLE();
  REQUIRE(w->batch >= 0, "batchSize is negative");
  if (!w->n || !w->batch) return SUCCESS;
  LibraryCall c = {.name = call_name};
  add_vector(&c, "Aarray", w->a, pointer_element, w->batch, READ);
  add_info(&c, w);
  return submit(h, &c, w, run_potrf_batched);
}

Status solver_potrs_batched(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE_TRIANGLE();
  REQUIRE_SOLVE();
  REQUIRE(w->nrhs <= 1, "potrsBatched takes one right-hand side");
  REQUIRE(w->batch >= 0, "batchSize is negative");
  if (!w->n || !w->batch || !w->nrhs) return SUCCESS;
  LibraryCall c = {.name = call_name};
  add_vector(&c, "Aarray", w->a, pointer_element, w->batch, READ);
  add_vector(&c, "Barray", w->b, pointer_element, w->batch, READ);
  if (w->info) add_vector(&c, "info", w->info, (Element){4, OPERAND_OTHER}, 1, WRITE);
  return submit(h, &c, w, run_potrs_batched);
}

// --- linear systems with iterative refinement: solved in the precision of the matrices ---

static void run_gesv(void *p) {
  const Work *w = p;
  int info = -1, *pivots = malloc(sizeof *pivots * (size_t)(w->n + 1));
  void *factors = malloc((size_t)w->n * (size_t)w->n * number_bytes(w->type) + 1);
  if (pivots && factors) {
    matrix_copy(w, &(MatrixCopy){factors, w->a, w->n, w->lda, w->n, w->n});
    matrix_copy(w, &(MatrixCopy){w->c, w->b, w->ldc, w->ldb, w->n, w->nrhs});
    int ld = MAX_OF(1, w->n);
    LAPACK(w, gesv)(&w->n, &w->nrhs, factors, &ld, pivots, w->c, &w->ldc, &info);
    if (w->pivots) pivots_store(w, pivots, w->n);
  }
  set_info(w, info);
  free(pivots);
  free(factors);
}

static void add_refined(LibraryCall *c, const Work *w) {
  add_matrix(c, w, (Shape){"B", w->b, w->m, w->nrhs, w->ldb, READ, OPERAND_FULL});
  add_matrix(c, w, (Shape){"X", w->c, w->n, w->nrhs, w->ldc, WRITE, OPERAND_FULL});
  add_info(c, w);
  c->waits = true;  // the number of iterations goes to the host
}

Status solver_gesv(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE_SOLVE();
  REQUIRE(w->ldc >= MAX_OF(1, w->n), "lddx is smaller than the number of rows of X");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, READ, OPERAND_FULL});
  add_pivots(&c, w, w->n, WRITE);
  add_refined(&c, w);
  REQUIRE(add_workspace(&c, w, w->n, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run_gesv);
}

static void run_gels(void *p) {
  const Work *w = p;
  int info = -1, ld = MAX_OF(1, w->m);
  char no = 'N';
  size_t bytes = number_bytes(w->type);
  void *a = malloc((size_t)w->m * (size_t)w->n * bytes + 1),
       *b = malloc((size_t)w->m * (size_t)w->nrhs * bytes + 1);
  if (a && b) {
    matrix_copy(w, &(MatrixCopy){a, w->a, w->m, w->lda, w->m, w->n});
    matrix_copy(w, &(MatrixCopy){b, w->b, w->m, w->ldb, w->m, w->nrhs});
    WITH_WORK(w, LAPACK(w, gels)(&no, &w->m, &w->n, &w->nrhs, a, &ld, b, &ld, work, &lwork, &info,
                                 (size_t)1));
    matrix_copy(w, &(MatrixCopy){w->c, b, w->ldc, w->m, w->n, w->nrhs});
  }
  set_info(w, info);
  free(a);
  free(b);
}

Status solver_gels(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->n >= 0 && w->m >= w->n && w->nrhs >= 0, "m is smaller than n, or a size is negative");
  REQUIRE(w->lda >= MAX_OF(1, w->m), "ldda is smaller than the number of rows of A");
  REQUIRE(w->ldb >= MAX_OF(1, w->m), "lddb is smaller than the number of rows of B");
  REQUIRE(w->ldc >= MAX_OF(1, w->n), "lddx is smaller than the number of rows of X");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->m, w->n, w->lda, READ, OPERAND_FULL});
  add_refined(&c, w);
  REQUIRE(add_workspace(&c, w, w->m, w->n), "the workspace is smaller than bufferSize says");
  return submit(h, &c, w, run_gels);
}
