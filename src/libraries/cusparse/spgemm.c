// Products of two sparse matrices: SpGEMM, and SpGEMMreuse, which keeps the structure of the
// result. A step that finds out how many elements the result has waits for the stream: the program
// asks for that number on the host.
#include "cuda/abi.h"
#include "libraries/cusparse/entries.h"

typedef struct GemmWork {
  Sparse a, b, c;
  int opa, opb;
  Scalar alpha;
  DataType compute;
  Plan *plan;
  Sparse *result;  // gets its number of elements
} GemmWork;

static int by_column(const void *a, const void *b) {
  int64_t x = ((const Entry *)a)->column, y = ((const Entry *)b)->column;
  return (x > y) - (x < y);
}

typedef struct Accumulator {
  Entries *out;
  int64_t room;
  int64_t *place;  // of each column: 1 + its entry of the current row, or less
} Accumulator;

static bool make_room(Accumulator *s) {
  if (s->out->n < s->room) return true;
  int64_t room = 2 * s->room + 64;
  Entry *list = realloc(s->out->list, (size_t)room * sizeof *list);
  if (!list) return false;
  s->out->list = list;
  s->room = room;
  return true;
}

// Row by row (Gustavson): each row of the result is a sum of rows of B.
static bool multiply(const Entries *a, const Entries *b, Entries *out) {
  Accumulator s = {.out = out};
  int64_t *rows_a = entries_rows(a), *rows_b = entries_rows(b);
  *out = (Entries){.rows = a->rows, .columns = b->columns};
  s.place = calloc((size_t)b->columns + 1, sizeof *s.place);
  bool ok = rows_a && rows_b && s.place;
  for (int64_t i = 0; ok && i < a->rows; i++) {
    int64_t first = out->n;
    for (int64_t k = rows_a[i]; ok && k < rows_a[i + 1]; k++)
      for (int64_t l = rows_b[a->list[k].column]; ok && l < rows_b[a->list[k].column + 1]; l++) {
        const Entry *y = &b->list[l];
        Number part = times(a->list[k].value, y->value);
        if (s.place[y->column] > first) {
          Number *sum = &out->list[s.place[y->column] - 1].value;
          *sum = plus(*sum, part);
          continue;
        }
        ok = make_room(&s);
        if (!ok) break;
        out->list[out->n++] = (Entry){.row = i, .column = y->column, .value = part};
        s.place[y->column] = out->n;
      }
    if (out->list) qsort(out->list + first, (size_t)(out->n - first), sizeof(Entry), by_column);
  }
  free(rows_a);
  free(rows_b);
  free(s.place);
  return ok;
}

static bool product_of(const GemmWork *w, bool with_values, Entries *out) {
  Entries a = {0}, b = {0};
  bool ok = entries_load(&w->a, 0, with_values, &a) && entries_load(&w->b, 0, with_values, &b);
  if (ok) {
    entries_transpose(&a, w->opa);
    entries_transpose(&b, w->opb);
    ok = entries_sort(&a) && entries_sort(&b) && multiply(&a, &b, out);
  }
  entries_free(&a);
  entries_free(&b);
  return ok;
}

static void forget(Plan *p) {
  if (!p->result) return;
  entries_free(p->result);
  free(p->result);
  p->result = NULL;
}

static void keep(const GemmWork *w, Entries *e) {
  forget(w->plan);
  w->plan->result = malloc(sizeof *e);
  if (!w->plan->result) {
    entries_free(e);
    return;
  }
  *w->plan->result = *e;
  w->result->count = e->n;
}

static void run_compute(void *p) {
  const GemmWork *w = p;
  Entries e = {0};
  if (!product_of(w, true, &e)) return;
  Number alpha = scalar_number(&w->alpha, w->compute);
  for (int64_t i = 0; i < e.n; i++) e.list[i].value = times(alpha, e.list[i].value);
  keep(w, &e);
}

static void run_structure(void *p) {
  const GemmWork *w = p;
  Entries e = {0};
  if (product_of(w, false, &e)) keep(w, &e);
}

// --- storing the result, which is in the CSR format ---

