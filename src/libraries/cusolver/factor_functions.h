// Factorisations and solves, for the type that for_all_types.h sets.
EXPORT Status API(getrf_bufferSize)(const Handle *h, int m, int n, E *a, int lda, int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status API(getrf)(const Handle *h, int m, int n, E *a, int lda, E *work, int *pivots,
                         int *info) {
  int lwork = workspace_elements(m, n);
  return solver_getrf(h, NAME(getrf),
                      &(Work){.type = DATA,
                              .m = m,
                              .n = n,
                              .a = a,
                              .lda = lda,
                              .pivots = pivots,
                              .info = info,
                              WORKSPACE});
}
EXPORT Status API(getrs)(const Handle *h, int trans, int n, int nrhs, const E *a, int lda,
                         const int *pivots, E *b, int ldb, int *info) {
  return solver_getrs(h, NAME(getrs),
                      &(Work){.type = DATA,
                              .trans = trans,
                              .n = n,
                              .nrhs = nrhs,
                              .a = (void *)a,
                              .lda = lda,
                              .pivots = (void *)pivots,
                              .b = b,
                              .ldb = ldb,
                              .info = info});
}
EXPORT Status API(laswp)(const Handle *h, int n, E *a, int lda, int k1, int k2, const int *pivots,
                         int incx) {
  return solver_laswp(h, NAME(laswp),
                      &(Work){.type = DATA,
                              .n = n,
                              .a = a,
                              .lda = lda,
                              .k1 = k1,
                              .k2 = k2,
                              .pivots = (void *)pivots,
                              .incx = incx});
}

// --- one triangle in place ---
#define TRIANGLE(name) \
  EXPORT Status API(name##_bufferSize)(const Handle *h, int uplo, int n, E *a, int lda, \
                                       int *lwork) { \
    return buffer_size(h, lwork, n, n); \
  } \
  EXPORT Status API(name)(const Handle *h, int uplo, int n, E *a, int lda, E *work, int lwork, \
                          int *info) { \
    return solver_##name( \
        h, NAME(name), \
        &(Work){.type = DATA, .uplo = uplo, .n = n, .a = a, .lda = lda, .info = info, WORKSPACE}); \
  }
TRIANGLE(potrf)
TRIANGLE(potri)
TRIANGLE(lauum)
#undef TRIANGLE

EXPORT Status API(potrs)(const Handle *h, int uplo, int n, int nrhs, const E *a, int lda, E *b,
                         int ldb, int *info) {
  return solver_potrs(h, NAME(potrs),
                      &(Work){.type = DATA,
                              .uplo = uplo,
                              .n = n,
                              .nrhs = nrhs,
                              .a = (void *)a,
                              .lda = lda,
                              .b = b,
                              .ldb = ldb,
                              .info = info});
}
EXPORT Status API(potrfBatched)(const Handle *h, int uplo, int n, E **a, int lda, int *info,
                                int batch) {
  return solver_potrf_batched(h, NAME(potrfBatched),
                              &(Work){.type = DATA,
                                      .uplo = uplo,
                                      .n = n,
                                      .a = (void *)a,
                                      .lda = lda,
                                      .info = info,
                                      .batch = batch});
}
EXPORT Status API(potrsBatched)(const Handle *h, int uplo, int n, int nrhs, E **a, int lda, E **b,
                                int ldb, int *info, int batch) {
  return solver_potrs_batched(h, NAME(potrsBatched),
                              &(Work){.type = DATA,
                                      .uplo = uplo,
                                      .n = n,
                                      .nrhs = nrhs,
                                      .a = (void *)a,
                                      .lda = lda,
                                      .b = (void *)b,
                                      .ldb = ldb,
                                      .info = info,
                                      .batch = batch});
}

// --- symmetric indefinite ---
EXPORT Status API(sytrf_bufferSize)(const Handle *h, int n, E *a, int lda, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status API(sytrf)(const Handle *h, int uplo, int n, E *a, int lda, int *pivots, E *work,
                         int lwork, int *info) {
  return solver_sytrf(h, NAME(sytrf),
                      &(Work){.type = DATA,
                              .uplo = uplo,
                              .n = n,
                              .a = a,
                              .lda = lda,
                              .pivots = pivots,
                              .info = info,
                              WORKSPACE});
}
EXPORT Status API(sytri_bufferSize)(const Handle *h, int uplo, int n, E *a, int lda,
                                    const int *pivots, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status API(sytri)(const Handle *h, int uplo, int n, E *a, int lda, const int *pivots,
                         E *work, int lwork, int *info) {
  return solver_sytri(h, NAME(sytri),
                      &(Work){.type = DATA,
                              .uplo = uplo,
                              .n = n,
                              .a = a,
                              .lda = lda,
                              .pivots = (void *)pivots,
                              .info = info,
                              WORKSPACE});
}
