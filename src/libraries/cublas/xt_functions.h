// cublasXtSgemm, for the type that for_all_types.h sets.
EXPORT Status PASTE(cublasXt, T, gemm, )(const XtHandle *h, int transa, int transb, size_t m,
                                         size_t n, size_t k, const E *alpha, const E *a, size_t lda,
                                         const E *b, size_t ldb, const E *beta, E *c, size_t ldc) {
  if (!alpha || !beta) return INVALID_VALUE;
  GemmWork g = {.transa = operation(transa),
                .transb = operation(transb),
                .m = (int64_t)m,
                .n = (int64_t)n,
                .k = (int64_t)k,
                .batch = 1,
                .a = {a, DATA, (int64_t)lda, 0},
                .b = {b, DATA, (int64_t)ldb, 0},
                .c = {c, DATA, (int64_t)ldc, 0},
                .d = {c, DATA, (int64_t)ldc, 0},
                .compute = sizeof(R) == 8 ? COMPUTE_64F : COMPUTE_32F};
  memcpy(g.alpha.bytes, alpha, sizeof *alpha);
  memcpy(g.beta.bytes, beta, sizeof *beta);
  return multiply(h, NAME(gemm), &g);
}