static void store_structure(const Sparse *c, const Entries *e) {
  int64_t *rows = entries_rows(e);
  for (int64_t i = 0; rows && i <= e->rows; i++)
    index_store(c->offsets, c->offset_type, i, rows[i] + c->base);
  for (int64_t i = 0; i < e->n; i++)
    index_store(c->indices, c->index_type, i, e->list[i].column + c->base);
  free(rows);
}

static void run_copy(void *p) {
  const GemmWork *w = p;
  const Entries *e = w->plan->result;
  if (!e) return;
  store_structure(&w->c, e);
  for (int64_t i = 0; i < e->n; i++) number_store(w->c.values, w->c.type, i, e->list[i].value);
}

static void run_copy_structure(void *p) {
  const GemmWork *w = p;
  if (w->plan->result) store_structure(&w->c, w->plan->result);
}

static void run_values(void *p) {
  const GemmWork *w = p;
  Number alpha = scalar_number(&w->alpha, w->compute);
  Entries e = {0};
  if (product_of(w, true, &e) && e.n <= w->c.count)
    for (int64_t i = 0; i < e.n; i++)
      number_store(w->c.values, w->c.type, i, times(alpha, e.list[i].value));
  entries_free(&e);
}

// --- calls ---

typedef struct Step {
  const char *call;
  void (*run)(void *);
  unsigned values_read, structure, values;  // access to the values of A and B, and to C
  bool waits;
  void *buffer;
} Step;

static Status step(const Handle *h, const Step *s, GemmWork *w) {
  const char *call_name = s->call;
  REQUIRE(w->a.format == CSR && w->b.format == CSR && w->c.format == CSR,
          "a matrix is not in the CSR format");
  int64_t rows = w->opa == OP_NONE ? w->a.rows : w->a.columns,
          inner = w->opa == OP_NONE ? w->a.columns : w->a.rows,
          inner_b = w->opb == OP_NONE ? w->b.rows : w->b.columns,
          columns = w->opb == OP_NONE ? w->b.columns : w->b.rows;
  REQUIRE(rows == w->c.rows && columns == w->c.columns && inner == inner_b,
          "the sizes of the operands do not go together");
  LibraryCall c = {.name = call_name,
                   .run = s->run,
                   .arguments = w,
                   .argument_bytes = sizeof *w,
                   .waits = s->waits};
  if (!s->structure) {
    add_sparse(&c, names_of_a, &w->a, s->values_read);
    add_sparse(&c, names_of_b, &w->b, s->values_read);
  } else {
    add_indices(&c, names_of_c[0], w->c.offsets, w->c.offset_type, w->c.rows + 1, s->structure);
    add_indices(&c, names_of_c[1], w->c.indices, w->c.index_type, w->c.count, s->structure);
  }
  if (s->values)
    add_elements(&c, names_of_c[2], w->c.values, element_of(w->c.type), w->c.count, s->values);
  add_buffer(&c, s->buffer);
  return submit_call(h, &c);
}

EXPORT Status cusparseSpGEMM_createDescr(Plan **out) {
  return object_create(out, sizeof **out, MAGIC_PLAN);
}
EXPORT Status cusparseSpGEMM_destroyDescr(Plan *p) {
  if (!IS(p, PLAN)) return INVALID_VALUE;
  cuCtxSynchronize();
  forget(p);
  return object_destroy(p, MAGIC_PLAN);
}

// A first call without a buffer asks for its size only.
#define ASKS_FOR_SIZE(bytes, buffer) \
  do { \
    if (!(buffer)) return buffer_size(h, bytes); \
  } while (0)
#define DESCRIPTORS() \
  REQUIRE(IS(a, SPARSE) && IS(b, SPARSE) && IS(c, SPARSE) && IS(p, PLAN), \
          "a descriptor is none, or was destroyed")
#define NUMBERS .alpha = scalar_take(h, alpha, (DataType)compute), .compute = (DataType)compute
#define OPERANDS .a = *a, .b = *b, .c = *c, .opa = opa, .opb = opb, .plan = p, .result = c

