// For the type that for_all_types.h sets.

// --- tridiagonal systems ---
#define GTSV2(name, pivoting) \
  EXPORT Status API(name##_bufferSizeExt)(const Handle *h, int m, int n, const E *dl, const E *d, \
                                          const E *du, const E *b, int ldb, size_t *bytes) { \
    return buffer_size(h, bytes); \
  } \
  EXPORT Status API(name)(const Handle *h, int m, int n, const E *dl, const E *d, const E *du, \
                          E *b, int ldb, void *buffer) { \
    BEGIN(h); \
    BandWork w = {.type = DATA, \
                  .m = m, \
                  .systems = n, \
                  .step = 1, \
                  .ldb = ldb, \
                  .one_matrix = true, \
                  .pivots = pivoting, \
                  .dl = dl, \
                  .d = d, \
                  .du = du, \
                  .x = b}; \
    return bands_submit(h, call_name, &w, buffer); \
  }
GTSV2(gtsv2, true)
GTSV2(gtsv2_nopivot, false)
#undef GTSV2

EXPORT Status API(gtsv2StridedBatch_bufferSizeExt)(const Handle *h, int m, const E *dl, const E *d,
                                                   const E *du, const E *x, int batch, int stride,
                                                   size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status API(gtsv2StridedBatch)(const Handle *h, int m, const E *dl, const E *d, const E *du,
                                     E *x, int batch, int stride, void *buffer) {
  BEGIN(h);
  REQUIRE(stride >= m, "batchStride is smaller than m");
  BandWork w = {.type = DATA,
                .m = m,
                .systems = batch,
                .step = 1,
                .stride = stride,
                .dl = dl,
                .d = d,
                .du = du,
                .x = x};
  return bands_submit(h, call_name, &w, buffer);
}
EXPORT Status API(gtsvInterleavedBatch_bufferSizeExt)(const Handle *h, int algorithm, int m,
                                                      const E *dl, const E *d, const E *du,
                                                      const E *x, int batch, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status API(gtsvInterleavedBatch)(const Handle *h, int algorithm, int m, E *dl, E *d, E *du,
                                        E *x, int batch, void *buffer) {
  BEGIN(h);
  BandWork w = {.type = DATA,
                .m = m,
                .systems = batch,
                .step = batch,
                .stride = 1,
                .pivots = algorithm != 0,
                .dl = dl,
                .d = d,
                .du = du,
                .x = x};
  return bands_submit(h, call_name, &w, buffer);
}
EXPORT Status API(gpsvInterleavedBatch_bufferSizeExt)(const Handle *h, int algorithm, int m,
                                                      const E *ds, const E *dl, const E *d,
                                                      const E *du, const E *dw, const E *x,
                                                      int batch, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status API(gpsvInterleavedBatch)(const Handle *h, int algorithm, int m, E *ds, E *dl, E *d,
                                        E *du, E *dw, E *x, int batch, void *buffer) {
  BEGIN(h);
  BandWork w = {.type = DATA,
                .m = m,
                .systems = batch,
                .step = batch,
                .stride = 1,
                .ds = ds,
                .dl = dl,
                .d = d,
                .du = du,
                .dw = dw,
                .x = x};
  return bands_submit(h, call_name, &w, buffer);
}

// --- incomplete factorisations ---
#define INCOMPLETE(name, is_cholesky) \
  EXPORT Status API(name##_bufferSize)(const Handle *h, int m, int count, \
                                       const LegacyMatrix *matrix, E *values, const int *offsets, \
                                       const int *columns, Pivot *pivot, int *bytes) { \
    return int_buffer_size(h, bytes); \
  } \
  EXPORT Status API(name##_bufferSizeExt)( \
      const Handle *h, int m, int count, const LegacyMatrix *matrix, E *values, \
      const int *offsets, const int *columns, Pivot *pivot, size_t *bytes) { \
    return buffer_size(h, bytes); \
  } \
  EXPORT Status API(name##_analysis)( \
      const Handle *h, int m, int count, const LegacyMatrix *matrix, const E *values, \
      const int *offsets, const int *columns, Pivot *pivot, int policy, void *buffer) { \
    BEGIN(h); \
    REQUIRE(IS(matrix, LEGACY) && IS(pivot, PIVOT), "a descriptor is none, or was destroyed"); \
    return SUCCESS; \
  } \
  EXPORT Status API(name)(const Handle *h, int m, int count, const LegacyMatrix *matrix, \
                          E *values, const int *offsets, const int *columns, Pivot *pivot, \
                          int policy, void *buffer) { \
    BEGIN(h); \
    REQUIRE(IS(matrix, LEGACY) && IS(pivot, PIVOT), "a descriptor is none, or was destroyed"); \
    FactorWork w = {csr_of(m, m, count, matrix, DATA), is_cholesky, pivot}; \
    ARRAYS(w.a, offsets, columns, values); \
    return factor_submit(h, call_name, &w, buffer); \
  }
INCOMPLETE(csrilu02, false)
INCOMPLETE(csric02, true)
#undef INCOMPLETE

// --- products with matrices of blocks ---
EXPORT Status API(bsrmv)(const Handle *h, int direction, int trans, int mb, int nb, int count,
                         const E *alpha, const LegacyMatrix *matrix, const E *values,
                         const int *offsets, const int *columns, int block, const E *x,
                         const E *beta, E *y) {
  BEGIN(h);
  REQUIRE(IS(matrix, LEGACY), "the descriptor is none, or was destroyed");
  REQUIRE(mb >= 0 && nb >= 0 && count >= 0 && block > 0, "a size is negative");
  ProductWork w = {.a = csr_of(mb * block, nb * block, count, matrix, DATA),
                   .b = dense_of((trans ? mb : nb) * block, 1, (trans ? mb : nb) * block, x, DATA),
                   .c = dense_of((trans ? nb : mb) * block, 1, (trans ? nb : mb) * block, y, DATA),
                   .opa = trans,
                   .alpha = scalar_take(h, alpha, DATA),
                   .beta = scalar_take(h, beta, DATA),
                   .compute = DATA};
  blocks_of(&w.a, block, direction);
  ARRAYS(w.a, offsets, columns, values);
  return product_submit(h, &(ProductNames){call_name, "x", "y"}, &w, NULL);
}
EXPORT Status API(bsrmm)(const Handle *h, int direction, int trans, int transb, int mb, int n,
                         int kb, int count, const E *alpha, const LegacyMatrix *matrix,
                         const E *values, const int *offsets, const int *columns, int block,
                         const E *b, int ldb, const E *beta, E *c, int ldc) {
  BEGIN(h);
  REQUIRE(IS(matrix, LEGACY), "the descriptor is none, or was destroyed");
  REQUIRE(mb >= 0 && kb >= 0 && n >= 0 && count >= 0 && block > 0, "a size is negative");
  int rows = (trans ? mb : kb) * block, out = (trans ? kb : mb) * block;
  REQUIRE(ldb >= (transb ? n : rows) && ldc >= out, "ldb or ldc is smaller than a column");
  ProductWork w = {.a = csr_of(mb * block, kb * block, count, matrix, DATA),
                   .b = dense_of(transb ? n : rows, transb ? rows : n, ldb, b, DATA),
                   .c = dense_of(out, n, ldc, c, DATA),
                   .opa = trans,
                   .opb = transb,
                   .alpha = scalar_take(h, alpha, DATA),
                   .beta = scalar_take(h, beta, DATA),
                   .compute = DATA};
  blocks_of(&w.a, block, direction);
  ARRAYS(w.a, offsets, columns, values);
  return product_submit(h, &(ProductNames){call_name, "B", "C"}, &w, NULL);
}

// --- sums, and conversions between elements and blocks ---
EXPORT Status API(csrgeam2_bufferSizeExt)(const Handle *h, int m, int n, const E *alpha,
                                          const LegacyMatrix *da, int count_a, const E *values_a,
                                          const int *offsets_a, const int *columns_a, const E *beta,
                                          const LegacyMatrix *db, int count_b, const E *values_b,
                                          const int *offsets_b, const int *columns_b,
                                          const LegacyMatrix *dc, const E *values_c,
                                          const int *offsets_c, const int *columns_c,
                                          size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status API(csrgeam2)(const Handle *h, int m, int n, const E *alpha, const LegacyMatrix *da,
                            int count_a, const E *values_a, const int *offsets_a,
                            const int *columns_a, const E *beta, const LegacyMatrix *db,
                            int count_b, const E *values_b, const int *offsets_b,
                            const int *columns_b, const LegacyMatrix *dc, E *values_c,
                            int *offsets_c, int *columns_c, void *buffer) {
  BEGIN(h);
  REQUIRE(IS(da, LEGACY) && IS(db, LEGACY) && IS(dc, LEGACY),
          "a descriptor is none, or was destroyed");
  SumWork w = {.a = csr_of(m, n, count_a, da, DATA),
               .b = csr_of(m, n, count_b, db, DATA),
               .c = csr_of(m, n, 0, dc, DATA),
               .alpha = scalar_take(h, alpha, DATA),
               .beta = scalar_take(h, beta, DATA)};
  ARRAYS(w.a, offsets_a, columns_a, values_a);
  ARRAYS(w.b, offsets_b, columns_b, values_b);
  ARRAYS(w.c, offsets_c, columns_c, values_c);
  return sum_submit(h, call_name, &w, buffer);
}
EXPORT Status API(csr2bsr)(const Handle *h, int direction, int m, int n, const LegacyMatrix *da,
                           const E *values, const int *offsets, const int *columns, int block,
                           const LegacyMatrix *dc, E *to_values, int *to_offsets, int *to_columns) {
  BEGIN(h);
  REQUIRE(IS(da, LEGACY) && IS(dc, LEGACY), "a descriptor is none, or was destroyed");
  REQUIRE(block > 0, "a block is empty");
  BlockWork w = {.a = csr_of(m, n, 0, da, DATA), .c = csr_of(m, n, 0, dc, DATA)};
  ARRAYS(w.a, offsets, columns, values);
  ARRAYS(w.c, to_offsets, to_columns, to_values);
  whole_blocks_of(&w.c, block, direction);
  return blocks_submit(h, call_name, &w);
}
EXPORT Status API(bsr2csr)(const Handle *h, int direction, int mb, int nb, const LegacyMatrix *da,
                           const E *values, const int *offsets, const int *columns, int block,
                           const LegacyMatrix *dc, E *to_values, int *to_offsets, int *to_columns) {
  BEGIN(h);
  REQUIRE(IS(da, LEGACY) && IS(dc, LEGACY), "a descriptor is none, or was destroyed");
  REQUIRE(block > 0, "a block is empty");
  BlockWork w = {.a = csr_of(mb * block, nb * block, 0, da, DATA),
                 .c = csr_of(mb * block, nb * block, 0, dc, DATA)};
  ARRAYS(w.a, offsets, columns, values);
  ARRAYS(w.c, to_offsets, to_columns, to_values);
  blocks_of(&w.a, block, direction);
  return blocks_submit(h, call_name, &w);
}

// --- dense matrices ---
EXPORT Status API(nnz)(const Handle *h, int direction, int m, int n, const LegacyMatrix *matrix,
                       const E *a, int lda, int *each, int *total) {
  BEGIN(h);
  NonzeroWork w = {.element = ELEMENT,
                   .by_column = direction == 1,
                   .m = m,
                   .n = n,
                   .lda = lda,
                   .a = a,
                   .each = each,
                   .total = total};
  return nonzeros_submit(h, call_name, &w);
}
