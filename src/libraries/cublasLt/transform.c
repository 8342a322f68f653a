// cublasLtMatrixTransform: C = alpha op(A) + beta op(B), between types and orders.
#include "libraries/cublasLt/internal.h"

static const char name[] = "cublasLtMatrixTransform";

typedef struct Side {
  const void *p;  // NULL: no matrix
  DataType type;
  bool row_major;
  char operation;
  int64_t rows, columns, ld, stride;
} Side;
typedef struct Transform {
  Side a, b, c;
  int64_t batch;
  DataType scale;
  Scalar alpha, beta;
} Transform;

static Side side_of(const void *p, const Attributes *l, char operation) {
  if (!l) return (Side){0};
  return (Side){p,
                (DataType)l->value[LAYOUT_TYPE],
                l->value[LAYOUT_ORDER] == ORDER_ROW,
                operation,
                (int64_t)l->value[LAYOUT_ROWS],
                (int64_t)l->value[LAYOUT_COLS],
                (int64_t)l->value[LAYOUT_LD],
                (int64_t)l->value[LAYOUT_STRIDE]};
}

static char *element(const Side *s, int64_t batch, int64_t i, int64_t j) {
  int64_t at = batch * s->stride + (s->row_major ? j + i * s->ld : i + j * s->ld);
  return (char *)s->p + at * (int64_t)number_bytes(s->type);
}

// Adds factor op(S)(i, j) to sum; all three are pairs.
static void add_element(const Side *s, int64_t batch, const int64_t at[2], const double *factor,
                        double *sum) {
  double x[2] = {0};
  bool plain = s->operation == 'N';
  numbers_widen(x, element(s, batch, at[plain ? 0 : 1], at[plain ? 1 : 0]), s->type, 1);
  if (s->operation == 'C') x[1] = -x[1];
  sum[0] += factor[0] * x[0] - factor[1] * x[1];
  sum[1] += factor[0] * x[1] + factor[1] * x[0];
}

static void run(void *arguments) {
  const Transform *t = arguments;
  double alpha[2] = {0}, beta[2] = {0};
  numbers_widen(alpha, scalar(&t->alpha), t->scale, 1);
  if (t->b.p) numbers_widen(beta, scalar(&t->beta), t->scale, 1);
  bool with_b = t->b.p && (beta[0] != 0 || beta[1] != 0);
  for (int64_t n = 0; n < t->batch; n++)
    for (int64_t j = 0; j < t->c.columns; j++)
      for (int64_t i = 0; i < t->c.rows; i++) {
        double sum[2] = {0};
        const int64_t at[2] = {i, j};
        add_element(&t->a, n, at, alpha, sum);
        if (with_b) add_element(&t->b, n, at, beta, sum);
        numbers_narrow(element(&t->c, n, i, j), t->c.type, sum, 1);
      }
}

// Why the operand does not fit C; NULL: it does.
static const char *wrong(const Side *s, const Side *c) {
  int64_t rows = s->operation == 'N' ? s->rows : s->columns,
          columns = s->operation == 'N' ? s->columns : s->rows;
  if (rows != c->rows || columns != c->columns) return "the shapes of the matrices differ";
  if (s->ld < (s->row_major ? s->columns : s->rows)) return "a leading dimension is too small";
  return NULL;
}

static void add_operand(LibraryCall *call, const char *of, const Side *s, int64_t batch,
                        unsigned access) {
  Element e = {number_bytes(s->type), number_format(s->type)};
  uint64_t rows = (uint64_t)(s->row_major ? s->columns : s->rows),
           columns = (uint64_t)(s->row_major ? s->rows : s->columns);
  Operand o = operand_of_matrix(of, s->p, e, rows, columns, (uint64_t)s->ld);
  o.batch = s->stride ? (uint64_t)batch : 1;
  o.slice = (uint64_t)s->stride * o.element;
  o.access = access;
  call_operand(call, &o);
}

static Status submit(const Transform *t, const void *stream) {
  LibraryCall call = {
      .name = name, .stream = stream, .run = run, .arguments = t, .argument_bytes = sizeof *t};
  Element scale = {number_bytes(t->scale), number_format(t->scale)};
  call_scalar(&call, "alpha", &t->alpha, scale);
  if (t->b.p) call_scalar(&call, "beta", &t->beta, scale);
  add_operand(&call, "A", &t->a, t->batch, OPERAND_READ);
  if (t->b.p && !scalar_is_zero(&t->beta, number_bytes(t->scale)))
    add_operand(&call, "B", &t->b, t->batch, OPERAND_READ);
  add_operand(&call, "C", &t->c, t->batch, OPERAND_WRITE);
  return warpgrind_library_services.submit(&call) ? EXECUTION_FAILED : SUCCESS;
}

EXPORT Status cublasLtMatrixTransform(void *handle, const void *description, const void *alpha,
                                      const void *pa, const void *layout_a, const void *beta,
                                      const void *pb, const void *layout_b, void *pc,
                                      const void *layout_c, const void *stream) {
  if (!handle) return NOT_INITIALIZED;
  const Attributes *d = attributes_of(description), *a = attributes_of(layout_a),
                   *b = attributes_of(layout_b), *c = attributes_of(layout_c);
  if (!d || !a || !c || !alpha || !pa || !pc) return lt_refuse(name, "an argument is null");
  const Attributes *layouts[] = {a, b, c};
  for (int i = 0; i < 3; i++)
    if (layouts[i] && layouts[i]->value[LAYOUT_ORDER] > ORDER_ROW)
      return lt_unsupported(name, "only column-major and row-major order are served");
  Transform t = {.a = side_of(pa, a, lt_operation(d->value[TRANSFORM_TRANSA])),
                 .b = side_of(beta ? pb : NULL, b, lt_operation(d->value[TRANSFORM_TRANSB])),
                 .c = side_of(pc, c, 'N'),
                 .batch = (int64_t)c->value[LAYOUT_BATCH],
                 .scale = (DataType)d->value[TRANSFORM_SCALE]};
  if (!number_bytes(t.a.type) || !number_bytes(t.c.type) || !number_bytes(t.scale) ||
      (t.b.p && !number_bytes(t.b.type)))
    return lt_unsupported(name, "a type of these is not served");
  const char *why = wrong(&t.a, &t.c);
  if (!why && t.b.p) why = wrong(&t.b, &t.c);
  if (!why) why = wrong(&t.c, &t.c);
  if (why) return lt_refuse(name, why);
  if (warpgrind_library_services.enter()) return EXECUTION_FAILED;
  if (d->value[TRANSFORM_POINTER_MODE] == 1) {
    t.alpha.device = alpha;
    t.beta.device = beta;
  } else {
    memcpy(t.alpha.bytes, alpha, number_bytes(t.scale));
    if (t.b.p) memcpy(t.beta.bytes, beta, number_bytes(t.scale));
  }
  return submit(&t, stream);
}
