// Eigenvalues, for the type that for_all_types.h sets. HE(f) is syf or hef.
#undef HE
#if REAL
#define HE(f) PASTE(cusolverDn, T, sy, f)
#else
#define HE(f) PASTE(cusolverDn, T, he, f)
#endif
#define EIGEN(job) \
  .type = DATA, .vectors = job, .uplo = uplo, .n = n, .a = a, .lda = lda, .values = values, \
  .info = info, WORKSPACE

EXPORT Status HE(evd_bufferSize)(const Handle *h, int job, int uplo, int n, const E *a, int lda,
                                 const R *values, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status HE(evd)(const Handle *h, int job, int uplo, int n, E *a, int lda, R *values, E *work,
                      int lwork, int *info) {
  return solver_syevd(h, TEXT(HE(evd)), &(Work){EIGEN(job), .range = RANGE_ALL, .batch = 1});
}
EXPORT Status HE(evdx_bufferSize)(const Handle *h, int job, int range, int uplo, int n, const E *a,
                                  int lda, R vl, R vu, int il, int iu, int *count, const R *values,
                                  int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status HE(evdx)(const Handle *h, int job, int range, int uplo, int n, E *a, int lda, R vl,
                       R vu, int il, int iu, int *count, R *values, E *work, int lwork, int *info) {
  return solver_syevd(h, TEXT(HE(evdx)),
                      &(Work){EIGEN(job), .range = range, .vl = vl, .vu = vu, .il = il, .iu = iu,
                              .count = count, .batch = 1});
}

// --- Jacobi's method ---
EXPORT Status HE(evj_bufferSize)(const Handle *h, int job, int uplo, int n, const E *a, int lda,
                                 const R *values, int *lwork, const Jacobi *jacobi) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status HE(evj)(const Handle *h, int job, int uplo, int n, E *a, int lda, R *values, E *work,
                      int lwork, int *info, Jacobi *jacobi) {
  return solver_syevd(h, TEXT(HE(evj)),
                      &(Work){EIGEN(job), .range = RANGE_ALL, .jacobi = jacobi, .batch = 1});
}
EXPORT Status HE(evjBatched_bufferSize)(const Handle *h, int job, int uplo, int n, const E *a,
                                        int lda, const R *values, int *lwork, const Jacobi *jacobi,
                                        int batch) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status HE(evjBatched)(const Handle *h, int job, int uplo, int n, E *a, int lda, R *values,
                             E *work, int lwork, int *info, Jacobi *jacobi, int batch) {
  return solver_syevd(
      h, TEXT(HE(evjBatched)),
      &(Work){EIGEN(job), .range = RANGE_ALL, .batch = batch, .sa = (int64_t)lda * n, .ss = n});
}

// --- of a pair of matrices ---
#define PAIR .itype = itype, .b = b, .ldb = ldb, .batch = 1
EXPORT Status HE(gvd_bufferSize)(const Handle *h, int itype, int job, int uplo, int n, const E *a,
                                 int lda, const E *b, int ldb, const R *values, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status HE(gvd)(const Handle *h, int itype, int job, int uplo, int n, E *a, int lda, E *b,
                      int ldb, R *values, E *work, int lwork, int *info) {
  return solver_sygvd(h, TEXT(HE(gvd)), &(Work){EIGEN(job), PAIR, .range = RANGE_ALL});
}
EXPORT Status HE(gvdx_bufferSize)(const Handle *h, int itype, int job, int range, int uplo, int n,
                                  const E *a, int lda, const E *b, int ldb, R vl, R vu, int il,
                                  int iu, int *count, const R *values, int *lwork) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status HE(gvdx)(const Handle *h, int itype, int job, int range, int uplo, int n, E *a,
                       int lda, E *b, int ldb, R vl, R vu, int il, int iu, int *count, R *values,
                       E *work, int lwork, int *info) {
  return solver_sygvd(h, TEXT(HE(gvdx)),
                      &(Work){EIGEN(job), PAIR, .range = range, .vl = vl, .vu = vu, .il = il,
                              .iu = iu, .count = count});
}
EXPORT Status HE(gvj_bufferSize)(const Handle *h, int itype, int job, int uplo, int n, const E *a,
                                 int lda, const E *b, int ldb, const R *values, int *lwork,
                                 const Jacobi *jacobi) {
  return buffer_size(h, lwork, n, n);
}
EXPORT Status HE(gvj)(const Handle *h, int itype, int job, int uplo, int n, E *a, int lda, E *b,
                      int ldb, R *values, E *work, int lwork, int *info, Jacobi *jacobi) {
  return solver_sygvd(h, TEXT(HE(gvj)),
                      &(Work){EIGEN(job), PAIR, .range = RANGE_ALL, .jacobi = jacobi});
}
#undef EIGEN
#undef PAIR
