// The functions with 64-bit sizes, which take the types of elements as arguments.
#include "libraries/cusolver/internal.h"

static bool is_served(int type) {
  return type == R_32F || type == R_64F || type == C_32F || type == C_64F;
}
static DataType real_type(int type) { return type == R_32F || type == C_32F ? R_32F : R_64F; }

// Workspace in bytes, on the device and on the host.
static Status buffer_size(const Handle *h, int type, int64_t size, size_t *device, size_t *host) {
  Status s = handle_check(h);
  if (s) return s;
  if (!device || !host || !is_served(type) || narrow(size) < 0) return INVALID_VALUE;
  *device = (size_t)workspace_elements((int)size, (int)size) * number_bytes((DataType)type);
  *host = 0;
  return SUCCESS;
}

#define TYPES(ok) \
  do { \
    if (!(ok)) \
      return refuse(__func__, "these types of the matrices and of the computation do not go " \
                              "together"); \
  } while (0)
#define SPACE .workspace = device, .workspace_bytes = (int64_t)device_bytes
#define MATRIX_A .type = (DataType)ta, .a = (void *)a, .lda = narrow(lda)

// --- LU and Cholesky ---

EXPORT Status cusolverDnXgetrf_bufferSize(const Handle *h, const void *params, int64_t m, int64_t n,
                                          int ta, const void *a, int64_t lda, int compute,
                                          size_t *device, size_t *host) {
  return buffer_size(h, ta, MAX_OF(m, n), device, host);
}
EXPORT Status cusolverDnXgetrf(const Handle *h, const void *params, int64_t m, int64_t n, int ta,
                               void *a, int64_t lda, int64_t *pivots, int compute, void *device,
                               size_t device_bytes, void *host, size_t host_bytes, int *info) {
  TYPES(is_served(ta) && compute == ta);
  return solver_getrf(h, __func__,
                      &(Work){MATRIX_A, .m = narrow(m), .n = narrow(n), .pivots = pivots,
                              .wide_pivots = true, .info = info, SPACE});
}
EXPORT Status cusolverDnXgetrs(const Handle *h, const void *params, int trans, int64_t n,
                               int64_t nrhs, int ta, const void *a, int64_t lda,
                               const int64_t *pivots, int tb, void *b, int64_t ldb, int *info) {
  TYPES(is_served(ta) && tb == ta);
  return solver_getrs(h, __func__,
                      &(Work){MATRIX_A, .trans = trans, .n = narrow(n), .nrhs = narrow(nrhs),
                              .pivots = (void *)pivots, .wide_pivots = true, .b = b,
                              .ldb = narrow(ldb), .info = info});
}
EXPORT Status cusolverDnXpotrf_bufferSize(const Handle *h, const void *params, int uplo, int64_t n,
                                          int ta, const void *a, int64_t lda, int compute,
                                          size_t *device, size_t *host) {
  return buffer_size(h, ta, n, device, host);
}
EXPORT Status cusolverDnXpotrf(const Handle *h, const void *params, int uplo, int64_t n, int ta,
                               void *a, int64_t lda, int compute, void *device, size_t device_bytes,
                               void *host, size_t host_bytes, int *info) {
  TYPES(is_served(ta) && compute == ta);
  return solver_potrf(h, __func__,
                      &(Work){MATRIX_A, .uplo = uplo, .n = narrow(n), .info = info, SPACE});
}
EXPORT Status cusolverDnXpotrs(const Handle *h, const void *params, int uplo, int64_t n,
                               int64_t nrhs, int ta, const void *a, int64_t lda, int tb, void *b,
                               int64_t ldb, int *info) {
  TYPES(is_served(ta) && tb == ta);
  return solver_potrs(h, __func__,
                      &(Work){MATRIX_A, .uplo = uplo, .n = narrow(n), .nrhs = narrow(nrhs), .b = b,
                              .ldb = narrow(ldb), .info = info});
}
EXPORT Status cusolverDnXtrtri_bufferSize(const Handle *h, int uplo, int diag, int64_t n, int ta,
                                          void *a, int64_t lda, size_t *device, size_t *host) {
  return buffer_size(h, ta, n, device, host);
}
EXPORT Status cusolverDnXtrtri(const Handle *h, int uplo, int diag, int64_t n, int ta, void *a,
                               int64_t lda, void *device, size_t device_bytes, void *host,
                               size_t host_bytes, int *info) {
  TYPES(is_served(ta));
  return solver_trtri(
      h, __func__,
      &(Work){MATRIX_A, .uplo = uplo, .diag = diag, .n = narrow(n), .info = info, SPACE});
}
EXPORT Status cusolverDnXsytrs_bufferSize(const Handle *h, int uplo, int64_t n, int64_t nrhs,
                                          int ta, const void *a, int64_t lda, const int64_t *pivots,
                                          int tb, void *b, int64_t ldb, size_t *device,
                                          size_t *host) {
  return buffer_size(h, ta, n, device, host);
}
EXPORT Status cusolverDnXsytrs(const Handle *h, int uplo, int64_t n, int64_t nrhs, int ta,
                               const void *a, int64_t lda, const int64_t *pivots, int tb, void *b,
                               int64_t ldb, void *device, size_t device_bytes, void *host,
                               size_t host_bytes, int *info) {
  TYPES(is_served(ta) && tb == ta);
  return solver_sytrs(h, __func__,
                      &(Work){MATRIX_A, .uplo = uplo, .n = narrow(n), .nrhs = narrow(nrhs),
                              .pivots = (void *)pivots, .wide_pivots = true, .b = b,
                              .ldb = narrow(ldb), .info = info, SPACE});
}

