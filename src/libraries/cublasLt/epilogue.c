// The epilogue that cublasLtMatmul applies to its sums before it stores them: scales, bias,
// activations and their gradients.
#include <math.h>

#include "libraries/cublasLt/internal.h"

// --- reading a descriptor ---

Epilogue epilogue_of(const Attributes *d, DataType type_of_d, bool row_major) {
  Epilogue e = {.flags = (unsigned)d->value[DESC_EPILOGUE], .row_major = row_major};
  bool eight = type_of_d == R_8F_E4M3 || type_of_d == R_8F_E5M2;
  int bias_type = (int)(uint32_t)d->value[DESC_BIAS_TYPE],
      aux_type = (int)(uint32_t)d->value[DESC_AUX_TYPE];
  e.bias_type = bias_type >= 0 ? (DataType)bias_type : eight ? R_16BF : type_of_d;
  e.aux_type = aux_type >= 0 ? (DataType)aux_type : type_of_d;
  if (e.flags & (BIAS | BIAS_GRADIENT | BIAS_GRADIENT_A | BIAS_GRADIENT_B))
    e.bias = attribute_pointer(d, DESC_BIAS);
  e.bias_stride = (int64_t)d->value[DESC_BIAS_STRIDE];
  if (e.flags & AUX) e.aux = attribute_pointer(d, DESC_AUX);
  e.aux_ld = (int64_t)d->value[DESC_AUX_LD];
  e.aux_stride = (int64_t)d->value[DESC_AUX_STRIDE];
  e.scale_a = attribute_pointer(d, DESC_A_SCALE);
  e.scale_b = attribute_pointer(d, DESC_B_SCALE);
  e.scale_c = attribute_pointer(d, DESC_C_SCALE);
  e.scale_d = attribute_pointer(d, DESC_D_SCALE);
  e.amax_d = attribute_pointer(d, DESC_AMAX_D);
  if (e.flags & AUX) e.scale_aux = attribute_pointer(d, DESC_AUX_SCALE);
  if (e.flags & AUX) e.amax_aux = attribute_pointer(d, DESC_AUX_AMAX);
  enum { EACH_ROW = 3 };
  e.vector_a = e.scale_a && d->value[DESC_A_SCALE_MODE] == EACH_ROW;
  e.vector_b = e.scale_b && d->value[DESC_B_SCALE_MODE] == EACH_ROW;
  return e;
}

bool epilogue_is_empty(const Epilogue *e) {
  return e->flags == EPILOGUE_NONE && !e->scale_a && !e->scale_b && !e->scale_c && !e->scale_d &&
         !e->amax_d;
}

const char *epilogue_beyond(const Epilogue *e, const GemmWork *g, const Attributes *d) {
  static const unsigned served[] = {EPILOGUE_NONE,
                                    RELU,
                                    RELU | AUX,
                                    RELU | BIAS,
                                    RELU | AUX | BIAS,
                                    BIAS,
                                    RELU_GRADIENT | AUX,
                                    RELU_GRADIENT | AUX | BIAS_GRADIENT,
                                    GELU,
                                    GELU | AUX,
                                    GELU | BIAS,
                                    GELU | AUX | BIAS,
                                    GELU_GRADIENT | AUX,
                                    GELU_GRADIENT | AUX | BIAS_GRADIENT,
                                    BIAS_GRADIENT_A,
                                    BIAS_GRADIENT_B};
  bool known = false;
  for (size_t i = 0; i < sizeof served / sizeof *served; i++) known |= e->flags == served[i];
  if (!known) return "this epilogue is not served";
  if (d->value[DESC_POINTER_MODE] > 1) return "vectors of alpha are not served";
  for (int i = DESC_A_SCALE_MODE; i <= DESC_D_OUT_SCALE_MODE; i++) {
    bool of_rows = (i == DESC_A_SCALE_MODE && e->vector_a) ||
                   (i == DESC_B_SCALE_MODE && e->vector_b);
    if (d->value[i] && !of_rows) return "scales of blocks are not served";
  }
  if (number_is_complex(g->c.type) && !epilogue_is_empty(e))
    return "epilogues of complex numbers are not served";
  if (e->row_major && e->flags & ~(EPILOGUE_NONE | RELU | BIAS | GELU))
    return "this epilogue is served in column-major order only";
  if (e->row_major && (e->vector_a || e->vector_b))
    return "scales of rows are served in column-major order only";
  return NULL;
}

