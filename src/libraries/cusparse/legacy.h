// The older functions, whose names say the type of elements.
#ifndef WG_LIBRARIES_CUSPARSE_LEGACY_H
#define WG_LIBRARIES_CUSPARSE_LEGACY_H

#include "libraries/cusparse/products.h"

// --- tridiagonal.c: element i of system s is at i * step + s * stride ---
typedef struct BandWork {
  DataType type;
  int64_t m, systems, step, stride, ldb;
  bool one_matrix, pivots;  // gtsv2: B has `systems` columns
  const void *ds, *dl, *d, *du, *dw;
  void *x;
} BandWork;
Status bands_submit(const Handle *h, const char *call_name, const BandWork *w, void *buffer);

// --- nonzeros.c ---
typedef struct NonzeroWork {
  Element element;
  bool by_column;
  int m, n, lda;
  const void *a;
  int *each, *total;  // of each row or column, and of all; total: by the handle's pointer mode
} NonzeroWork;
Status nonzeros_submit(const Handle *h, const char *call_name, const NonzeroWork *w);

// --- legacy.c: matrices of 32-bit indices, whose arrays the caller fills in ---
Sparse csr_of(int m, int n, int count, const LegacyMatrix *matrix, DataType type);
// Turns it into a matrix of blocks, which are stored by rows or by columns.
void blocks_of(Sparse *s, int block, int direction);
void whole_blocks_of(Sparse *s, int block, int direction);  // rounds its sizes up

// --- patterns.c ---
typedef struct SumWork {
  Sparse a, b, c;
  int *total;  // only count; NULL: add up
  Scalar alpha, beta;
} SumWork;
Status sum_submit(const Handle *h, const char *call_name, const SumWork *w, void *buffer);
typedef struct BlockWork {
  Sparse a, c;  // one of them is a matrix of blocks
  int *total;   // only count blocks; NULL: convert
} BlockWork;
Status blocks_submit(const Handle *h, const char *call_name, const BlockWork *w);

// --- incomplete.c ---
typedef struct Pivot {
  Magic magic;
  int64_t row;  // the first without a pivot; -1: all have one
} Pivot;
typedef struct FactorWork {
  Sparse a;
  bool cholesky;
  Pivot *pivot;
} FactorWork;
Status factor_submit(const Handle *h, const char *call_name, const FactorWork *w, void *buffer);
#endif
