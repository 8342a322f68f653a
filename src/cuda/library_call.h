// Calls that CUDA's mathematical libraries (src/libraries: cuBLAS, cuFFT …) pass to the virtual
// device. They run in stream order and name the memory that they read and write.
//
// The libraries are files of their own and know the driver by one table only, which libcuda.so.1
// exports: warpgrind_library_services.
#ifndef WG_CUDA_LIBRARY_CALL_H
#define WG_CUDA_LIBRARY_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  OPERAND_READ = 1,
  OPERAND_WRITE = 2,
  OPERAND_PARTLY = 4  // some elements are not used: tools do not check their contents
};
typedef enum OperandShape {
  OPERAND_FULL,
  OPERAND_UPPER,         // element (i, j) counts where i <= j
  OPERAND_LOWER,         // … i >= j
  OPERAND_STRICT_UPPER,  // … i < j
  OPERAND_STRICT_LOWER   // … i > j
} OperandShape;
typedef enum OperandFormat {
  OPERAND_OTHER,
  OPERAND_F16,
  OPERAND_BF16,
  OPERAND_F32,
  OPERAND_F64
} OperandFormat;

// A matrix in column-major order, or several of them. A vector is a matrix of one row.
typedef struct Operand {
  const char *name;  // as the library's manual calls it: "A", "x"
  uint64_t address;  // of the element with the lowest address
  uint64_t element;  // bytes
  uint64_t rows, columns, batch;
  uint64_t pitch, slice;  // bytes from column to column, from matrix to matrix
  unsigned access;        // OPERAND_READ …
  OperandShape shape;
  OperandFormat format;  // of the numbers; complex elements are two of them
} Operand;

// Rows [*first, *end) of column j count.
static inline void operand_rows(const Operand *o, uint64_t j, uint64_t *first, uint64_t *end) {
  uint64_t last = j < o->rows ? j : o->rows;
  *first = 0;
  *end = o->rows;
  switch (o->shape) {
    case OPERAND_UPPER: *end = j < o->rows ? j + 1 : o->rows; break;
    case OPERAND_STRICT_UPPER: *end = last; break;
    case OPERAND_LOWER: *first = last; break;
    case OPERAND_STRICT_LOWER: *first = j < o->rows ? j + 1 : o->rows; break;
    default: break;
  }
}

static inline bool operand_is_empty(const Operand *o) {
  return !o->rows || !o->columns || !o->batch || !o->element;
}

// From the first byte to the last, gaps included.
static inline uint64_t operand_extent(const Operand *o) {
  if (operand_is_empty(o)) return 0;
  return (o->batch - 1) * o->slice + (o->columns - 1) * o->pitch + o->rows * o->element;
}

enum { LIBRARY_OPERANDS = 16 };
typedef struct LibraryCall {
  const char *name;    // "cublasSgemm"; stays valid
  const void *stream;  // CUstream
  Operand operands[LIBRARY_OPERANDS];
  uint32_t noperands;
  void (*run)(void *arguments);  // in the order of the stream
  const void *arguments;         // copied
  size_t argument_bytes;
  bool waits;          // the call returns when it has run, as calls with results on the host do
  uint64_t stack;      // of the call; the driver fills it in
  int device;          // likewise
  bool captured;       // likewise: part of a graph
  const void *record;  // likewise: the tools' record of the call
} LibraryCall;

typedef struct LibraryServices {
  uint32_t version;  // LIBRARY_SERVICES_VERSION
  // Makes a context current where there is none. Returns a CUresult, as do the others
  int (*enter)(void);
  int (*submit)(const LibraryCall *c);
  // A running call has read the addresses of more operands from device memory. false: they lie in
  // no allocation, and the call must not touch them.
  bool (*more_operands)(const Operand *o, uint32_t n);
  // A running call has read wrong data from device memory; why: a sentence.
  void (*wrong_data)(const char *why);
  // The function is not served; named once in the report.
  void (*unsupported)(const char *function, const char *why);
  // The call is refused because of its arguments; why: a sentence.
  void (*refused)(const char *call, const char *why);
  bool (*is_capturing)(const void *stream);
} LibraryServices;
enum { LIBRARY_SERVICES_VERSION = 2 };
extern const LibraryServices warpgrind_library_services;
#endif