const char *epilogue_wrong(const Epilogue *e, const GemmWork *g) {
  bool mask = e->flags & (RELU | RELU_GRADIENT);
  bool of_bias = e->flags & (BIAS | BIAS_GRADIENT | BIAS_GRADIENT_A | BIAS_GRADIENT_B);
  if (of_bias && !e->bias) return "the epilogue has a bias, and no pointer to it";
  if (!(e->flags & AUX)) return NULL;
  if (!e->aux) return "the epilogue has an auxiliary matrix, and no pointer to it";
  if (e->aux_ld < g->m) return "the leading dimension of the auxiliary matrix is below D's rows";
  if (mask && e->aux_ld % 128)
    return "the leading dimension of ReLU's bit mask is no multiple of 128";
  return NULL;
}

// --- operands ---

static int64_t rows_of_d(const Epilogue *e, const GemmWork *g) {
  return e->row_major ? g->n : g->m;
}

static void add(LibraryCall *c, const Operand *o, unsigned access) {
  Operand changed = *o;
  changed.access = access;
  if (o->address) call_operand(c, &changed);
}

static Operand vector_of(const char *name, const void *p, DataType t, int64_t n) {
  Element e = {number_bytes(t), number_format(t)};
  return operand_of_vector(name, p, e, (uint64_t)n, 1);
}

static void bias_operand(LibraryCall *c, const Epilogue *e, const GemmWork *g) {
  int64_t n = e->flags & BIAS_GRADIENT_B ? g->n : rows_of_d(e, g);
  Operand o = vector_of(e->flags & BIAS ? "bias" : "bias gradient", e->bias, e->bias_type, n);
  o.batch = e->bias_stride ? (uint64_t)g->batch : 1;
  o.slice = (uint64_t)e->bias_stride * o.element;
  add(c, &o, e->flags & BIAS ? OPERAND_READ : OPERAND_WRITE);
}

static void aux_operand(LibraryCall *c, const Epilogue *e, const GemmWork *g) {
  bool mask = e->flags & (RELU | RELU_GRADIENT);
  Element of_bits = {1, OPERAND_OTHER},
          of_numbers = {number_bytes(e->aux_type), number_format(e->aux_type)};
  int64_t part = mask ? 8 : 1;  // elements of a byte
  Operand o = operand_of_matrix("auxiliary matrix", e->aux, mask ? of_bits : of_numbers,
                                (uint64_t)((g->m + part - 1) / part), (uint64_t)g->n,
                                (uint64_t)(e->aux_ld / part));
  o.batch = (uint64_t)(e->aux_stride ? g->batch : 1);
  o.slice = (uint64_t)(e->aux_stride / part) * o.element;
  add(c, &o, e->flags & (RELU | GELU) ? OPERAND_WRITE : OPERAND_READ);
}

void epilogue_operands(LibraryCall *c, const Epilogue *e, const GemmWork *g) {
  if (e->bias) bias_operand(c, e, g);
  if (e->aux) aux_operand(c, e, g);
  const struct {
    const char *name;
    const float *p;
    int64_t n;
    unsigned access;
  } numbers[] = {{"A's scale", e->scale_a, e->vector_a ? g->m : 1, OPERAND_READ},
                 {"B's scale", e->scale_b, e->vector_b ? g->n : 1, OPERAND_READ},
                 {"C's scale", e->scale_c, 1, OPERAND_READ},
                 {"D's scale", e->scale_d, 1, OPERAND_READ},
                 {"the auxiliary matrix's scale", e->scale_aux, 1, OPERAND_READ},
                 {"D's largest magnitude", e->amax_d, 1, OPERAND_WRITE},
                 {"the auxiliary matrix's largest magnitude", e->amax_aux, 1, OPERAND_WRITE}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    Operand o = vector_of(numbers[i].name, numbers[i].p, R_32F, numbers[i].n);
    add(c, &o, numbers[i].access);
  }
}

// --- elements ---

static const double gelu_factor = 0.7978845608028654, gelu_cube = 0.044715;

