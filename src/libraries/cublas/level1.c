// Level 1: vectors. Plain loops, in the order of the elements, so that results are the same every
// time; sums of float are kept in float, as cuBLAS's are.
#include <complex.h>
#undef I
#include <math.h>

#include "libraries/cublas/internal.h"

// The address of element 0 of a vector whose increment may be negative.
static int64_t first_of(int64_t n, int64_t inc) { return inc < 0 ? (1 - n) * inc : 0; }

typedef struct VectorWork {
  int64_t n, incx, incy;
  const void *x;
  void *y, *result;
  Scalar alpha, beta;
  bool conjugates;
} VectorWork;

// A result goes to the device, or to the host; in the second case the call waits for it.
static void add_result(const Handle *h, LibraryCall *c, void *result, Element e) {
  if (h->device_pointers)
    add_vector(c, operand_of_vector("result", result, e, 1, 1), OPERAND_WRITE);
  else c->waits = true;
}

// Indices of functions without the suffix are int.
typedef struct IndexWork {
  VectorWork v;
  bool wide, least;
} IndexWork;

static void store_index(const IndexWork *w, int64_t index) {
  if (w->wide) *(int64_t *)w->v.result = index;
  else *(int *)w->v.result = (int)index;
}

#define FUNCTIONS "libraries/cublas/level1_functions.h"
#include "libraries/cublas/for_all_types.h"

// --- Givens rotations of real vectors with a complex type, real scalars for complex vectors ---

#define MIXED(function, text, routine, E, R, INT, bytes_format) \
  EXPORT Status function(const Handle *h, INT n, const R *alpha, E *x, INT incx) { \
    BEGIN(h, text); \
    if (n <= 0 || incx <= 0) return SUCCESS; \
    VectorWork w = {.n = n, .incx = incx, .y = x, .alpha = scalar_take(h, alpha, sizeof(R))}; \
    LibraryCall c = { \
        .name = call_name, .run = routine, .arguments = &w, .argument_bytes = sizeof w}; \
    Element e = {sizeof(E), bytes_format}; \
    add_vector(&c, operand_of_vector("x", x, e, (uint64_t)n, incx), OPERAND_READ | OPERAND_WRITE); \
    call_scalar(&c, "alpha", &w.alpha, (Element){sizeof(R), bytes_format}); \
    return submit(h, &c); \
  }
static void run_csscal(void *p) {
  VectorWork *w = p;
  float alpha = *(const float *)scalar(&w->alpha);
  for (int64_t i = 0; i < w->n; i++) ((float _Complex *)w->y)[i * w->incx] *= alpha;
}
static void run_zdscal(void *p) {
  VectorWork *w = p;
  double alpha = *(const double *)scalar(&w->alpha);
  for (int64_t i = 0; i < w->n; i++) ((double _Complex *)w->y)[i * w->incx] *= alpha;
}
MIXED(cublasCsscal_v2, "cublasCsscal", run_csscal, float _Complex, float, int, OPERAND_F32)
MIXED(cublasCsscal_v2_64, "cublasCsscal", run_csscal, float _Complex, float, int64_t, OPERAND_F32)
MIXED(cublasZdscal_v2, "cublasZdscal", run_zdscal, double _Complex, double, int, OPERAND_F64)
MIXED(cublasZdscal_v2_64, "cublasZdscal", run_zdscal, double _Complex, double, int64_t, OPERAND_F64)
