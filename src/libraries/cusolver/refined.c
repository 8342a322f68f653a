// Linear systems and least squares "with iterative refinement". They are solved in the precision of
// the matrices at once, so that no iteration is needed; the lower precision in the name counts for
// nothing.
#include "libraries/cusolver/internal.h"

static Status refined_size(const Handle *h, DataType type, int m, int n, size_t *bytes) {
  Status s = handle_check(h);
  if (s) return s;
  if (!bytes || m < 0 || n < 0) return INVALID_VALUE;
  *bytes = (size_t)workspace_elements(m, n) * number_bytes(type);
  return SUCCESS;
}

#define SPACE .workspace = work, .workspace_bytes = (int64_t)bytes
#define SYSTEM \
  .nrhs = nrhs, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = x, .ldc = ldx, .info = info, SPACE
#define REFINED(letters, data) \
  EXPORT Status cusolverDn##letters##gesv_bufferSize( \
      const Handle *h, int n, int nrhs, void *a, int lda, int *pivots, void *b, int ldb, void *x, \
      int ldx, void *work, size_t *bytes) { \
    return refined_size(h, data, n, n, bytes); \
  } \
  EXPORT Status cusolverDn##letters##gesv(const Handle *h, int n, int nrhs, void *a, int lda, \
                                          int *pivots, void *b, int ldb, void *x, int ldx, \
                                          void *work, size_t bytes, int *iterations, int *info) { \
    if (iterations) *iterations = 0; \
    return solver_gesv(h, __func__, \
                       &(Work){SYSTEM, .type = data, .m = n, .n = n, .pivots = pivots}); \
  } \
  EXPORT Status cusolverDn##letters##gels_bufferSize(const Handle *h, int m, int n, int nrhs, \
                                                     void *a, int lda, void *b, int ldb, void *x, \
                                                     int ldx, void *work, size_t *bytes) { \
    return refined_size(h, data, m, n, bytes); \
  } \
  EXPORT Status cusolverDn##letters##gels(const Handle *h, int m, int n, int nrhs, void *a, \
                                          int lda, void *b, int ldb, void *x, int ldx, void *work, \
                                          size_t bytes, int *iterations, int *info) { \
    if (iterations) *iterations = 0; \
    return solver_gels(h, __func__, &(Work){SYSTEM, .type = data, .m = m, .n = n}); \
  }
REFINED(SS, R_32F)
REFINED(SH, R_32F)
REFINED(SB, R_32F)
REFINED(SX, R_32F)
REFINED(DD, R_64F)
REFINED(DS, R_64F)
REFINED(DH, R_64F)
REFINED(DB, R_64F)
REFINED(DX, R_64F)
REFINED(CC, C_32F)
REFINED(CK, C_32F)
REFINED(CE, C_32F)
REFINED(CY, C_32F)
REFINED(ZZ, C_64F)
REFINED(ZC, C_64F)
REFINED(ZK, C_64F)
REFINED(ZE, C_64F)
REFINED(ZY, C_64F)
