// Sparse and dense matrices in double precision, for the execution of calls.
#ifndef WG_LIBRARIES_CUSPARSE_ENTRIES_H
#define WG_LIBRARIES_CUSPARSE_ENTRIES_H

#include "libraries/cusparse/internal.h"

typedef struct Number {
  double re, im;
} Number;
// Real numbers stay real: infinity times an imaginary part of 0 would be NaN.
static inline Number times(Number a, Number b) {
  if (a.im == 0 && b.im == 0) return (Number){a.re * b.re, 0};
  return (Number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static inline Number plus(Number a, Number b) { return (Number){a.re + b.re, a.im + b.im}; }
static inline Number minus(Number a, Number b) { return (Number){a.re - b.re, a.im - b.im}; }
static inline Number conjugate(Number a) { return (Number){a.re, -a.im}; }
static inline bool is_zero(Number a) { return a.re == 0 && a.im == 0; }
Number divided(Number a, Number b);
Number scalar_number(const Scalar *s, DataType t);
bool numbers_load(Number *to, const void *from, DataType t, int64_t n);  // false: no memory
void number_store(void *to, DataType t, int64_t at, Number x);

// The stored elements of a matrix. Those whose indices lie outside of it are reported and left out.
typedef struct Entry {
  int64_t row, column, at;  // at: index into the array of values
  Number value;
} Entry;
typedef struct Entries {
  int64_t n, rows, columns;
  Entry *list;
} Entries;
bool entries_load(const Sparse *s, int batch, bool with_values, Entries *out);  // false: no memory
void entries_free(Entries *e);
void entries_transpose(Entries *e, int operation);
bool entries_sort(Entries *e);  // by row, then by column; equal ones keep their order
// The index at which each row begins in sorted entries: rows + 1 numbers. Caller frees
int64_t *entries_rows(const Entries *e);

int64_t index_load(const void *p, int type, int64_t at);
void index_store(void *p, int type, int64_t at, int64_t value);

// Column-major, without gaps. Caller frees; NULL: no memory
Number *dense_load(const Dense *d, int batch);
void dense_store(const Dense *d, int batch, const Number *from);
#endif