// --- QR ---

EXPORT Status cusolverDnXgeqrf_bufferSize(const Handle *h, const void *params, int64_t m, int64_t n,
                                          int ta, const void *a, int64_t lda, int ttau,
                                          const void *tau, int compute, size_t *device,
                                          size_t *host) {
  return buffer_size(h, ta, MAX_OF(m, n), device, host);
}
EXPORT Status cusolverDnXgeqrf(const Handle *h, const void *params, int64_t m, int64_t n, int ta,
                               void *a, int64_t lda, int ttau, void *tau, int compute, void *device,
                               size_t device_bytes, void *host, size_t host_bytes, int *info) {
  TYPES(is_served(ta) && ttau == ta && compute == ta);
  return solver_geqrf(
      h, __func__,
      &(Work){MATRIX_A, .m = narrow(m), .n = narrow(n), .tau = tau, .info = info, SPACE});
}

// --- eigenvalues ---

EXPORT Status cusolverDnXsyevd_bufferSize(const Handle *h, const void *params, int job, int uplo,
                                          int64_t n, int ta, const void *a, int64_t lda, int tw,
                                          const void *values, int compute, size_t *device,
                                          size_t *host) {
  return buffer_size(h, ta, n, device, host);
}
EXPORT Status cusolverDnXsyevd(const Handle *h, const void *params, int job, int uplo, int64_t n,
                               int ta, void *a, int64_t lda, int tw, void *values, int compute,
                               void *device, size_t device_bytes, void *host, size_t host_bytes,
                               int *info) {
  TYPES(is_served(ta) && tw == (int)real_type(ta) && compute == ta);
  return solver_syevd(h, __func__,
                      &(Work){MATRIX_A, .vectors = job, .uplo = uplo, .n = narrow(n),
                              .values = values, .range = RANGE_ALL, .batch = 1, .info = info,
                              SPACE});
}
EXPORT Status cusolverDnXsyevBatched_bufferSize(const Handle *h, const void *params, int job,
                                                int uplo, int64_t n, int ta, const void *a,
                                                int64_t lda, int tw, const void *values,
                                                int compute, size_t *device, size_t *host,
                                                int64_t batch) {
  return buffer_size(h, ta, n, device, host);
}
EXPORT Status cusolverDnXsyevBatched(const Handle *h, const void *params, int job, int uplo,
                                     int64_t n, int ta, void *a, int64_t lda, int tw, void *values,
                                     int compute, void *device, size_t device_bytes, void *host,
                                     size_t host_bytes, int *info, int64_t batch) {
  TYPES(is_served(ta) && tw == (int)real_type(ta) && compute == ta);
  return solver_syevd(h, __func__,
                      &(Work){MATRIX_A, .vectors = job, .uplo = uplo, .n = narrow(n),
                              .values = values, .range = RANGE_ALL, .batch = narrow(batch),
                              .sa = lda * n, .ss = n, .info = info, SPACE});
}
EXPORT Status cusolverDnXsyevdx_bufferSize(const Handle *h, const void *params, int job, int range,
                                           int uplo, int64_t n, int ta, const void *a, int64_t lda,
                                           void *vl, void *vu, int64_t il, int64_t iu,
                                           int64_t *count, int tw, const void *values, int compute,
                                           size_t *device, size_t *host) {
  return buffer_size(h, ta, n, device, host);
}
EXPORT Status cusolverDnXsyevdx(const Handle *h, const void *params, int job, int range, int uplo,
                                int64_t n, int ta, void *a, int64_t lda, void *vl, void *vu,
                                int64_t il, int64_t iu, int64_t *count, int tw, void *values,
                                int compute, void *device, size_t device_bytes, void *host,
                                size_t host_bytes, int *info) {
  TYPES(is_served(ta) && tw == (int)real_type(ta) && compute == ta);
  double low = 0, high = 0;
  if (range == RANGE_VALUE && vl && vu) {
    numbers_widen(&low, vl, real_type(ta), 1);
    numbers_widen(&high, vu, real_type(ta), 1);
  }
  return solver_syevd(h, __func__,
                      &(Work){MATRIX_A, .vectors = job, .uplo = uplo, .n = narrow(n),
                              .values = values, .range = range, .vl = low, .vu = high,
                              .il = narrow(il), .iu = narrow(iu), .wide_count = count, .batch = 1,
                              .info = info, SPACE});
}

