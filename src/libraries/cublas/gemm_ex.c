// Products with types chosen at run time: cublasGemmEx and its batched forms, and the functions
// with names for pairs of types: cublasHgemm, cublasSgemmEx, cublasCgemm3m.
#include "libraries/cublas/internal.h"

// Programs in C may still give a cudaDataType.
static Compute compute_of(int type) {
  switch (type) {
    case R_32F:
    case C_32F: return COMPUTE_32F;
    case R_64F:
    case C_64F: return COMPUTE_64F;
    case R_16F: return COMPUTE_16F;
    case R_32I: return COMPUTE_32I;
    default: return (Compute)type;
  }
}

static bool is_compute(Compute c) {
  return c >= COMPUTE_16F && c <= COMPUTE_64F_EMULATED && c != 66 && c != 67 && c != 76;
}

// Alpha and beta are taken when their type is known.
typedef struct Scales {
  const void *alpha, *beta;
} Scales;

static Status multiply(const Handle *h, const char *name, GemmWork *g, Scales s) {
  if (!is_compute(g->compute)) return refuse(name, "the type of the computation is none");
  g->d = g->c;
  if (!gemm_scale_type(g)) {
    warpgrind_library_services.refused(name, "these types of A, B, C and of the computation do not "
                                             "go together");
    return NOT_SUPPORTED;
  }
  if (!s.alpha || !s.beta) return refuse(name, "alpha or beta is a null pointer");
  g->alpha = scalar_take(h, s.alpha, number_bytes(g->scale));
  g->beta = scalar_take(h, s.beta, number_bytes(g->scale));
  return gemm_submit(h, name, g);
}

#define SHAPE .transa = operation(transa), .transb = operation(transb), .m = m, .n = n, .k = k
// Matrices without strides.
#define MATRICES(count, at, bt, ct) \
  .batch = count, .a = {a, at, lda, 0}, .b = {b, bt, ldb, 0}, .c = {c, ct, ldc, 0}
#define STRIDED(at, bt, ct) \
  .batch = batch, .a = {a, at, lda, sa}, .b = {b, bt, ldb, sb}, .c = {c, ct, ldc, sc}
#define MULTIPLY(...) \
  do { \
    GemmWork g = {SHAPE, __VA_ARGS__}; \
    return multiply(h, call_name, &g, (Scales){alpha, beta}); \
  } while (0)

#define SIZES(INT) const Handle *h, int transa, int transb, INT m, INT n, INT k, const void *alpha
// Types as arguments.
#define TYPED(INT) \
  SIZES(INT), const void *a, int at, INT lda, const void *b, int bt, INT ldb, const void *beta, \
      void *c, int ct, INT ldc
#define TYPED_STRIDED(INT) \
  SIZES(INT), const void *a, int at, INT lda, long long sa, const void *b, int bt, INT ldb, \
      long long sb, const void *beta, void *c, int ct, INT ldc, long long sc, INT batch
// Types by the name of the function.
#define PLAIN(INT) \
  SIZES(INT), const void *a, INT lda, const void *b, INT ldb, const void *beta, void *c, INT ldc
#define PLAIN_STRIDED(INT) \
  SIZES(INT), const void *a, INT lda, long long sa, const void *b, INT ldb, long long sb, \
      const void *beta, void *c, INT ldc, long long sc, INT batch

