// Orthogonal and unitary factors: QR, and the reductions to bidiagonal and tridiagonal form.
#include "libraries/cusolver/lapack.h"

#define READ OPERAND_READ
#define WRITE OPERAND_WRITE
#define BOTH (OPERAND_READ | OPERAND_WRITE)
#define REQUIRE_WORKSPACE(m, n) \
  REQUIRE(add_workspace(&c, w, m, n), "the workspace is smaller than bufferSize says")

// --- QR ---

static void run_geqrf(void *p) {
  const Work *w = p;
  int info = 0;
  WITH_WORK(w, LAPACK(w, geqrf)(&w->m, &w->n, w->a, &w->lda, w->tau, work, &lwork, &info));
  set_info(w, info);
}

Status solver_geqrf(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->m >= 0 && w->n >= 0, "m and n must be from 0 to 2^31 - 1");
  REQUIRE(w->lda >= MAX_OF(1, w->m), "lda is smaller than the number of rows of A");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->m, w->n, w->lda, BOTH, OPERAND_FULL});
  add_vector(&c, "tau", w->tau, element_of(w), MIN_OF(w->m, w->n), WRITE);
  add_info(&c, w);
  REQUIRE_WORKSPACE(w->m, w->n);
  return submit(h, &c, w, run_geqrf);
}

static void run_orgqr(void *p) {
  const Work *w = p;
  int info = 0;
  WITH_WORK(
      w, LAPACK2(w, orgqr, ungqr)(&w->m, &w->n, &w->k, w->a, &w->lda, w->tau, work, &lwork, &info));
  set_info(w, info);
}

Status solver_orgqr(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->n >= 0 && w->m >= w->n, "n is negative or above m");
  REQUIRE(w->k >= 0 && w->k <= w->n, "k is negative or above n");
  REQUIRE(w->lda >= MAX_OF(1, w->m), "lda is smaller than the number of rows of A");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->m, w->k, w->lda, READ, OPERAND_STRICT_LOWER});
  add_matrix(&c, w, (Shape){"A", w->a, w->m, w->n, w->lda, WRITE, OPERAND_FULL});
  add_vector(&c, "tau", w->tau, element_of(w), w->k, READ);
  add_info(&c, w);
  REQUIRE_WORKSPACE(w->m, w->n);
  return submit(h, &c, w, run_orgqr);
}

static void run_ormqr(void *p) {
  const Work *w = p;
  char side = side_letter(w), trans = trans_letter(w);
  int info = 0;
  WITH_WORK(w, LAPACK2(w, ormqr, unmqr)(&side, &trans, &w->m, &w->n, &w->k, w->a, &w->lda, w->tau,
                                        w->c, &w->ldc, work, &lwork, &info, (size_t)1, (size_t)1));
  set_info(w, info);
}

Status solver_ormqr(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  int order = w->side == 0 ? w->m : w->n;
  REQUIRE(w->m >= 0 && w->n >= 0, "m and n must be from 0 to 2^31 - 1");
  REQUIRE(w->k >= 0 && w->k <= order, "k is negative or above the order of Q");
  REQUIRE(w->lda >= MAX_OF(1, order), "lda is smaller than the number of rows of A");
  REQUIRE(w->ldc >= MAX_OF(1, w->m), "ldc is smaller than the number of rows of C");
  REQUIRE(w->trans != 1 || !number_is_complex(w->type),
          "a unitary matrix has CUBLAS_OP_N and CUBLAS_OP_C, not CUBLAS_OP_T");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, order, w->k, w->lda, READ, OPERAND_STRICT_LOWER});
  add_vector(&c, "tau", w->tau, element_of(w), w->k, READ);
  add_matrix(&c, w, (Shape){"C", w->c, w->m, w->n, w->ldc, BOTH, OPERAND_FULL});
  add_info(&c, w);
  REQUIRE_WORKSPACE(w->m, w->n);
  return submit(h, &c, w, run_ormqr);
}

// --- bidiagonal form ---

static void run_gebrd(void *p) {
  const Work *w = p;
  int info = 0;
  WITH_WORK(w, LAPACK(w, gebrd)(&w->m, &w->n, w->a, &w->lda, w->values, w->off_diagonal, w->tau,
                                w->taup, work, &lwork, &info));
  set_info(w, info);
}

Status solver_gebrd(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->n >= 0 && w->m >= w->n, "n is negative or above m");
  REQUIRE(w->lda >= MAX_OF(1, w->m), "lda is smaller than the number of rows of A");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->m, w->n, w->lda, BOTH, OPERAND_FULL});
  add_vector(&c, "D", w->values, real_of(w), w->n, WRITE);
  add_vector(&c, "E", w->off_diagonal, real_of(w), MAX_OF(0, w->n - 1), WRITE);
  add_vector(&c, "tauq", w->tau, element_of(w), w->n, WRITE);
  add_vector(&c, "taup", w->taup, element_of(w), w->n, WRITE);
  add_info(&c, w);
  REQUIRE_WORKSPACE(w->m, w->n);
  return submit(h, &c, w, run_gebrd);
}

static void run_orgbr(void *p) {
  const Work *w = p;
  char which = w->side == 0 ? 'Q' : 'P';
  int info = 0;
  WITH_WORK(w, LAPACK2(w, orgbr, ungbr)(&which, &w->m, &w->n, &w->k, w->a, &w->lda, w->tau, work,
                                        &lwork, &info, (size_t)1));
  set_info(w, info);
}

