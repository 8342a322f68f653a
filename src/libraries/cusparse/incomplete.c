// Factorisations without fill-in of matrices in the CSR format: csrilu02 and csric02.
#include <math.h>

#include "cuda/abi.h"
#include "libraries/cusparse/legacy.h"

typedef struct Rows {
  Entries e;  // sorted
  int64_t *start;
  int64_t *diagonal;  // entry of each row; -1: it is not stored
} Rows;

static bool load(const FactorWork *w, Rows *r) {
  if (!entries_load(&w->a, 0, true, &r->e) || !entries_sort(&r->e)) return false;
  r->start = entries_rows(&r->e);
  r->diagonal = malloc((size_t)(r->e.rows + 1) * sizeof *r->diagonal);
  if (!r->start || !r->diagonal) return false;
  for (int64_t i = 0; i < r->e.rows; i++) {
    r->diagonal[i] = -1;
    for (int64_t k = r->start[i]; k < r->start[i + 1]; k++)
      if (r->e.list[k].column == i) r->diagonal[i] = k;
  }
  return true;
}

// The entry (i, j), or NULL.
static Entry *find(Rows *r, int64_t i, int64_t j) {
  int64_t low = r->start[i], high = r->start[i + 1];
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (r->e.list[middle].column < j) low = middle + 1;
    else high = middle;
  }
  return low < r->start[i + 1] && r->e.list[low].column == j ? &r->e.list[low] : NULL;
}

static void no_pivot(const FactorWork *w, int64_t row) {
  if (w->pivot && w->pivot->row < 0) w->pivot->row = row + w->a.base;
}

static void factor_lu(const FactorWork *w, Rows *r) {
  for (int64_t i = 0; i < r->e.rows; i++) {
    for (int64_t k = r->start[i]; k < r->start[i + 1] && r->e.list[k].column < i; k++) {
      int64_t row = r->e.list[k].column, d = r->diagonal[row];
      if (d < 0) continue;
      Number factor = divided(r->e.list[k].value, r->e.list[d].value);
      r->e.list[k].value = factor;
      for (int64_t l = d + 1; l < r->start[row + 1]; l++) {
        Entry *x = find(r, i, r->e.list[l].column);
        if (x) x->value = minus(x->value, times(factor, r->e.list[l].value));
      }
    }
    if (r->diagonal[i] < 0 || is_zero(r->e.list[r->diagonal[i]].value)) no_pivot(w, i);
  }
}

// L of A = L L^H, in the lower triangle; what is above the diagonal stays.
static void factor_cholesky(const FactorWork *w, Rows *r) {
  for (int64_t i = 0; i < r->e.rows; i++) {
    for (int64_t k = r->start[i]; k < r->start[i + 1] && r->e.list[k].column <= i; k++) {
      int64_t j = r->e.list[k].column;
      Number sum = r->e.list[k].value;
      for (int64_t l = r->start[i]; l < r->start[i + 1] && r->e.list[l].column < j; l++) {
        const Entry *other = find(r, j, r->e.list[l].column);
        if (other) sum = minus(sum, times(r->e.list[l].value, conjugate(other->value)));
      }
      if (j == i) sum = (Number){sqrt(sum.re), 0};
      else if (r->diagonal[j] >= 0) sum = divided(sum, r->e.list[r->diagonal[j]].value);
      r->e.list[k].value = sum;
    }
    Number d = r->diagonal[i] < 0 ? (Number){0, 0} : r->e.list[r->diagonal[i]].value;
    if (!(d.re > 0)) no_pivot(w, i);
  }
}

static void run_factor(void *p) {
  const FactorWork *w = p;
  Rows r = {0};
  if (w->pivot) w->pivot->row = -1;
  if (load(w, &r)) {
    if (w->cholesky) factor_cholesky(w, &r);
    else factor_lu(w, &r);
    for (int64_t i = 0; i < r.e.n; i++)
      number_store(w->a.values, w->a.type, r.e.list[i].at, r.e.list[i].value);
  }
  entries_free(&r.e);
  free(r.start);
  free(r.diagonal);
}

Status factor_submit(const Handle *h, const char *call_name, const FactorWork *w, void *buffer) {
  REQUIRE(w->a.rows >= 0 && w->a.count >= 0, "a size is negative");
  LibraryCall c = {
      .name = call_name, .run = run_factor, .arguments = w, .argument_bytes = sizeof *w};
  add_sparse(&c, names_of_a, &w->a, OPERAND_READ | OPERAND_WRITE);
  add_buffer(&c, buffer);
  return submit_call(h, &c);
}

// --- the objects that remember a zero pivot ---

#define PIVOTS(Name, name) \
  EXPORT Status cusparseCreate##Name##Info(Pivot **out) { \
    Status s = object_create(out, sizeof **out, MAGIC_PIVOT); \
    if (!s) (*out)->row = -1; \
    return s; \
  } \
  EXPORT Status cusparseDestroy##Name##Info(Pivot *p) { \
    if (!IS(p, PIVOT)) return INVALID_VALUE; \
    cuCtxSynchronize(); \
    return object_destroy(p, MAGIC_PIVOT); \
  } \
  EXPORT Status cusparseX##name##_zeroPivot(const Handle *h, const Pivot *p, int *position) { \
    BEGIN(h); \
    REQUIRE(IS(p, PIVOT) && position, "the object is none, or the position null"); \
    cuCtxSynchronize(); \
    *position = (int)p->row; \
    return p->row < 0 ? SUCCESS : ZERO_PIVOT; \
  }
PIVOTS(Csrilu02, csrilu02)
PIVOTS(Csric02, csric02)