EXPORT Status cusparseSpGEMM_workEstimation(const Handle *h, int opa, int opb, const void *alpha,
                                            const Sparse *a, const Sparse *b, const void *beta,
                                            Sparse *c, int compute, int alg, Plan *p, size_t *bytes,
                                            void *buffer) {
  return buffer ? handle_check(h) : buffer_size(h, bytes);
}
EXPORT Status cusparseSpGEMM_compute(const Handle *h, int opa, int opb, const void *alpha,
                                     const Sparse *a, const Sparse *b, const void *beta, Sparse *c,
                                     int compute, int alg, Plan *p, size_t *bytes, void *buffer) {
  ASKS_FOR_SIZE(bytes, buffer);
  BEGIN(h);
  DESCRIPTORS();
  GemmWork w = {OPERANDS, NUMBERS};
  return step(h, &(Step){call_name, run_compute, OPERAND_READ, .waits = true, .buffer = buffer},
              &w);
}
EXPORT Status cusparseSpGEMM_copy(const Handle *h, int opa, int opb, const void *alpha,
                                  const Sparse *a, const Sparse *b, const void *beta, Sparse *c,
                                  int compute, int alg, Plan *p) {
  BEGIN(h);
  DESCRIPTORS();
  REQUIRE(p->result, "cusparseSpGEMM_compute was not called");
  GemmWork w = {OPERANDS, NUMBERS};
  Scalar factor = scalar_take(h, beta, (DataType)compute);
  REQUIRE(scalar_is_zero(&factor, number_bytes((DataType)compute)),
          "beta other than 0 is not served");
  return step(h, &(Step){call_name, run_copy, .structure = OPERAND_WRITE, .values = OPERAND_WRITE},
              &w);
}

// --- SpGEMMreuse ---

EXPORT Status cusparseSpGEMMreuse_workEstimation(const Handle *h, int opa, int opb, const Sparse *a,
                                                 const Sparse *b, Sparse *c, int alg, Plan *p,
                                                 size_t *bytes, void *buffer) {
  return buffer ? handle_check(h) : buffer_size(h, bytes);
}
EXPORT Status cusparseSpGEMMreuse_nnz(const Handle *h, int opa, int opb, const Sparse *a,
                                      const Sparse *b, Sparse *c, int alg, Plan *p, size_t *bytes2,
                                      void *buffer2, size_t *bytes3, void *buffer3, size_t *bytes4,
                                      void *buffer4) {
  if (!buffer2 && !buffer3 && !buffer4) {
    Status s = buffer_size(h, bytes2);
    if (!s) s = buffer_size(h, bytes3);
    return s ? s : buffer_size(h, bytes4);
  }
  BEGIN(h);
  DESCRIPTORS();
  GemmWork w = {OPERANDS};
  return step(h, &(Step){call_name, run_structure, .waits = true, .buffer = buffer2}, &w);
}
EXPORT Status cusparseSpGEMMreuse_copy(const Handle *h, int opa, int opb, const Sparse *a,
                                       const Sparse *b, Sparse *c, int alg, Plan *p, size_t *bytes,
                                       void *buffer) {
  ASKS_FOR_SIZE(bytes, buffer);
  BEGIN(h);
  DESCRIPTORS();
  REQUIRE(p->result, "cusparseSpGEMMreuse_nnz was not called");
  GemmWork w = {OPERANDS};
  return step(
      h, &(Step){call_name, run_copy_structure, .structure = OPERAND_WRITE, .buffer = buffer}, &w);
}
EXPORT Status cusparseSpGEMMreuse_compute(const Handle *h, int opa, int opb, const void *alpha,
                                          const Sparse *a, const Sparse *b, const void *beta,
                                          Sparse *c, int compute, int alg, Plan *p) {
  BEGIN(h);
  DESCRIPTORS();
  GemmWork w = {OPERANDS, NUMBERS};
  Scalar factor = scalar_take(h, beta, (DataType)compute);
  REQUIRE(scalar_is_zero(&factor, number_bytes((DataType)compute)),
          "beta other than 0 is not served");
  return step(h, &(Step){call_name, run_values, OPERAND_READ, .values = OPERAND_WRITE}, &w);
}