#define EX(INT, SUFFIX) \
  EXPORT Status cublasGemmEx##SUFFIX(TYPED(INT), int compute, int algo) { \
    BEGIN(h, "cublasGemmEx"); \
    MULTIPLY(MATRICES(1, at, bt, ct), .compute = compute_of(compute)); \
  } \
  EXPORT Status cublasGemmBatchedEx##SUFFIX(TYPED(INT), INT batch, int compute, int algo) { \
    BEGIN(h, "cublasGemmBatchedEx"); \
    MULTIPLY(MATRICES(batch, at, bt, ct), .compute = compute_of(compute), .pointers = true); \
  } \
  EXPORT Status cublasGemmStridedBatchedEx##SUFFIX(TYPED_STRIDED(INT), int compute, int algo) { \
    BEGIN(h, "cublasGemmStridedBatchedEx"); \
    MULTIPLY(STRIDED(at, bt, ct), .compute = compute_of(compute)); \
  } \
  EXPORT Status cublasSgemmEx##SUFFIX(TYPED(INT)) { \
    BEGIN(h, "cublasSgemmEx"); \
    MULTIPLY(MATRICES(1, at, bt, ct), .compute = COMPUTE_32F); \
  } \
  EXPORT Status cublasCgemmEx##SUFFIX(TYPED(INT)) { \
    BEGIN(h, "cublasCgemmEx"); \
    MULTIPLY(MATRICES(1, at, bt, ct), .compute = COMPUTE_32F); \
  } \
  EXPORT Status cublasCgemm3mEx##SUFFIX(TYPED(INT)) { \
    BEGIN(h, "cublasCgemm3mEx"); \
    MULTIPLY(MATRICES(1, at, bt, ct), .compute = COMPUTE_32F); \
  } \
  EXPORT Status cublasHgemm##SUFFIX(PLAIN(INT)) { \
    BEGIN(h, "cublasHgemm"); \
    MULTIPLY(MATRICES(1, R_16F, R_16F, R_16F), .compute = COMPUTE_16F); \
  } \
  EXPORT Status cublasHgemmBatched##SUFFIX(PLAIN(INT), INT batch) { \
    BEGIN(h, "cublasHgemmBatched"); \
    MULTIPLY(MATRICES(batch, R_16F, R_16F, R_16F), .compute = COMPUTE_16F, .pointers = true); \
  } \
  EXPORT Status cublasHgemmStridedBatched##SUFFIX(PLAIN_STRIDED(INT)) { \
    BEGIN(h, "cublasHgemmStridedBatched"); \
    MULTIPLY(STRIDED(R_16F, R_16F, R_16F), .compute = COMPUTE_16F); \
  } \
  EXPORT Status cublasCgemm3mBatched##SUFFIX(PLAIN(INT), INT batch) { \
    BEGIN(h, "cublasCgemm3mBatched"); \
    MULTIPLY(MATRICES(batch, C_32F, C_32F, C_32F), .compute = COMPUTE_32F, .pointers = true); \
  } \
  EXPORT Status cublasCgemm3mStridedBatched##SUFFIX(PLAIN_STRIDED(INT)) { \
    BEGIN(h, "cublasCgemm3mStridedBatched"); \
    MULTIPLY(STRIDED(C_32F, C_32F, C_32F), .compute = COMPUTE_32F); \
  }
EX(int, )
EX(int64_t, _64)

// --- groups: batches of several shapes, one after the other in the arrays of pointers ---

// The arguments of one group; all are arrays on the host but those of pointers.
#define GROUPS(INT) \
  const Handle *h, const int *transa, const int *transb, const INT *m, const INT *n, const INT *k, \
      const void *alpha
#define GROUP_WORK(at, bt, ct, compute_type) \
  { \
    .transa = operation(transa[i]), .transb = operation(transb[i]), .m = m[i], .n = n[i], \
    .k = k[i], .batch = size[i], .a = {a + first, at, lda[i], 0}, .b = {b + first, bt, ldb[i], 0}, \
    .c = {c + first, ct, ldc[i], 0}, .compute = compute_type, .pointers = true \
  }
// bytes: of alpha and beta
#define FOR_GROUPS(at, bt, ct, compute_type, bytes) \
  REQUIRE(groups >= 0, "group_count is negative"); \
  REQUIRE(!h->device_pointers, "alpha and beta of groups are on the host"); \
  int64_t first = 0; \
  for (int64_t i = 0; i < groups; i++) { \
    GemmWork g = GROUP_WORK(at, bt, ct, compute_type); \
    Scales of_group = {(const char *)alpha + (size_t)i * (bytes), \
                       (const char *)beta + (size_t)i * (bytes)}; \
    Status s = multiply(h, call_name, &g, of_group); \
    if (s) return s; \
    first += size[i]; \
  } \
  return SUCCESS

#define GROUPED(INT, SUFFIX) \
  EXPORT Status cublasGemmGroupedBatchedEx##SUFFIX( \
      GROUPS(INT), const void *const *a, int at, const INT *lda, const void *const *b, int bt, \
      const INT *ldb, const void *beta, void *const *c, int ct, const INT *ldc, INT groups, \
      const INT *size, int compute) { \
    BEGIN(h, "cublasGemmGroupedBatchedEx"); \
    size_t bytes = compute_of(compute) == COMPUTE_64F ? 8 : 4; \
    FOR_GROUPS(at, bt, ct, compute_of(compute), bytes); \
  } \
  EXPORT Status cublasSgemmGroupedBatched##SUFFIX( \
      GROUPS(INT), const void *const *a, const INT *lda, const void *const *b, const INT *ldb, \
      const void *beta, void *const *c, const INT *ldc, INT groups, const INT *size) { \
    BEGIN(h, "cublasSgemmGroupedBatched"); \
    FOR_GROUPS(R_32F, R_32F, R_32F, COMPUTE_32F, 4); \
  } \
  EXPORT Status cublasDgemmGroupedBatched##SUFFIX( \
      GROUPS(INT), const void *const *a, const INT *lda, const void *const *b, const INT *ldb, \
      const void *beta, void *const *c, const INT *ldc, INT groups, const INT *size) { \
    BEGIN(h, "cublasDgemmGroupedBatched"); \
    FOR_GROUPS(R_64F, R_64F, R_64F, COMPUTE_64F, 8); \
  }
GROUPED(int, )
GROUPED(int64_t, _64)
