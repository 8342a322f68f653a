// cuSPARSE on the virtual device: what its files share.
//
// A sparse matrix of any format is read as a list of entries (row, column, value) in double
// precision (entries.h). So each product, solve and conversion is written once, for all formats and
// types, and rounds once at its end.
#ifndef WG_LIBRARIES_CUSPARSE_INTERNAL_H
#define WG_LIBRARIES_CUSPARSE_INTERNAL_H

#include "libraries/common/call.h"
#include "libraries/common/numbers.h"

typedef enum Status {
  SUCCESS = 0,
  NOT_INITIALIZED = 1,
  ALLOC_FAILED = 2,
  INVALID_VALUE = 3,
  EXECUTION_FAILED = 6,
  INTERNAL_ERROR = 7,
  ZERO_PIVOT = 9,
  NOT_SUPPORTED = 10,
  INSUFFICIENT_RESOURCES = 11
} Status;

// Every object begins with such a number.
typedef enum Magic {
  MAGIC_HANDLE = 0x70730001,
  MAGIC_SPARSE = 0x70730002,
  MAGIC_DENSE = 0x70730003,
  MAGIC_VECTOR = 0x70730004,
  MAGIC_PLAN = 0x70730005,
  MAGIC_LEGACY = 0x70730006,
  MAGIC_PIVOT = 0x70730007
} Magic;

typedef struct Handle {
  Magic magic;
  const void *stream;
  int device_pointers;
} Handle;

typedef enum Format { CSR = 1, CSC = 2, COO = 3, BSR = 6, SLICED_ELL = 7 } Format;
enum { ORDER_COLUMN = 1, ORDER_ROW = 2 };
enum { INDEX_32 = 2, INDEX_64 = 3 };
enum { OP_NONE = 0, OP_TRANSPOSE = 1, OP_CONJUGATE = 2 };
enum { FILL_LOWER = 0, FILL_UPPER = 1 };

typedef struct Sparse {
  Magic magic;
  Format format;
  int64_t rows, columns, count;  // stored elements; BSR: blocks
  int64_t block_rows, block_columns;
  int64_t slice, stored;             // SLICED_ELL: rows of a slice, elements with the padding
  void *offsets, *indices, *values;  // COO: offsets are the rows of the elements
  int offset_type, index_type, base, order;
  DataType type;
  int fill, unit_diagonal;
  int batch;
  int64_t offset_stride, index_stride, value_stride;
} Sparse;

// A vector is a matrix of one column.
typedef struct Dense {
  Magic magic;
  int64_t rows, columns, ld;
  void *values;
  DataType type;
  int order, batch;
  int64_t stride;
} Dense;

typedef struct SparseVector {
  Magic magic;
  int64_t size, count;
  void *indices, *values;
  int index_type, base;
  DataType type;
} SparseVector;

// cusparseSpSVDescr_t, cusparseSpSMDescr_t, cusparseSpGEMMDescr_t: state that one step leaves for
// the next.
typedef struct Plan {
  Magic magic;
  void *buffer;  // of the analysis; it must live as long as solves are made
  void *new_values;
  int64_t products;
  struct Entries *result;
} Plan;

// cusparseMatDescr_t
typedef struct LegacyMatrix {
  Magic magic;
  int type, fill, diagonal, base;
} LegacyMatrix;

// --- handle.c ---
Status handle_check(const Handle *h);
Status refuse(const char *call, const char *why);
Scalar scalar_take(const Handle *h, const void *p, DataType t);
Status submit_call(const Handle *h, LibraryCall *c);
Status object_create(void *out, size_t bytes, Magic magic);
Status object_destroy(void *object, Magic magic);
#define IS(object, kind) ((object) && (object)->magic == MAGIC_##kind)
#define REQUIRE(condition, why) \
  do { \
    if (!(condition)) return refuse(call_name, why); \
  } while (0)
#define BEGIN(h) \
  static const char *const call_name = __func__; \
  Status begin_ = handle_check(h); \
  if (begin_) return begin_

// Bytes that every bufferSize asks for. Nothing is kept there: the program's buffer is only
// checked.
enum { BUFFER_BYTES = 64 };
Status buffer_size(const Handle *h, size_t *bytes);

// --- operands.c ---
void add_elements(LibraryCall *c, const char *name, const void *p, Element e, int64_t n,
                  unsigned access);
void add_indices(LibraryCall *c, const char *name, const void *p, int type, int64_t n,
                 unsigned access);
// Offsets and indices are read; `access` is that of the values.
void add_sparse(LibraryCall *c, const char *const names[3], const Sparse *s, unsigned access);
void add_dense(LibraryCall *c, const char *name, const Dense *d, unsigned access);
void add_vector(LibraryCall *c, const char *const names[2], const SparseVector *v, unsigned access);
void add_buffer(LibraryCall *c, void *buffer);
// The access to a result: write only if beta is known to be 0, else also read.
unsigned result_access(const Scalar *beta, DataType t);
int64_t stored_values(const Sparse *s);
int64_t stored_indices(const Sparse *s);
int64_t stored_offsets(const Sparse *s);
static inline Element element_of(DataType t) {
  return (Element){number_bytes(t), number_format(t)};
}

extern const char *const names_of_a[3], *const names_of_b[3], *const names_of_c[3];
extern const char *const names_of_x[2];
#endif
