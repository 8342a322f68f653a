// The exported functions of legacy.h.
#include <complex.h>
#undef I

#include "libraries/cusparse/legacy.h"

Sparse csr_of(int m, int n, int count, const LegacyMatrix *matrix, DataType type) {
  return (Sparse){.magic = MAGIC_SPARSE,
                  .format = CSR,
                  .rows = m,
                  .columns = n,
                  .count = count,
                  .offset_type = INDEX_32,
                  .index_type = INDEX_32,
                  .base = matrix->base,
                  .type = type,
                  .batch = 1};
}

void blocks_of(Sparse *s, int block, int direction) {
  s->format = BSR;
  s->block_rows = s->block_columns = block;
  s->order = direction == 0 ? ORDER_ROW : ORDER_COLUMN;
}

void whole_blocks_of(Sparse *s, int block, int direction) {
  s->rows = (s->rows + block - 1) / block * block;
  s->columns = (s->columns + block - 1) / block * block;
  blocks_of(s, block, direction);
}

static Dense dense_of(int64_t rows, int64_t columns, int64_t ld, const void *p, DataType type) {
  return (Dense){MAGIC_DENSE, rows, columns, ld, (void *)p, type, ORDER_COLUMN, 1, 0};
}

static Status int_buffer_size(const Handle *h, int *bytes) {
  size_t size = 0;
  Status s = bytes ? buffer_size(h, &size) : INVALID_VALUE;
  if (!s) *bytes = (int)size;
  return s;
}

#define ARRAYS(matrix, of_offsets, of_columns, of_values) \
  do { \
    (matrix).offsets = (void *)(of_offsets); \
    (matrix).indices = (void *)(of_columns); \
    (matrix).values = (void *)(of_values); \
  } while (0)
#define API(f) PASTE(cusparse, T, f, )
#define FUNCTIONS_OF_A_TYPE "libraries/cusparse/legacy_functions.h"
#include "libraries/common/for_all_types.h"
