// cuSOLVER's dense routines on the virtual device: what its files share.
//
// A routine is one function for all types of elements (factor.c, orthogonal.c, eigen.c, svd.c),
// which checks the arguments, names the operands and submits a call of LAPACK. The exported
// functions fill in a Work: those with a type in their names (…_functions.h) and those that take
// cudaDataType and 64-bit sizes (typeless.c).
#ifndef WG_LIBRARIES_CUSOLVER_INTERNAL_H
#define WG_LIBRARIES_CUSOLVER_INTERNAL_H

#include "libraries/blas/blas.h"
#include "libraries/common/call.h"
#include "libraries/common/numbers.h"

typedef enum Status {
  SUCCESS = 0,
  NOT_INITIALIZED = 1,
  ALLOC_FAILED = 2,
  INVALID_VALUE = 3,
  EXECUTION_FAILED = 6,
  INTERNAL_ERROR = 7,
  NOT_SUPPORTED = 9
} Status;

enum { HANDLE_MAGIC = 0x6e726c73, JACOBI_MAGIC = 0x69626f6a, PARAMS_MAGIC = 0x6d617270 };
typedef struct Handle {
  uint32_t magic;
  const void *stream;
  int deterministic, math_mode, emulation;
} Handle;

// syevjInfo_t and gesvdjInfo_t: what a program may set, and what it may ask afterwards.
typedef struct Jacobi {
  uint32_t magic;
  double tolerance;
  int sweeps, sort;
  double residual;
} Jacobi;

enum { RANGE_ALL = 1001, RANGE_INDEX = 1002, RANGE_VALUE = 1003 };

// The arguments of one call; each routine uses some of them. An enumeration of the library keeps
// its number until lapack.h's functions make a letter of it.
typedef struct Work {
  DataType type;
  int uplo, side, trans, diag;
  char jobu, jobv;               // of LAPACK
  bool vectors, economic, by_v;  // by_v: the right vectors are columns of V, not rows of VT
  int itype, range, il, iu;
  double vl, vu;
  int m, n, k, nrhs, batch;
  int lda, ldb, ldc, ldu, ldv;
  int64_t sa, ss, su, sv;  // strides of batches, in elements
  void *a, *b, *c, *u, *v, *tau, *taup;
  void *values, *off_diagonal;  // real numbers
  void *pivots;
  bool wide_pivots, own_pivots;  // int64_t; none given: rows keep their places
  int k1, k2, incx;
  int *info;
  int *count;  // of eigenvalues, on the host
  int64_t *wide_count;
  Jacobi *jacobi;
  void *workspace;
  int64_t workspace_bytes;
} Work;

// --- handle.c ---
Status handle_check(const Handle *h);
Status refuse(const char *call, const char *why);
Status submit(const Handle *h, LibraryCall *c, const Work *w, void (*run)(void *));
#define REQUIRE(condition, why) \
  do { \
    if (!(condition)) return refuse(call_name, why); \
  } while (0)
// A routine has the parameters (const Handle *h, const char *call_name, const Work *w).
#define BEGIN_ROUTINE() \
  do { \
    Status begin_ = handle_check(h); \
    if (begin_) return begin_; \
  } while (0)

// --- sizes ---
// A 64-bit size as LAPACK takes it; -1, which every routine refuses: it is too large.
static inline int narrow(int64_t x) { return x > INT_MAX || x < 0 ? -1 : (int)x; }
// Elements of workspace that a routine of these sizes asks for. LAPACK's own is taken from the heap
// of the process: the program's is only checked.
static inline int workspace_elements(int m, int n) { return MAX_OF(1, MAX_OF(m, n)); }

// --- operands ---
static inline Element element_of(const Work *w) {
  return (Element){number_bytes(w->type), number_format(w->type)};
}
static inline Element real_of(const Work *w) {
  Element e = element_of(w);
  if (number_is_complex(w->type)) e.bytes /= 2;
  return e;
}
static inline OperandShape triangle(const Work *w) {
  return w->uplo == 0 ? OPERAND_LOWER : OPERAND_UPPER;
}

typedef struct Shape {
  const char *name;
  const void *p;
  int rows, columns, ld;
  unsigned access;
  OperandShape shape;
} Shape;
void add_matrix(LibraryCall *c, const Work *w, Shape s);
void add_vector(LibraryCall *c, const char *name, const void *p, Element e, int n, unsigned access);
void add_pivots(LibraryCall *c, const Work *w, int n, unsigned access);
void add_info(LibraryCall *c, const Work *w);
// False: the program gives less workspace than bufferSize says.
bool add_workspace(LibraryCall *c, const Work *w, int m, int n);

// --- routines ---
#define ROUTINE(name) Status name(const Handle *h, const char *call_name, const Work *w);
#include "libraries/cusolver/routines.def"
#undef ROUTINE
#endif
