// Triangular solves: SpSV and SpSM. op(A) X = alpha op(B), with the triangle of A that its
// attributes name.
#include "cuda/abi.h"
#include "libraries/cusparse/entries.h"

typedef struct SolveWork {
  Sparse a;
  Dense b, x;
  int opa, opb;
  Scalar alpha;
  DataType compute;
} SolveWork;

typedef struct Triangle {
  Entries entries;  // sorted
  int64_t *rows;
  bool lower, unit;
} Triangle;

static void solve_column(const Triangle *t, Number *x) {
  int64_t n = t->entries.rows;
  for (int64_t k = 0; k < n; k++) {
    int64_t i = t->lower ? k : n - 1 - k;
    Number sum = x[i], diagonal = {t->unit ? 1 : 0, 0};
    for (int64_t e = t->rows[i]; e < t->rows[i + 1]; e++) {
      const Entry *entry = &t->entries.list[e];
      bool inside = t->lower ? entry->column < i : entry->column > i;
      if (inside) sum = minus(sum, times(entry->value, x[entry->column]));
      if (entry->column == i && !t->unit) diagonal = entry->value;
    }
    x[i] = t->unit ? sum : divided(sum, diagonal);
  }
}

static Number right_side(const SolveWork *w, const Number *b, int64_t i, int64_t j) {
  if (w->opb == OP_NONE) return b[i + j * w->b.rows];
  Number x = b[j + i * w->b.rows];
  return w->opb == OP_CONJUGATE ? conjugate(x) : x;
}

static void run_solve(void *p) {
  const SolveWork *w = p;
  Number alpha = scalar_number(&w->alpha, w->compute);
  for (int k = 0; k < w->x.batch; k++) {
    Triangle t = {.lower = (w->a.fill == FILL_LOWER) == (w->opa == OP_NONE),
                  .unit = w->a.unit_diagonal};
    Number *b = dense_load(&w->b, k),
           *x = malloc((size_t)(w->x.rows * w->x.columns + 1) * sizeof *x);
    bool loaded = b && x && entries_load(&w->a, k, true, &t.entries);
    entries_transpose(&t.entries, loaded ? w->opa : OP_NONE);
    if (loaded && entries_sort(&t.entries) && (t.rows = entries_rows(&t.entries))) {
      for (int64_t j = 0; j < w->x.columns; j++) {
        Number *column = x + j * w->x.rows;
        for (int64_t i = 0; i < w->x.rows; i++) column[i] = times(alpha, right_side(w, b, i, j));
        solve_column(&t, column);
      }
      dense_store(&w->x, k, x);
    }
    entries_free(&t.entries);
    free(t.rows);
    free(b);
    free(x);
  }
}

typedef struct SolveNames {
  const char *call, *b, *x;
} SolveNames;

static Status solve(const Handle *h, const SolveNames *names, SolveWork *w, const Plan *plan) {
  const char *call_name = names->call;
  bool plain = w->opb == OP_NONE;
  REQUIRE(w->a.rows == w->a.columns, "A is not square");
  REQUIRE(w->x.rows == w->a.rows && w->x.rows == (plain ? w->b.rows : w->b.columns) &&
              w->x.columns == (plain ? w->b.columns : w->b.rows),
          "the sizes of the operands do not go together");
  REQUIRE(number_bytes(w->compute), "the type of the computation is not known");
  LibraryCall c = {
      .name = call_name, .run = run_solve, .arguments = w, .argument_bytes = sizeof *w};
  if (plan->new_values) w->a.values = plan->new_values;
  add_sparse(&c, names_of_a, &w->a, OPERAND_READ);
  add_dense(&c, names->b, &w->b, OPERAND_READ);
  add_dense(&c, names->x, &w->x, OPERAND_WRITE);
  add_buffer(&c, plan->buffer);
  call_scalar(&c, "alpha", &w->alpha, element_of(w->compute));
  return submit_call(h, &c);
}

// Between analysis and solves the plan has the buffer only.
#define PLANS(name) \
  EXPORT Status cusparse##name##_createDescr(Plan **out) { \
    return object_create(out, sizeof **out, MAGIC_PLAN); \
  } \
  EXPORT Status cusparse##name##_destroyDescr(Plan *p) { return object_destroy(p, MAGIC_PLAN); } \
  EXPORT Status cusparse##name##_updateMatrix(const Handle *h, Plan *p, void *values, int part) { \
    BEGIN(h); \
    REQUIRE(IS(p, PLAN), "the descriptor is none, or was destroyed"); \
    REQUIRE(part == 0, "an update of the diagonal alone is not served"); \
    p->new_values = values; \
    return SUCCESS; \
  }
PLANS(SpSV)
PLANS(SpSM)

static Status analyse(const Handle *h, const char *call_name, Plan *p, void *buffer) {
  Status s = handle_check(h);
  if (s) return s;
  REQUIRE(IS(p, PLAN), "the descriptor of the solve is none, or was destroyed");
  p->buffer = buffer;
  p->new_values = NULL;
  return SUCCESS;
}

EXPORT Status cusparseSpSV_bufferSize(const Handle *h, int op, const void *alpha, const Sparse *a,
                                      const Dense *x, const Dense *y, int compute, int alg,
                                      const Plan *p, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseSpSV_analysis(const Handle *h, int op, const void *alpha, const Sparse *a,
                                    const Dense *x, const Dense *y, int compute, int alg, Plan *p,
                                    void *buffer) {
  return analyse(h, __func__, p, buffer);
}
EXPORT Status cusparseSpSV_solve(const Handle *h, int op, const void *alpha, const Sparse *a,
                                 const Dense *x, Dense *y, int compute, int alg, const Plan *p) {
  BEGIN(h);
  REQUIRE(IS(a, SPARSE) && IS(x, DENSE) && IS(y, DENSE) && IS(p, PLAN),
          "a descriptor is none, or was destroyed");
  REQUIRE(p->buffer, "cusparseSpSV_analysis was not called, or had no buffer");
  SolveWork w = {
      *a, *x, *y, op, OP_NONE, scalar_take(h, alpha, (DataType)compute), (DataType)compute};
  return solve(h, &(SolveNames){call_name, "x", "y"}, &w, p);
}

EXPORT Status cusparseSpSM_bufferSize(const Handle *h, int opa, int opb, const void *alpha,
                                      const Sparse *a, const Dense *b, const Dense *c, int compute,
                                      int alg, const Plan *p, size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseSpSM_analysis(const Handle *h, int opa, int opb, const void *alpha,
                                    const Sparse *a, const Dense *b, const Dense *c, int compute,
                                    int alg, Plan *p, void *buffer) {
  return analyse(h, __func__, p, buffer);
}
EXPORT Status cusparseSpSM_solve(const Handle *h, int opa, int opb, const void *alpha,
                                 const Sparse *a, const Dense *b, Dense *c, int compute, int alg,
                                 const Plan *p) {
  BEGIN(h);
  REQUIRE(IS(a, SPARSE) && IS(b, DENSE) && IS(c, DENSE) && IS(p, PLAN),
          "a descriptor is none, or was destroyed");
  REQUIRE(p->buffer, "cusparseSpSM_analysis was not called, or had no buffer");
  SolveWork w = {*a, *b, *c, opa, opb, scalar_take(h, alpha, (DataType)compute), (DataType)compute};
  return solve(h, &(SolveNames){call_name, "B", "C"}, &w, p);
}