// --- singular values ---

#define VALUES_AND_U .values = s, .u = u, .ldu = narrow(ldu), .ldv = narrow(ldv), .info = info
EXPORT Status cusolverDnXgesvd_bufferSize(const Handle *h, const void *params, signed char jobu,
                                          signed char jobvt, int64_t m, int64_t n, int ta,
                                          const void *a, int64_t lda, int ts, const void *s, int tu,
                                          const void *u, int64_t ldu, int tv, const void *v,
                                          int64_t ldv, int compute, size_t *device, size_t *host) {
  return buffer_size(h, ta, MAX_OF(m, n), device, host);
}
EXPORT Status cusolverDnXgesvd(const Handle *h, const void *params, signed char jobu,
                               signed char jobvt, int64_t m, int64_t n, int ta, void *a,
                               int64_t lda, int ts, void *s, int tu, void *u, int64_t ldu, int tv,
                               void *v, int64_t ldv, int compute, void *device, size_t device_bytes,
                               void *host, size_t host_bytes, int *info) {
  TYPES(is_served(ta) && tu == ta && tv == ta && ts == (int)real_type(ta) && compute == ta);
  return solver_gesvd(h, __func__,
                      &(Work){MATRIX_A, VALUES_AND_U, .v = v, .m = narrow(m), .n = narrow(n),
                              .jobu = (char)jobu, .jobv = (char)jobvt, .batch = 1, SPACE});
}
EXPORT Status cusolverDnXgesvdp_bufferSize(const Handle *h, const void *params, int job,
                                           int economic, int64_t m, int64_t n, int ta,
                                           const void *a, int64_t lda, int ts, const void *s,
                                           int tu, const void *u, int64_t ldu, int tv,
                                           const void *v, int64_t ldv, int compute, size_t *device,
                                           size_t *host) {
  return buffer_size(h, ta, MAX_OF(m, n), device, host);
}
EXPORT Status cusolverDnXgesvdp(const Handle *h, const void *params, int job, int economic,
                                int64_t m, int64_t n, int ta, void *a, int64_t lda, int ts, void *s,
                                int tu, void *u, int64_t ldu, int tv, void *v, int64_t ldv,
                                int compute, void *device, size_t device_bytes, void *host,
                                size_t host_bytes, int *info, double *error) {
  TYPES(is_served(ta) && tu == ta && tv == ta && ts == (int)real_type(ta) && compute == ta);
  char columns = !job ? 'N' : economic ? 'S' : 'A';
  if (error) *error = 0;  // nothing was perturbed
  return solver_gesvd(h, __func__,
                      &(Work){MATRIX_A, VALUES_AND_U, .v = v, .m = narrow(m), .n = narrow(n),
                              .jobu = columns, .jobv = columns, .by_v = true, .batch = 1, SPACE});
}
