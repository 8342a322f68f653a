// Sparse vectors: Axpby, Gather, Scatter, Rot, SpVV.
#include <stdio.h>

#include "libraries/cusparse/entries.h"

typedef struct VectorWork {
  SparseVector x;
  Dense y;
  Scalar a, b;
  DataType compute;
  bool conjugates;
  void *result;
} VectorWork;

// The place of the k-th stored element in the dense vector; -1: it has none, which is reported.
static int64_t place(const SparseVector *x, int64_t k) {
  int64_t i = index_load(x->indices, x->index_type, k) - x->base;
  if (i >= 0 && i < x->size) return i;
  char text[160];
  snprintf(text, sizeof text, "index %lld of x, at position %lld, is not from %d to %lld",
           (long long)(i + x->base), (long long)k, x->base, (long long)(x->size - 1 + x->base));
  warpgrind_library_services.wrong_data(text);
  return -1;
}

static Number load(const void *p, DataType t, int64_t at) {
  Number x = {0, 0};
  numbers_load(&x, (const char *)p + (size_t)at * number_bytes(t), t, 1);
  return x;
}

// y = a x + b y
static void run_axpby(void *p) {
  const VectorWork *w = p;
  Number a = scalar_number(&w->a, w->compute), b = scalar_number(&w->b, w->compute);
  bool one = b.re == 1 && b.im == 0;
  for (int64_t i = 0; !one && i < w->y.rows; i++)
    number_store(w->y.values, w->y.type, i,
                 is_zero(b) ? b : times(b, load(w->y.values, w->y.type, i)));
  for (int64_t k = 0; k < w->x.count; k++) {
    int64_t i = place(&w->x, k);
    if (i < 0) continue;
    Number part = times(a, load(w->x.values, w->x.type, k));
    number_store(w->y.values, w->y.type, i, plus(load(w->y.values, w->y.type, i), part));
  }
}

static void run_gather(void *p) {
  const VectorWork *w = p;
  for (int64_t k = 0; k < w->x.count; k++) {
    int64_t i = place(&w->x, k);
    if (i >= 0) number_store(w->x.values, w->x.type, k, load(w->y.values, w->y.type, i));
  }
}

static void run_scatter(void *p) {
  const VectorWork *w = p;
  for (int64_t k = 0; k < w->x.count; k++) {
    int64_t i = place(&w->x, k);
    if (i >= 0) number_store(w->y.values, w->y.type, i, load(w->x.values, w->x.type, k));
  }
}

// The rotation (a b; -conj(b) a) of the pairs (x, y)
static void run_rot(void *p) {
  const VectorWork *w = p;
  Number c = scalar_number(&w->a, w->compute), s = scalar_number(&w->b, w->compute);
  for (int64_t k = 0; k < w->x.count; k++) {
    int64_t i = place(&w->x, k);
    if (i < 0) continue;
    Number x = load(w->x.values, w->x.type, k), y = load(w->y.values, w->y.type, i);
    number_store(w->x.values, w->x.type, k, plus(times(c, x), times(s, y)));
    number_store(w->y.values, w->y.type, i, minus(times(c, y), times(conjugate(s), x)));
  }
}

static void run_dot(void *p) {
  const VectorWork *w = p;
  Number sum = {0, 0};
  for (int64_t k = 0; k < w->x.count; k++) {
    int64_t i = place(&w->x, k);
    if (i < 0) continue;
    Number x = load(w->x.values, w->x.type, k);
    sum = plus(sum, times(w->conjugates ? conjugate(x) : x, load(w->y.values, w->y.type, i)));
  }
  number_store(w->result, w->compute, 0, sum);
}

static Status run(const Handle *h, LibraryCall *c, VectorWork *w, unsigned x, unsigned y) {
  add_vector(c, names_of_x, &w->x, x);
  add_dense(c, "y", &w->y, y);
  call_scalar(c, "alpha", &w->a, element_of(w->compute));
  call_scalar(c, "beta", &w->b, element_of(w->compute));
  c->arguments = w;
  c->argument_bytes = sizeof *w;
  return submit_call(h, c);
}

#define VECTORS() \
  REQUIRE(IS(x, VECTOR) && IS(y, DENSE), "a descriptor is none, or was destroyed"); \
  REQUIRE(x->size == y->rows, "the vectors have different sizes")
enum { BOTH = OPERAND_READ | OPERAND_WRITE };

EXPORT Status cusparseAxpby(const Handle *h, const void *alpha, const SparseVector *x,
                            const void *beta, const Dense *y) {
  BEGIN(h);
  VECTORS();
  VectorWork w = {.x = *x,
                  .y = *y,
                  .a = scalar_take(h, alpha, y->type),
                  .b = scalar_take(h, beta, y->type),
                  .compute = y->type};
  return run(h, &(LibraryCall){.name = call_name, .run = run_axpby}, &w, OPERAND_READ,
             result_access(&w.b, w.compute));
}
EXPORT Status cusparseGather(const Handle *h, const Dense *y, const SparseVector *x) {
  BEGIN(h);
  VECTORS();
  VectorWork w = {.x = *x, .y = *y};
  return run(h, &(LibraryCall){.name = call_name, .run = run_gather}, &w, OPERAND_WRITE,
             OPERAND_READ | OPERAND_PARTLY);
}
EXPORT Status cusparseScatter(const Handle *h, const SparseVector *x, const Dense *y) {
  BEGIN(h);
  VECTORS();
  VectorWork w = {.x = *x, .y = *y};
  return run(h, &(LibraryCall){.name = call_name, .run = run_scatter}, &w, OPERAND_READ,
             OPERAND_WRITE | OPERAND_PARTLY);
}
EXPORT Status cusparseRot(const Handle *h, const void *c, const void *s, const SparseVector *x,
                          const Dense *y) {
  BEGIN(h);
  VECTORS();
  VectorWork w = {.x = *x,
                  .y = *y,
                  .a = scalar_take(h, c, y->type),
                  .b = scalar_take(h, s, y->type),
                  .compute = y->type};
  return run(h, &(LibraryCall){.name = call_name, .run = run_rot}, &w, BOTH, BOTH | OPERAND_PARTLY);
}
EXPORT Status cusparseSpVV_bufferSize(const Handle *h, int op, const SparseVector *x,
                                      const Dense *y, const void *result, int compute,
                                      size_t *bytes) {
  return buffer_size(h, bytes);
}
EXPORT Status cusparseSpVV(const Handle *h, int op, const SparseVector *x, const Dense *y,
                           void *result, int compute, void *buffer) {
  BEGIN(h);
  VECTORS();
  REQUIRE(result && number_bytes((DataType)compute), "the result is null, or its type not known");
  VectorWork w = {.x = *x,
                  .y = *y,
                  .compute = (DataType)compute,
                  .conjugates = op == OP_CONJUGATE,
                  .result = result};
  LibraryCall c = {.name = call_name, .run = run_dot, .waits = !h->device_pointers};
  if (h->device_pointers)
    add_elements(&c, "result", result, element_of(w.compute), 1, OPERAND_WRITE);
  add_buffer(&c, buffer);
  return run(h, &c, &w, OPERAND_READ, OPERAND_READ | OPERAND_PARTLY);
}
