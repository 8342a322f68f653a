// Batches whose matrices are reached through pointers in device memory: factorisations, solves,
// inverses and products with vectors.
#include <complex.h>
#undef I

#include "libraries/cublas/internal.h"

typedef struct BatchWork {
  int n, nrhs, lda, ldb, incx, incy, batch, m;
  char trans;
  void *const *a, *const *b, *const *y;
  int *pivots, *info;
  Scalar alpha, beta;
  const char *a_base;  // strided batches
  const char *x_base;
  char *y_base;
  long long sa, sx, sy;
} BatchWork;

static const Element pointer_element = {sizeof(void *), OPERAND_OTHER};
static const Element int_element = {sizeof(int), OPERAND_OTHER};

static void add_pointers(LibraryCall *c, const char *name, const void *p, int batch) {
  add_vector(c, operand_of_vector(name, p, pointer_element, (uint64_t)batch, 1), OPERAND_READ);
}
static void add_ints(LibraryCall *c, const char *name, const void *p, uint64_t n, unsigned access) {
  if (p) add_vector(c, operand_of_vector(name, p, int_element, n, 1), access);
}

#define FUNCTIONS "libraries/cublas/batched_functions.h"
#include "libraries/cublas/for_all_types.h"
