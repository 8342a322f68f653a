// QR and the reductions, for the type that for_all_types.h sets. UN(f) is orf or unf, HE(f) syf or
// hef.
#undef UN
#undef HE
#if REAL
#define UN(f) PASTE(cusolverDn, T, or, f)
#define HE(f) PASTE(cusolverDn, T, sy, f)
#else
#define UN(f) PASTE(cusolverDn, T, un, f)
#define HE(f) PASTE(cusolverDn, T, he, f)
#endif
EXPORT Status API(geqrf_bufferSize)(const Handle *h, int m, int n, E *a, int lda, int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status API(geqrf)(const Handle *h, int m, int n, E *a, int lda, E *tau, E *work, int lwork,
                         int *info) {
  return solver_geqrf(h, NAME(geqrf), &(Work){MATRIX_A, REFLECTORS, M_BY_N, RESULT});
}
EXPORT Status UN(gqr_bufferSize)(const Handle *h, int m, int n, int k, const E *a, int lda,
                                 const E *tau, int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status UN(gqr)(const Handle *h, int m, int n, int k, E *a, int lda, const E *tau, E *work,
                      int lwork, int *info) {
  return solver_orgqr(h, TEXT(UN(gqr)), &(Work){MATRIX_A, REFLECTORS, M_BY_N, .k = k, RESULT});
}
EXPORT Status UN(mqr_bufferSize)(const Handle *h, int side, int trans, int m, int n, int k,
                                 const E *a, int lda, const E *tau, const E *c, int ldc,
                                 int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status UN(mqr)(const Handle *h, int side, int trans, int m, int n, int k, const E *a,
                      int lda, const E *tau, E *c, int ldc, E *work, int lwork, int *info) {
  return solver_ormqr(h, TEXT(UN(mqr)),
                      &(Work){MATRIX_A, MATRIX_C, REFLECTORS, M_BY_N, .side = side, .trans = trans,
                              .k = k, RESULT});
}

// --- bidiagonal form ---
EXPORT Status API(gebrd_bufferSize)(const Handle *h, int m, int n, int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status API(gebrd)(const Handle *h, int m, int n, E *a, int lda, R *d, R *e, E *tauq, E *taup,
                         E *work, int lwork, int *info) {
  return solver_gebrd(
      h, NAME(gebrd),
      &(Work){MATRIX_A, M_BY_N, .values = d, .off_diagonal = e, .tau = tauq, .taup = taup, RESULT});
}
EXPORT Status UN(gbr_bufferSize)(const Handle *h, int side, int m, int n, int k, const E *a,
                                 int lda, const E *tau, int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status UN(gbr)(const Handle *h, int side, int m, int n, int k, E *a, int lda, const E *tau,
                      E *work, int lwork, int *info) {
  return solver_orgbr(h, TEXT(UN(gbr)),
                      &(Work){MATRIX_A, REFLECTORS, M_BY_N, .side = side, .k = k, RESULT});
}

// --- tridiagonal form ---
EXPORT Status HE(trd_bufferSize)(const Handle *h, int uplo, int n, const E *a, int lda, const R *d,
                                 const R *e, const E *tau, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status HE(trd)(const Handle *h, int uplo, int n, E *a, int lda, R *d, R *e, E *tau, E *work,
                      int lwork, int *info) {
  return solver_sytrd(
      h, TEXT(HE(trd)),
      &(Work){MATRIX_A, REFLECTORS, .uplo = uplo, .n = n, .values = d, .off_diagonal = e, RESULT});
}
EXPORT Status UN(gtr_bufferSize)(const Handle *h, int uplo, int n, const E *a, int lda,
                                 const E *tau, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status UN(gtr)(const Handle *h, int uplo, int n, E *a, int lda, const E *tau, E *work,
                      int lwork, int *info) {
  return solver_orgtr(h, TEXT(UN(gtr)),
                      &(Work){MATRIX_A, REFLECTORS, .uplo = uplo, .n = n, RESULT});
}
EXPORT Status UN(mtr_bufferSize)(const Handle *h, int side, int uplo, int trans, int m, int n,
                                 const E *a, int lda, const E *tau, const E *c, int ldc,
                                 int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status UN(mtr)(const Handle *h, int side, int uplo, int trans, int m, int n, E *a, int lda,
                      E *tau, E *c, int ldc, E *work, int lwork, int *info) {
  return solver_ormtr(h, TEXT(UN(mtr)),
                      &(Work){MATRIX_A, MATRIX_C, REFLECTORS, M_BY_N, .side = side, .uplo = uplo,
                              .trans = trans, RESULT});
}
