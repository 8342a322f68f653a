// Calls of LAPACK for any type of elements, from within the run function of a call.
#ifndef WG_LIBRARIES_CUSOLVER_LAPACK_H
#define WG_LIBRARIES_CUSOLVER_LAPACK_H

#include "libraries/cusolver/internal.h"

static inline BlasRoutine *by_type(DataType t, BlasRoutine *s, BlasRoutine *d, BlasRoutine *c,
                                   BlasRoutine *z) {
  BlasRoutine *real = t == R_32F ? s : d, *complex = t == C_32F ? c : z;
  return number_is_complex(t) ? complex : real;
}
// LAPACK's routine for the type of w: its name for real and for complex elements, and for both.
#define LAPACK2(w, real, complex) \
  by_type((w)->type, blas()->s##real, blas()->d##real, blas()->c##complex, blas()->z##complex)
#define LAPACK(w, name) LAPACK2(w, name, name)

static inline char uplo_letter(const Work *w) { return w->uplo == 0 ? 'L' : 'U'; }
static inline char side_letter(const Work *w) { return w->side == 0 ? 'L' : 'R'; }
static inline char diag_letter(const Work *w) { return w->diag == 0 ? 'N' : 'U'; }
static inline char trans_letter(const Work *w) {
  if (w->trans == 0) return 'N';
  return w->trans == 2 && number_is_complex(w->type) ? 'C' : 'T';
}

// The length that a workspace query has left in its first element.
static inline int asked_length(DataType t, const void *p) {
  double wide[2];
  numbers_widen(wide, p, t, 1);
  return wide[0] < 1 ? 1 : (int)wide[0];
}
// Makes a call twice: it asks for the length of `work`, then it computes. The call uses the names
// work and lwork; without memory it is not made and `info` stays.
#define WITH_WORK(w, call) \
  do { \
    double asked_[2] = {0}; \
    void *work = asked_; \
    int lwork = -1; \
    call; \
    lwork = asked_length((w)->type, asked_); \
    work = malloc((size_t)lwork * number_bytes((w)->type)); \
    if (work) call; \
    free(work); \
  } while (0)

// An element of a matrix of the type of w.
static inline char *element_at(const Work *w, void *p, int ld, int i, int j) {
  return (char *)p + ((size_t)i + (size_t)j * (size_t)ld) * number_bytes(w->type);
}

static inline void set_info(const Work *w, int info) {
  if (w->info) *w->info = info;
}
// Pivots as LAPACK takes them; NULL: no memory, or they are not from 1 to n (LAPACK would follow
// them out of the matrix). Caller frees.
int *pivots_load(const Work *w, int count, int n);
void pivots_store(const Work *w, const int *from, int count);
// Copies rows by columns elements; conjugates where `conjugated`, transposes where `transposed`.
typedef struct MatrixCopy {
  void *to, *from;
  int to_ld, from_ld, rows, columns;
} MatrixCopy;
void matrix_copy(const Work *w, const MatrixCopy *c);
void matrix_copy_adjoint(const Work *w, const MatrixCopy *c);  // to = transposed conjugate of from
#endif
