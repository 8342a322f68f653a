// Singular values, for the type that for_all_types.h sets.
#define SVD \
  .type = DATA, .m = m, .n = n, .a = (void *)a, .lda = lda, .values = s, .u = u, .ldu = ldu, \
  .v = v, .ldv = ldv, .info = info, WORKSPACE
#define COLUMNS(job, full) \
  .by_v = true, .jobu = !(job) ? 'N' : (full) ? 'A' : 'S', .jobv = !(job) ? 'N' : (full) ? 'A' : 'S'

EXPORT Status API(gesvd_bufferSize)(const Handle *h, int m, int n, int *lwork) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status API(gesvd)(const Handle *h, signed char jobu, signed char jobvt, int m, int n, E *a,
                         int lda, R *s, E *u, int ldu, E *v, int ldv, E *work, int lwork, R *rwork,
                         int *info) {
  return solver_gesvd(h, NAME(gesvd),
                      &(Work){SVD, .jobu = (char)jobu, .jobv = (char)jobvt, .batch = 1});
}
EXPORT Status API(gesvdj_bufferSize)(const Handle *h, int job, int economic, int m, int n,
                                     const E *a, int lda, const R *s, const E *u, int ldu,
                                     const E *v, int ldv, int *lwork, const Jacobi *jacobi) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status API(gesvdj)(const Handle *h, int job, int economic, int m, int n, E *a, int lda, R *s,
                          E *u, int ldu, E *v, int ldv, E *work, int lwork, int *info,
                          Jacobi *jacobi) {
  return solver_gesvd(h, NAME(gesvdj), &(Work){SVD, COLUMNS(job, !economic), .batch = 1});
}
EXPORT Status API(gesvdjBatched_bufferSize)(const Handle *h, int job, int m, int n, const E *a,
                                            int lda, const R *s, const E *u, int ldu, const E *v,
                                            int ldv, int *lwork, const Jacobi *jacobi, int batch) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status API(gesvdjBatched)(const Handle *h, int job, int m, int n, E *a, int lda, R *s, E *u,
                                 int ldu, E *v, int ldv, E *work, int lwork, int *info,
                                 Jacobi *jacobi, int batch) {
  return solver_gesvd(h, NAME(gesvdjBatched),
                      &(Work){SVD, COLUMNS(job, true), .batch = batch, .sa = (int64_t)lda * n,
                              .ss = MIN_OF(m, n), .su = (int64_t)ldu * m, .sv = (int64_t)ldv * n});
}
EXPORT Status API(gesvdaStridedBatched_bufferSize)(const Handle *h, int job, int rank, int m, int n,
                                                   const E *a, int lda, long long sa, const R *s,
                                                   long long ss, const E *u, int ldu, long long su,
                                                   const E *v, int ldv, long long sv, int *lwork,
                                                   int batch) {
  return buffer_size(h, lwork, m, n);
}
EXPORT Status API(gesvdaStridedBatched)(const Handle *h, int job, int rank, int m, int n,
                                        const E *a, int lda, long long sa, R *s, long long ss, E *u,
                                        int ldu, long long su, E *v, int ldv, long long sv, E *work,
                                        int lwork, int *info, double *residuals, int batch) {
  if (residuals) return refuse(NAME(gesvdaStridedBatched), "h_R_nrmF is not served: pass null");
  if (rank < 1 || rank > MIN_OF(m, n))
    return refuse(NAME(gesvdaStridedBatched), "rank is not from 1 to min(m, n)");
  return solver_gesvd(h, NAME(gesvdaStridedBatched),
                      &(Work){SVD, COLUMNS(job, false), .k = rank, .batch = batch, .sa = sa,
                              .ss = ss, .su = su, .sv = sv});
}
#undef SVD
#undef COLUMNS
