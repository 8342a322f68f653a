// Factorisations and solves, for the type that for_all_types.h sets.
EXPORT Status API(getrf_bufferSize)(const Handle *h, int m, int n, E *a, int lda, int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status API(getrf)(const Handle *h, int m, int n, E *a, int lda, E *work, int *pivots,
                         int *info) {
  int lwork = workspace_elements(m, n);
  return solver_getrf(h, NAME(getrf), &(Work){MATRIX_A, PIVOTS, M_BY_N, RESULT});
}
EXPORT Status API(getrs)(const Handle *h, int trans, int n, int nrhs, const E *a, int lda,
                         const int *pivots, E *b, int ldb, int *info) {
  return solver_getrs(
      h, NAME(getrs),
      &(Work){MATRIX_A, MATRIX_B, PIVOTS, .trans = trans, .n = n, .nrhs = nrhs, .info = info});
}
EXPORT Status API(laswp)(const Handle *h, int n, E *a, int lda, int k1, int k2, const int *pivots,
                         int incx) {
  return solver_laswp(h, NAME(laswp),
                      &(Work){MATRIX_A, PIVOTS, .n = n, .k1 = k1, .k2 = k2, .incx = incx});
}

// --- one triangle in place ---
#define TRIANGLE(name) \
  EXPORT Status API(name##_bufferSize)(const Handle *h, int uplo, int n, E *a, int lda, \
                                       int *lwork) { \
    return buffer_size(h, lwork, n, n); \
  } \
  EXPORT Status API(name)(const Handle *h, int uplo, int n, E *a, int lda, E *work, int lwork, \
                          int *info) { \
    return solver_##name(h, NAME(name), &(Work){MATRIX_A, .uplo = uplo, .n = n, RESULT}); \
  }
TRIANGLE(potrf)
TRIANGLE(potri)
TRIANGLE(lauum)
#undef TRIANGLE

EXPORT Status API(potrs)(const Handle *h, int uplo, int n, int nrhs, const E *a, int lda, E *b,
                         int ldb, int *info) {
  return solver_potrs(
      h, NAME(potrs),
      &(Work){MATRIX_A, MATRIX_B, .uplo = uplo, .n = n, .nrhs = nrhs, .info = info});
}
EXPORT Status API(potrfBatched)(const Handle *h, int uplo, int n, E **a, int lda, int *info,
                                int batch) {
  return solver_potrf_batched(
      h, NAME(potrfBatched), &(Work){MATRIX_A, .uplo = uplo, .n = n, .info = info, .batch = batch});
}
EXPORT Status API(potrsBatched)(const Handle *h, int uplo, int n, int nrhs, E **a, int lda, E **b,
                                int ldb, int *info, int batch) {
  return solver_potrs_batched(h, NAME(potrsBatched),
                              &(Work){MATRIX_A, MATRIX_B, .uplo = uplo, .n = n, .nrhs = nrhs,
                                      .info = info, .batch = batch});
}

// --- symmetric indefinite ---
EXPORT Status API(sytrf_bufferSize)(const Handle *h, int n, E *a, int lda, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status API(sytrf)(const Handle *h, int uplo, int n, E *a, int lda, int *pivots, E *work,
                         int lwork, int *info) {
  return solver_sytrf(h, NAME(sytrf), &(Work){MATRIX_A, PIVOTS, .uplo = uplo, .n = n, RESULT});
}
EXPORT Status API(sytri_bufferSize)(const Handle *h, int uplo, int n, E *a, int lda,
                                    const int *pivots, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status API(sytri)(const Handle *h, int uplo, int n, E *a, int lda, const int *pivots,
                         E *work, int lwork, int *info) {
  return solver_sytri(h, NAME(sytri), &(Work){MATRIX_A, PIVOTS, .uplo = uplo, .n = n, RESULT});
}
