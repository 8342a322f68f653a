// cuBLAS on the virtual device: what its files share.
#ifndef WG_LIBRARIES_CUBLAS_INTERNAL_H
#define WG_LIBRARIES_CUBLAS_INTERNAL_H

#include "libraries/blas/blas.h"
#include "libraries/common/blas_status.h"
#include "libraries/common/call.h"
#include "libraries/common/gemm.h"

enum { HANDLE_MAGIC = 0x67726263, MATH_TF32 = 3 };
typedef struct Handle {
  uint32_t magic;
  const void *stream;
  int device_pointers;  // cublasPointerMode_t
  int math_mode, atomics_mode, sm_target, emulation;
} Handle;

// The handle is alive, and a context is current.
Status handle_check(const Handle *h);
Status status_of(int result);  // of a CUresult
Status refuse(const char *call, const char *why);
Scalar scalar_take(const Handle *h, const void *p, size_t bytes);
Status submit(const Handle *h, LibraryCall *c);

// --- level3.c ---
Status gemm_submit(const Handle *h, const char *name, GemmWork *g);

// --- what calls have in common: every routine up to level 3 takes some of this ---
typedef struct BlasArguments {
  char side, uplo, transa, transb, diag;
  int m, n, k, kl, ku, lda, ldb, ldc, incx, incy;
  Scalar alpha, beta;
  void *a, *b, *c, *x, *y, *result;
  double param[5];
} BlasArguments;

static inline char operation(int trans) { return trans == 0 ? 'N' : trans == 1 ? 'T' : 'C'; }
static inline char fill(int uplo) { return uplo == 0 ? 'L' : 'U'; }
static inline OperandShape shape(int uplo) { return uplo == 0 ? OPERAND_LOWER : OPERAND_UPPER; }
static inline OperandShape shape_with_diagonal(int uplo, int diag) {
  if (diag == 0) return shape(uplo);
  return uplo == 0 ? OPERAND_STRICT_LOWER : OPERAND_STRICT_UPPER;
}

// A 64-bit argument of a function that OpenBLAS computes with 32 bits.
static inline bool fits(int64_t x) { return x <= INT_MAX && x >= -INT_MAX; }

#define REQUIRE(condition, why) \
  do { \
    if (!(condition)) return refuse(call_name, why); \
  } while (0)
#define BEGIN(h, name) \
  static const char call_name[] = name; \
  Status begin_ = handle_check(h); \
  if (begin_) return begin_

static inline void add_matrix(LibraryCall *c, Operand o, unsigned access, OperandShape shape) {
  o.access = access;
  o.shape = shape;
  call_operand(c, &o);
}
static inline void add_vector(LibraryCall *c, Operand o, unsigned access) {
  o.access = access;
  call_operand(c, &o);
}
#endif
