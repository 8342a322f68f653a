// cusparseSnnz: how many elements of a dense matrix are not zero.
#include "libraries/cusparse/legacy.h"

static bool element_is_zero(const NonzeroWork *w, int64_t i, int64_t j) {
  const char *at = (const char *)w->a + (i + j * w->lda) * (int64_t)w->element.bytes;
  if (w->element.format == OPERAND_F64) {
    const double *x = (const double *)at;
    return x[0] == 0 && (w->element.bytes == sizeof *x || x[1] == 0);
  }
  const float *x = (const float *)at;
  return x[0] == 0 && (w->element.bytes == sizeof *x || x[1] == 0);
}

static void run(void *arguments) {
  const NonzeroWork *w = arguments;
  int total = 0;
  memset(w->each, 0, (size_t)(w->by_column ? w->n : w->m) * sizeof *w->each);
  for (int j = 0; j < w->n; j++)
    for (int i = 0; i < w->m; i++) {
      if (element_is_zero(w, i, j)) continue;
      w->each[w->by_column ? j : i]++;
      total++;
    }
  *w->total = total;
}

Status nonzeros_submit(const Handle *h, const char *call_name, const NonzeroWork *w) {
  REQUIRE(w->m >= 0 && w->n >= 0, "a size is negative");
  REQUIRE(w->lda >= w->m, "lda is smaller than the number of rows of A");
  Element integer = {sizeof(int), OPERAND_OTHER};
  LibraryCall c = {.name = call_name,
                   .run = run,
                   .arguments = w,
                   .argument_bytes = sizeof *w,
                   .waits = !h->device_pointers};
  Operand a = operand_of_matrix("A", w->a, w->element, (uint64_t)w->m, (uint64_t)w->n,
                                (uint64_t)w->lda),
          each = operand_of_vector("nnzPerRowCol", w->each, integer,
                                   (uint64_t)(w->by_column ? w->n : w->m), 1),
          total = operand_of_vector("nnzTotalDevHostPtr", w->total, integer, 1, 1);
  each.access = total.access = OPERAND_WRITE;
  call_operand(&c, &a);
  call_operand(&c, &each);
  if (h->device_pointers) call_operand(&c, &total);
  return submit_call(h, &c);
}
