// Conversions between formats: dense and sparse, CSR and CSC, CSR and COO; sorted indices.
#include "libraries/cusparse/entries.h"

// --- sparse to dense ---

typedef struct DenseWork {
  Sparse sparse;
  Dense dense;
  Sparse *result;  // gets its number of elements
} DenseWork;

static void run_to_dense(void *p) {
  const DenseWork *w = p;
  Entries e = {0};
  Number *out = calloc((size_t)(w->dense.rows * w->dense.columns + 1), sizeof *out);
  if (out && entries_load(&w->sparse, 0, true, &e)) {
    for (int64_t i = 0; i < e.n; i++)
      out[e.list[i].row + e.list[i].column * w->dense.rows] = e.list[i].value;
    dense_store(&w->dense, 0, out);
  }
  entries_free(&e);
  free(out);
}

EXPORT Status cusparseSparseToDense_bufferSize(const Handle *h, const Sparse *a, const Dense *b,
                                               int alg, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseSparseToDense(const Handle *h, const Sparse *a, const Dense *b, int alg,
                                    void *buffer) {
  BEGIN(h);
  REQUIRE(IS(a, SPARSE) && IS(b, DENSE), "a descriptor is none, or was destroyed");
  REQUIRE(a->rows == b->rows && a->columns == b->columns, "the matrices have different sizes");
  DenseWork w = {*a, *b, NULL};
  LibraryCall c = {
      .name = call_name, .run = run_to_dense, .arguments = &w, .argument_bytes = sizeof w};
  add_sparse(&c, names_of_a, a, OPERAND_READ);
  add_dense(&c, "B", b, OPERAND_WRITE);
  add_buffer(&c, buffer);
  return submit_call(h, &c);
}

// --- dense to sparse ---

// Calls of this kind go through the elements that are not 0, by rows or (CSC) by columns.
static void each_line(const DenseWork *w, const Number *x, bool stores) {
  const Sparse *s = &w->sparse;
  bool by_columns = s->format == CSC;
  int64_t lines = by_columns ? s->columns : s->rows, length = by_columns ? s->rows : s->columns,
          n = 0;
  for (int64_t i = 0; i < lines; i++) {
    if (s->format != COO) index_store(s->offsets, s->offset_type, i, n + s->base);
    for (int64_t k = 0; k < length; k++) {
      Number value = x[by_columns ? k + i * s->rows : i + k * s->rows];
      if (is_zero(value)) continue;
      if (stores && n < s->count) {
        if (s->format == COO) index_store(s->offsets, s->offset_type, n, i + s->base);
        index_store(s->indices, s->index_type, n, k + s->base);
        number_store(s->values, s->type, n, value);
      }
      n++;
    }
  }
  if (s->format != COO) index_store(s->offsets, s->offset_type, lines, n + s->base);
  if (w->result) w->result->count = n;
}

static void run_count(void *p) {
  const DenseWork *w = p;
  Number *x = dense_load(&w->dense, 0);
  if (x) each_line(w, x, false);
  free(x);
}
static void run_to_sparse(void *p) {
  const DenseWork *w = p;
  Number *x = dense_load(&w->dense, 0);
  if (x) each_line(w, x, true);
  free(x);
}

static Status to_sparse(const Handle *h, const char *call_name, DenseWork *w, bool stores) {
  const Sparse *s = &w->sparse;
  REQUIRE(s->format == CSR || s->format == CSC || s->format == COO,
          "the sparse matrix is not in the CSR, CSC or COO format");
  REQUIRE(s->rows == w->dense.rows && s->columns == w->dense.columns,
          "the matrices have different sizes");
  LibraryCall c = {.name = call_name,
                   .run = stores ? run_to_sparse : run_count,
                   .arguments = w,
                   .argument_bytes = sizeof *w,
                   .waits = !stores};
  add_dense(&c, "A", &w->dense, OPERAND_READ);
  if (s->format != COO || stores)
    add_indices(&c, names_of_b[0], s->offsets, s->offset_type, stored_offsets(s), OPERAND_WRITE);
  if (stores) {
    add_indices(&c, names_of_b[1], s->indices, s->index_type, s->count, OPERAND_WRITE);
    add_elements(&c, names_of_b[2], s->values, element_of(s->type), s->count, OPERAND_WRITE);
  }
  return submit_call(h, &c);
}

EXPORT Status cusparseDenseToSparse_bufferSize(const Handle *h, const Dense *a, const Sparse *b,
                                               int alg, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseDenseToSparse_analysis(const Handle *h, const Dense *a, Sparse *b, int alg,
                                             void *buffer) {
  BEGIN(h);
  REQUIRE(IS(a, DENSE) && IS(b, SPARSE), "a descriptor is none, or was destroyed");
  DenseWork w = {*b, *a, b};
  return to_sparse(h, call_name, &w, false);
}
EXPORT Status cusparseDenseToSparse_convert(const Handle *h, const Dense *a, Sparse *b, int alg,
                                            void *buffer) {
  BEGIN(h);
  REQUIRE(IS(a, DENSE) && IS(b, SPARSE), "a descriptor is none, or was destroyed");
  DenseWork w = {*b, *a, NULL};
  return to_sparse(h, call_name, &w, true);
}

// --- CSR to CSC ---

typedef struct TransposeWork {
  Sparse from, to;
  bool values;
} TransposeWork;

static void run_transpose(void *p) {
  const TransposeWork *w = p;
  size_t bytes = number_bytes(w->from.type);
  Entries e = {0};
  int64_t *columns = NULL;
  if (entries_load(&w->from, 0, false, &e)) {
    entries_transpose(&e, OP_TRANSPOSE);
    if (entries_sort(&e)) columns = entries_rows(&e);
  }
  for (int64_t i = 0; columns && i <= e.rows; i++)
    index_store(w->to.offsets, INDEX_32, i, columns[i] + w->to.base);
  for (int64_t i = 0; columns && i < e.n; i++) {
    index_store(w->to.indices, INDEX_32, i, e.list[i].column + w->to.base);
    if (w->values)
      memcpy((char *)w->to.values + (size_t)i * bytes,
             (char *)w->from.values + (size_t)e.list[i].at * bytes, bytes);
  }
  free(columns);
  entries_free(&e);
}

EXPORT Status cusparseCsr2cscEx2_bufferSize(const Handle *h, int m, int n, int count,
                                            const void *values, const int *offsets,
                                            const int *indices, void *to_values, int *to_offsets,
                                            int *to_indices, int type, int action, int base,
                                            int alg, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseCsr2cscEx2(const Handle *h, int m, int n, int count, const void *values,
                                 const int *offsets, const int *indices, void *to_values,
                                 int *to_offsets, int *to_indices, int type, int action, int base,
                                 int alg, void *buffer) {
  BEGIN(h);
  REQUIRE(m >= 0 && n >= 0 && count >= 0, "a size is negative");
  REQUIRE(number_bytes((DataType)type), "the type of the values is not known");
  TransposeWork w = {.values = action == 1};
  w.from = (Sparse){.format = CSR,
                    .rows = m,
                    .columns = n,
                    .count = count,
                    .offsets = (void *)offsets,
                    .indices = (void *)indices,
                    .values = (void *)values,
                    .offset_type = INDEX_32,
                    .index_type = INDEX_32,
                    .base = base,
                    .type = (DataType)type};
  w.to = w.from;
  w.to.offsets = to_offsets;
  w.to.indices = to_indices;
  w.to.values = to_values;
  LibraryCall c = {
      .name = call_name, .run = run_transpose, .arguments = &w, .argument_bytes = sizeof w};
  add_sparse(&c, names_of_a, &w.from, w.values ? OPERAND_READ : 0);
  add_indices(&c, "cscColPtr", to_offsets, INDEX_32, n + 1, OPERAND_WRITE);
  add_indices(&c, "cscRowInd", to_indices, INDEX_32, count, OPERAND_WRITE);
  if (w.values)
    add_elements(&c, "cscVal", to_values, element_of(w.from.type), count, OPERAND_WRITE);
  add_buffer(&c, buffer);
  return submit_call(h, &c);
}

// --- rows of elements and offsets of rows ---

typedef struct RowWork {
  const int *from;
  int *to;
  int count, rows, base;
} RowWork;

static void run_coo2csr(void *p) {
  const RowWork *w = p;
  int k = 0;
  for (int i = 0; i <= w->rows; i++) {
    while (k < w->count && w->from[k] - w->base < i) k++;
    w->to[i] = k + w->base;
  }
}
static void run_csr2coo(void *p) {
  const RowWork *w = p;
  for (int i = 0; i < w->rows; i++)
    for (int k = w->from[i] - w->base; k < w->from[i + 1] - w->base; k++)
      if (k >= 0 && k < w->count) w->to[k] = i + w->base;
}

static Status rows(const Handle *h, const char *call_name, void (*run)(void *), const RowWork *w) {
  REQUIRE(w->count >= 0 && w->rows >= 0, "a size is negative");
  LibraryCall c = {.name = call_name, .run = run, .arguments = w, .argument_bytes = sizeof *w};
  bool to_offsets = run == run_coo2csr;
  add_indices(&c, to_offsets ? "cooRowInd" : "csrRowPtr", w->from, INDEX_32,
              to_offsets ? w->count : w->rows + 1, OPERAND_READ);
  add_indices(&c, to_offsets ? "csrRowPtr" : "cooRowInd", w->to, INDEX_32,
              to_offsets ? w->rows + 1 : w->count, OPERAND_WRITE);
  return submit_call(h, &c);
}
EXPORT Status cusparseXcoo2csr(const Handle *h, const int *from, int count, int m, int *to,
                               int base) {
  BEGIN(h);
  return rows(h, call_name, run_coo2csr, &(RowWork){from, to, count, m, base});
}
EXPORT Status cusparseXcsr2coo(const Handle *h, const int *from, int count, int m, int *to,
                               int base) {
  BEGIN(h);
  return rows(h, call_name, run_csr2coo, &(RowWork){from, to, count, m, base});
}

// --- sorting: P is permuted as the elements are ---

typedef struct SortWork {
  int *rows, *columns, *permutation;
  const int *offsets;  // CSR and CSC: lines are sorted one by one
  int count, lines, base;
  bool by_column;
} SortWork;
typedef struct Triple {
  int64_t key, other;
  int from, place;
} Triple;

static int by_key(const void *a, const void *b) {
  const Triple *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->other != y->other) return x->other < y->other ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

// Elements [first, end) by (key, other); a null array counts as zeros.
static void sort(const SortWork *w, int first, int end) {
  int *keys = w->by_column ? w->columns : w->rows, *others = w->by_column ? w->rows : w->columns;
  Triple *list = malloc((size_t)(end - first + 1) * sizeof *list);
  for (int i = first; list && i < end; i++)
    list[i - first] = (Triple){keys ? keys[i] : 0, others ? others[i] : 0,
                               w->permutation ? w->permutation[i] : 0, i};
  if (list) qsort(list, (size_t)(end - first), sizeof *list, by_key);
  for (int i = first; list && i < end; i++) {
    const Triple *t = &list[i - first];
    if (keys) keys[i] = (int)t->key;
    if (others) others[i] = (int)t->other;
    if (w->permutation) w->permutation[i] = t->from;
  }
  free(list);
}

static void run_sort(void *p) {
  const SortWork *w = p;
  if (!w->offsets) sort(w, 0, w->count);
  for (int i = 0; w->offsets && i < w->lines; i++) {
    int first = w->offsets[i] - w->base, end = w->offsets[i + 1] - w->base;
    if (first >= 0 && end > first && end <= w->count) sort(w, first, end);
  }
}

static Status sorted(const Handle *h, const char *call_name, const SortWork *w, void *buffer) {
  REQUIRE(w->count >= 0 && w->lines >= 0, "a size is negative");
  LibraryCall c = {.name = call_name, .run = run_sort, .arguments = w, .argument_bytes = sizeof *w};
  unsigned both = OPERAND_READ | OPERAND_WRITE;
  if (w->offsets)
    add_indices(&c, "the offset array", w->offsets, INDEX_32, w->lines + 1, OPERAND_READ);
  if (w->rows) add_indices(&c, "the array of row indices", w->rows, INDEX_32, w->count, both);
  if (w->columns)
    add_indices(&c, "the array of column indices", w->columns, INDEX_32, w->count, both);
  if (w->permutation) add_indices(&c, "P", w->permutation, INDEX_32, w->count, both);
  add_buffer(&c, buffer);
  return submit_call(h, &c);
}

EXPORT Status cusparseXcoosort_bufferSizeExt(const Handle *h, int m, int n, int count,
                                             const int *rows, const int *columns, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseXcoosortByRow(const Handle *h, int m, int n, int count, int *rows,
                                    int *columns, int *p, void *buffer) {
  BEGIN(h);
  return sorted(h, call_name,
                &(SortWork){.rows = rows, .columns = columns, .permutation = p, .count = count},
                buffer);
}
EXPORT Status cusparseXcoosortByColumn(const Handle *h, int m, int n, int count, int *rows,
                                       int *columns, int *p, void *buffer) {
  BEGIN(h);
  return sorted(
      h, call_name,
      &(SortWork){
          .rows = rows, .columns = columns, .permutation = p, .count = count, .by_column = true},
      buffer);
}
#define SORT_LINES(name, lines_of) \
  EXPORT Status cusparseX##name##_bufferSizeExt(const Handle *h, int m, int n, int count, \
                                                const int *offsets, const int *indices, \
                                                size_t *bytes) { \
    return buffer_size(h, bytes); \
  } \
  EXPORT Status cusparseX##name(const Handle *h, int m, int n, int count, \
                                const LegacyMatrix *matrix, const int *offsets, int *indices, \
                                int *p, void *buffer) { \
    BEGIN(h); \
    REQUIRE(IS(matrix, LEGACY), "the descriptor is none, or was destroyed"); \
    return sorted(h, call_name, \
                  &(SortWork){.columns = indices, \
                              .permutation = p, \
                              .offsets = offsets, \
                              .count = count, \
                              .lines = lines_of, \
                              .base = matrix->base}, \
                  buffer); \
  }
SORT_LINES(csrsort, m)
SORT_LINES(cscsort, n)

static void run_identity(void *p) {
  const RowWork *w = p;
  for (int i = 0; i < w->count; i++) w->to[i] = i;
}
EXPORT Status cusparseCreateIdentityPermutation(const Handle *h, int n, int *p) {
  BEGIN(h);
  REQUIRE(n >= 0, "n is negative");
  RowWork w = {.to = p, .count = n};
  LibraryCall c = {
      .name = call_name, .run = run_identity, .arguments = &w, .argument_bytes = sizeof w};
  add_indices(&c, "p", p, INDEX_32, n, OPERAND_WRITE);
  return submit_call(h, &c);
}
