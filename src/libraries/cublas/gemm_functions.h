// cublasSgemm and its batched forms, for the type that for_all_types.h sets.
#ifdef FIRST
static GemmWork LOCAL(gemm_work)(const Handle *h, int transa, int transb, const E *alpha,
                                 const E *beta, int64_t batch) {
  return (GemmWork){.transa = operation(transa),
                    .transb = operation(transb),
                    .batch = batch,
                    .compute = sizeof(R) == 8 ? COMPUTE_64F : COMPUTE_32F,
                    .alpha = scalar_take(h, alpha, sizeof(E)),
                    .beta = scalar_take(h, beta, sizeof(E))};
}
#endif

#define SHAPE(pa, lda_, sa, pb, ldb_, sb, pc, ldc_, sc) \
  g.m = m; \
  g.n = n; \
  g.k = k; \
  g.a = (GemmMatrix){pa, DATA, lda_, sa}; \
  g.b = (GemmMatrix){pb, DATA, ldb_, sb}; \
  g.c = g.d = (GemmMatrix) { pc, DATA, ldc_, sc }

#define GEMM(function, text) \
  EXPORT Status function(const Handle *h, int transa, int transb, INT m, INT n, INT k, \
                         const E *alpha, const E *a, INT lda, const E *b, INT ldb, const E *beta, \
                         E *c, INT ldc) { \
    BEGIN(h, text); \
    GemmWork g = LOCAL(gemm_work)(h, transa, transb, alpha, beta, 1); \
    SHAPE(a, lda, 0, b, ldb, 0, c, ldc, 0); \
    return gemm_submit(h, call_name, &g); \
  }
#define GEMM_BATCHED(function, text) \
  EXPORT Status function(const Handle *h, int transa, int transb, INT m, INT n, INT k, \
                         const E *alpha, const E *const *a, INT lda, const E *const *b, INT ldb, \
                         const E *beta, E *const *c, INT ldc, INT batch) { \
    BEGIN(h, text); \
    GemmWork g = LOCAL(gemm_work)(h, transa, transb, alpha, beta, batch); \
    SHAPE(a, lda, 0, b, ldb, 0, c, ldc, 0); \
    g.pointers = true; \
    return gemm_submit(h, call_name, &g); \
  }
#define GEMM_STRIDED(function, text) \
  EXPORT Status function(const Handle *h, int transa, int transb, INT m, INT n, INT k, \
                         const E *alpha, const E *a, INT lda, long long sa, const E *b, INT ldb, \
                         long long sb, const E *beta, E *c, INT ldc, long long sc, INT batch) { \
    BEGIN(h, text); \
    GemmWork g = LOCAL(gemm_work)(h, transa, transb, alpha, beta, batch); \
    SHAPE(a, lda, sa, b, ldb, sb, c, ldc, sc); \
    return gemm_submit(h, call_name, &g); \
  }
GEMM(API(gemm), NAME(gemm))
GEMM_BATCHED(NEW(gemmBatched), NAME(gemmBatched))
GEMM_STRIDED(NEW(gemmStridedBatched), NAME(gemmStridedBatched))
#if !REAL
GEMM(NEW(gemm3m), NAME(gemm3m))
#endif
#undef GEMM
#undef GEMM_BATCHED
#undef GEMM_STRIDED

#undef SHAPE