Status solver_orgbr(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->m >= 0 && w->n >= 0 && w->k >= 0, "m, n and k must be from 0 to 2^31 - 1");
  REQUIRE(w->side == 0 ? w->m >= w->n && w->n >= MIN_OF(w->m, w->k)
                       : w->n >= w->m && w->m >= MIN_OF(w->n, w->k),
          "m, n and k do not go together");
  REQUIRE(w->lda >= MAX_OF(1, w->m), "lda is smaller than the number of rows of A");
  LibraryCall c = {.name = call_name};
  unsigned access = BOTH | OPERAND_PARTLY;
  add_matrix(&c, w, (Shape){"A", w->a, w->m, w->n, w->lda, access, OPERAND_FULL});
  add_vector(&c, "tau", w->tau, element_of(w), MIN_OF(w->k, w->side == 0 ? w->m : w->n), READ);
  add_info(&c, w);
  REQUIRE_WORKSPACE(w->m, w->n);
  return submit(h, &c, w, run_orgbr);
}

// --- tridiagonal form ---

static void run_sytrd(void *p) {
  const Work *w = p;
  char uplo = uplo_letter(w);
  int info = 0;
  WITH_WORK(w, LAPACK2(w, sytrd, hetrd)(&uplo, &w->n, w->a, &w->lda, w->values, w->off_diagonal,
                                        w->tau, work, &lwork, &info, (size_t)1));
  set_info(w, info);
}

Status solver_sytrd(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->uplo == 0 || w->uplo == 1, "uplo is neither lower nor upper");
  REQUIRE(w->n >= 0, "n must be from 0 to 2^31 - 1");
  REQUIRE(w->lda >= MAX_OF(1, w->n), "lda is smaller than the number of rows of A");
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, BOTH, triangle(w)});
  add_vector(&c, "d", w->values, real_of(w), w->n, WRITE);
  add_vector(&c, "e", w->off_diagonal, real_of(w), MAX_OF(0, w->n - 1), WRITE);
  add_vector(&c, "tau", w->tau, element_of(w), MAX_OF(0, w->n - 1), WRITE);
  add_info(&c, w);
  REQUIRE_WORKSPACE(w->n, w->n);
  return submit(h, &c, w, run_sytrd);
}

static void run_orgtr(void *p) {
  const Work *w = p;
  char uplo = uplo_letter(w);
  int info = 0;
  WITH_WORK(w, LAPACK2(w, orgtr, ungtr)(&uplo, &w->n, w->a, &w->lda, w->tau, work, &lwork, &info,
                                        (size_t)1));
  set_info(w, info);
}

Status solver_orgtr(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  REQUIRE(w->n >= 0, "n must be from 0 to 2^31 - 1");
  REQUIRE(w->lda >= MAX_OF(1, w->n), "lda is smaller than the number of rows of A");
  OperandShape half = w->uplo == 0 ? OPERAND_STRICT_LOWER : OPERAND_STRICT_UPPER;
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, READ, half});
  add_matrix(&c, w, (Shape){"A", w->a, w->n, w->n, w->lda, WRITE, OPERAND_FULL});
  add_vector(&c, "tau", w->tau, element_of(w), MAX_OF(0, w->n - 1), READ);
  add_info(&c, w);
  REQUIRE_WORKSPACE(w->n, w->n);
  return submit(h, &c, w, run_orgtr);
}

static void run_ormtr(void *p) {
  const Work *w = p;
  char side = side_letter(w), uplo = uplo_letter(w), trans = trans_letter(w);
  int info = 0;
  WITH_WORK(w, LAPACK2(w, ormtr, unmtr)(&side, &uplo, &trans, &w->m, &w->n, w->a, &w->lda, w->tau,
                                        w->c, &w->ldc, work, &lwork, &info, (size_t)1, (size_t)1,
                                        (size_t)1));
  set_info(w, info);
}

Status solver_ormtr(const Handle *h, const char *call_name, const Work *w) {
  BEGIN_ROUTINE();
  int order = w->side == 0 ? w->m : w->n;
  REQUIRE(w->m >= 0 && w->n >= 0, "m and n must be from 0 to 2^31 - 1");
  REQUIRE(w->lda >= MAX_OF(1, order), "lda is smaller than the number of rows of A");
  REQUIRE(w->ldc >= MAX_OF(1, w->m), "ldc is smaller than the number of rows of C");
  REQUIRE(w->trans != 1 || !number_is_complex(w->type),
          "a unitary matrix has CUBLAS_OP_N and CUBLAS_OP_C, not CUBLAS_OP_T");
  OperandShape half = w->uplo == 0 ? OPERAND_STRICT_LOWER : OPERAND_STRICT_UPPER;
  LibraryCall c = {.name = call_name};
  add_matrix(&c, w, (Shape){"A", w->a, order, order, w->lda, READ, half});
  add_vector(&c, "tau", w->tau, element_of(w), MAX_OF(0, order - 1), READ);
  add_matrix(&c, w, (Shape){"C", w->c, w->m, w->n, w->ldc, BOTH, OPERAND_FULL});
  add_info(&c, w);
  REQUIRE_WORKSPACE(w->m, w->n);
  return submit(h, &c, w, run_ormtr);
}
