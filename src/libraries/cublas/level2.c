// Level 2: a matrix and a vector.
#include <complex.h>
#undef I

#include "libraries/cublas/internal.h"

static Status finish(const Handle *h, LibraryCall *c, BlasArguments *w, Element e) {
  call_scalar(c, "alpha", &w->alpha, e);
  call_scalar(c, "beta", &w->beta, e);
  c->arguments = w;
  c->argument_bytes = sizeof *w;
  return submit(h, c);
}

static unsigned access_of_y(const BlasArguments *w, size_t bytes) {
  if (scalar_is_zero(&w->beta, bytes)) return OPERAND_WRITE;
  return OPERAND_READ | OPERAND_WRITE | (w->beta.device ? OPERAND_PARTLY : 0);
}

#define FUNCTIONS "libraries/cublas/level2_functions.h"
#include "libraries/cublas/for_all_types.h"
