// How a library's function becomes a LibraryCall: operands, scalars, bad arguments.
#ifndef WG_LIBRARIES_CALL_H
#define WG_LIBRARIES_CALL_H

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/library_call.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))

// A number that the program gives by pointer: read at once from the host, or when the call runs
// from the device.
typedef struct Scalar {
  const void *device;  // NULL: the bytes count
  _Alignas(16) unsigned char bytes[16];
} Scalar;
static inline const void *scalar(const Scalar *s) { return s->device ? s->device : s->bytes; }
static inline bool scalar_is_zero(const Scalar *s, size_t size) {  // and known to be
  static const unsigned char zero[16];
  return !s->device && !memcmp(s->bytes, zero, size);
}

// The number at the end of the library's name: libcublas.so.13 (common/version.c).
extern const int library_major;

// A type of elements.
typedef struct Element {
  uint32_t bytes;
  OperandFormat format;
} Element;

static inline Operand *call_operand(LibraryCall *c, const Operand *o) {
  if (c->noperands == LIBRARY_OPERANDS || operand_is_empty(o)) return NULL;
  c->operands[c->noperands] = *o;
  return &c->operands[c->noperands++];
}

static inline Operand operand_of_matrix(const char *name, const void *p, Element e, uint64_t rows,
                                        uint64_t columns, uint64_t ld) {
  return (Operand){.name = name,
                   .address = (uintptr_t)p,
                   .element = e.bytes,
                   .rows = rows,
                   .columns = columns,
                   .batch = 1,
                   .pitch = ld * e.bytes,
                   .access = OPERAND_READ,
                   .format = e.format};
}

// Elements of a vector are n columns of one row; a negative increment counts from its end.
static inline Operand operand_of_vector(const char *name, const void *p, Element e, uint64_t n,
                                        int64_t inc) {
  uint64_t step = (uint64_t)(inc < 0 ? -inc : inc);
  if (step == 1) return operand_of_matrix(name, p, e, n, 1, n);
  return operand_of_matrix(name, p, e, 1, step ? n : 1, step ? step : 1);
}

static inline void call_scalar(LibraryCall *c, const char *name, const Scalar *s, Element e) {
  if (!s->device) return;
  Operand o = operand_of_vector(name, s->device, e, 1, 1);
  call_operand(c, &o);
}
#endif