static double gelu(double x) {
  return 0.5 * x * (1 + tanh(gelu_factor * (x + gelu_cube * x * x * x)));
}
static double gelu_slope(double x) {
  double t = tanh(gelu_factor * (x + gelu_cube * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_factor * (1 + 3 * gelu_cube * x * x);
}

static double number_at(const void *p, DataType t, int64_t i) {
  double x = 0;
  numbers_widen(&x, (const char *)p + i * (int64_t)number_bytes(t), t, 1);
  return x;
}
static void put_number(void *p, DataType t, int64_t i, double x) {
  numbers_narrow((char *)p + i * (int64_t)number_bytes(t), t, &x, 1);
}

static bool bit_at(const void *p, int64_t i) {
  return ((const unsigned char *)p)[i / 8] >> (i % 8) & 1;
}
static void put_bit(void *p, int64_t i, bool on) {
  unsigned char *byte = (unsigned char *)p + i / 8, bit = (unsigned char)(1u << (i % 8));
  *byte = (unsigned char)(on ? *byte | bit : *byte & ~bit);
}

typedef struct Largest {
  double d, aux;
} Largest;

// x: an element of D; at: its place in the auxiliary matrix
static double activate(const Epilogue *e, double x, int64_t at, Largest *most) {
  if (e->flags & RELU) {
    if (e->aux) put_bit(e->aux, at, x > 0);
    return x > 0 || isnan(x) ? x : 0;
  }
  if (e->flags & RELU_GRADIENT) return bit_at(e->aux, at) ? x : 0;
  if (e->flags & GELU_GRADIENT) return x * gelu_slope(number_at(e->aux, e->aux_type, at));
  if (!(e->flags & GELU)) return x;
  if (e->aux) {
    most->aux = fmax(most->aux, fabs(x));
    put_number(e->aux, e->aux_type, at, x * (e->scale_aux ? *e->scale_aux : 1));
  }
  return gelu(x);
}

static void finish_column(const Epilogue *e, const GemmWork *g, double *column, int64_t batch,
                          int64_t j, Largest *most) {
  for (int64_t i = 0; i < g->m; i++) {
    int64_t row = e->row_major ? j : i;
    double x = column[i];
    if (e->flags & BIAS) x += number_at(e->bias, e->bias_type, batch * e->bias_stride + row);
    x = activate(e, x, batch * e->aux_stride + j * e->aux_ld + i, most);
    most->d = fmax(most->d, fabs(x));
    column[i] = x;
  }
}

// --- gradients of a bias: sums over the rows of D, of op(A), and over the columns of op(B) ---

static void put_row_sums(const Epilogue *e, const GemmWork *g, const double *sums, int64_t batch) {
  for (int64_t i = 0; i < g->m; i++) {
    double sum = 0;
    for (int64_t j = 0; j < g->n; j++) sum += sums[i + j * g->m];
    put_number(e->bias, e->bias_type, batch * e->bias_stride + i, sum);
  }
}

static void put_input_sums(const Epilogue *e, const GemmWork *g, int64_t batch) {
  bool of_a = e->flags & BIAS_GRADIENT_A;
  const GemmMatrix *x = of_a ? &g->a : &g->b;
  // along a row of memory, or down a column
  bool down = of_a ? g->transa != 'N' : g->transb == 'N';
  for (int64_t i = 0; i < (of_a ? g->m : g->n); i++) {
    double sum = 0;
    for (int64_t l = 0; l < g->k; l++)
      sum += number_at(x->p, x->type, batch * x->stride + (down ? l + i * x->ld : i + l * x->ld));
    put_number(e->bias, e->bias_type, batch * e->bias_stride + i, sum);
  }
}

void epilogue_apply(const Epilogue *e, const GemmWork *g, double *sums, int64_t batch) {
  Largest most = {0};
  for (int64_t j = 0; sums && j < g->n; j++) finish_column(e, g, sums + j * g->m, batch, j, &most);
  if (sums && e->flags & BIAS_GRADIENT) put_row_sums(e, g, sums, batch);
  if (e->flags & (BIAS_GRADIENT_A | BIAS_GRADIENT_B)) put_input_sums(e, g, batch);
  for (int64_t i = 0; sums && e->scale_d && i < g->m * g->n; i++) sums[i] *= *e->scale_d;
  if (e->amax_d) *e->amax_d = (float)(batch ? fmax(most.d, *e->amax_d) : most.d);
  if (e->amax_aux) *e->amax_aux = (float)(batch ? fmax(most.aux, *e->amax_aux) : most.aux);
}
