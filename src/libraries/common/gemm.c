// FP32 and FP64 are OpenBLAS's. The rest is widened first: 16-bit and 8-bit floating point
// multiply exactly in float and are added up in float, as the tensor cores' documented FP32
// accumulation; integers are added up in double, which holds their sums exactly.
#include "libraries/common/gemm.h"

#include "libraries/blas/blas.h"

static bool is_integer(const GemmWork *g) {
  return g->compute == COMPUTE_32I || g->compute == COMPUTE_32I_PEDANTIC;
}
static bool is_double(const GemmWork *g) {
  return g->compute == COMPUTE_64F || g->compute == COMPUTE_64F_PEDANTIC ||
         g->compute == COMPUTE_64F_EMULATED;
}
static bool is_half(const GemmWork *g) {
  return g->compute == COMPUTE_16F || g->compute == COMPUTE_16F_PEDANTIC;
}

bool gemm_scale_type(GemmWork *g) {
  bool complex = number_is_complex(g->c.type);
  unsigned sizes = number_bytes(g->a.type) && number_bytes(g->b.type) && number_bytes(g->c.type);
  bool has_double = g->a.type == R_64F || g->a.type == C_64F;
  if (!sizes || number_is_complex(g->a.type) != complex || number_is_complex(g->b.type) != complex)
    return false;
  if (is_double(g) != has_double || has_double != (g->c.type == R_64F || g->c.type == C_64F))
    return false;
  if (is_integer(g) && (g->a.type != R_8I || g->b.type != R_8I || g->c.type != R_32I)) return false;
  if (is_half(g) && (g->a.type != R_16F || g->c.type != R_16F)) return false;
  if (!is_integer(g) && g->c.type == R_32I) return false;
  g->scale = is_double(g)    ? complex ? C_64F : R_64F
             : is_integer(g) ? R_32I
             : is_half(g)    ? R_16F
             : complex       ? C_32F
                             : R_32F;
  return true;
}

static int64_t rows_a(const GemmWork *g) { return g->transa == 'N' ? g->m : g->k; }
static int64_t columns_a(const GemmWork *g) { return g->transa == 'N' ? g->k : g->m; }
static int64_t rows_b(const GemmWork *g) { return g->transb == 'N' ? g->k : g->n; }
static int64_t columns_b(const GemmWork *g) { return g->transb == 'N' ? g->n : g->k; }

const char *gemm_wrong(const GemmWork *g) {
  if (g->m < 0 || g->n < 0 || g->k < 0) return "m, n and k must not be negative";
  if (g->batch < 0) return "the number of matrices must not be negative";
  if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX) return "a dimension is above 2^31 - 1";
  if (g->a.ld < MAX_OF(1, rows_a(g))) return "lda is smaller than the number of rows of A";
  if (g->b.ld < MAX_OF(1, rows_b(g))) return "ldb is smaller than the number of rows of B";
  if (g->c.ld < MAX_OF(1, g->m)) return "ldc is smaller than the number of rows of C";
  if (g->d.ld < MAX_OF(1, g->m)) return "ldd is smaller than the number of rows of D";
  return NULL;
}

// --- operands ---

static Element element_of(DataType t) { return (Element){number_bytes(t), number_format(t)}; }

static Operand operand(const char *name, const GemmMatrix *x, int64_t rows, int64_t columns,
                       int64_t batch) {
  Operand o = operand_of_matrix(name, x->p, element_of(x->type), (uint64_t)rows, (uint64_t)columns,
                                (uint64_t)x->ld);
  o.batch = x->stride ? (uint64_t)batch : 1;
  o.slice = (uint64_t)x->stride * o.element;
  return o;
}

static bool reads_c(const GemmWork *g) { return !scalar_is_zero(&g->beta, number_bytes(g->scale)); }

static uint32_t matrices(const GemmWork *g, Operand *out) {
  uint32_t n = 0;
  bool same = g->c.p == g->d.p;
  if (g->k && !scalar_is_zero(&g->alpha, number_bytes(g->scale))) {
    out[n++] = operand(g->swapped ? "B" : "A", &g->a, rows_a(g), columns_a(g), g->batch);
    out[n++] = operand(g->swapped ? "A" : "B", &g->b, rows_b(g), columns_b(g), g->batch);
  }
  if (reads_c(g) && !same) out[n++] = operand("C", &g->c, g->m, g->n, g->batch);
  out[n] = operand(same ? "C" : "D", &g->d, g->m, g->n, g->batch);
  out[n].access = OPERAND_WRITE | (reads_c(g) && same ? OPERAND_READ : 0);
  if (g->beta.device) out[n].access |= OPERAND_PARTLY;
  return n + 1;
}

static void pointer_operand(LibraryCall *c, const char *name, const void *p, int64_t batch) {
  Operand o = operand_of_vector(name, p, (Element){sizeof(void *), OPERAND_OTHER}, (uint64_t)batch,
                                1);
  call_operand(c, &o);
}

void gemm_operands(LibraryCall *c, const GemmWork *g) {
  Operand list[4];
  call_scalar(c, "alpha", &g->alpha, element_of(g->scale));
  call_scalar(c, "beta", &g->beta, element_of(g->scale));
  if (!g->m || !g->n || !g->batch) return;
  if (g->pointers) {
    pointer_operand(c, "Aarray", g->a.p, g->batch);
    pointer_operand(c, "Barray", g->b.p, g->batch);
    pointer_operand(c, "Carray", g->d.p, g->batch);
    return;
  }
  uint32_t n = matrices(g, list);
  for (uint32_t i = 0; i < n; i++)
    if (!operand_is_empty(&list[i])) call_operand(c, &list[i]);
}

// --- one product by OpenBLAS ---

typedef struct Product {
  DataType type;
  const void *alpha, *beta, *a, *b;
  void *c;
  int lda, ldb, ldc;
} Product;

static void multiply(const GemmWork *g, const Product *p) {
  int m = (int)g->m, n = (int)g->n, k = (int)g->k;
  DataType t = p->type;
  const BlasTable *table = blas();
  if (!table) return;
  BlasRoutine *f = t == R_32F   ? table->sgemm
                   : t == R_64F ? table->dgemm
                   : t == C_32F ? table->cgemm
                                : table->zgemm;
  f(&g->transa, &g->transb, &m, &n, &k, p->alpha, p->a, &p->lda, p->b, &p->ldb, p->beta, p->c,
    &p->ldc);
}

static bool is_native(const GemmWork *g) {
  DataType t = g->a.type;
  bool plain = t == R_32F || t == R_64F || t == C_32F || t == C_64F;
  return plain && g->b.type == t && g->c.type == t && g->d.type == t && g->scale == t &&
         g->c.p == g->d.p && g->c.ld == g->d.ld && g->compute != COMPUTE_32F_FAST_TF32 &&
         g->compute != COMPUTE_32F_FAST_16F && g->compute != COMPUTE_32F_FAST_16BF;
}

// --- products computed in wider numbers ---

static float round_input(float x, Compute c) {
  if (c == COMPUTE_32F_FAST_TF32) return number_to_tf32(x);
  if (c == COMPUTE_32F_FAST_16F) return number_from_f16(number_to_f16(x));
  if (c == COMPUTE_32F_FAST_16BF) return number_from_bf16(number_to_bf16(x));
  return x;
}

static void *widen(const GemmWork *g, const GemmMatrix *x, const void *p, int64_t rows,
                   int64_t columns, bool to_double) {
  size_t parts = number_is_complex(x->type) ? 2 : 1, size = to_double ? 8 : 4;
  size_t column = (size_t)rows * parts;
  char *out = malloc((column * (size_t)columns + 1) * size);
  for (int64_t j = 0; out && j < columns; j++) {
    const char *from = (const char *)p + (size_t)j * (size_t)x->ld * number_bytes(x->type);
    char *to = out + (size_t)j * column * size;
    if (to_double) {
      numbers_widen((double *)to, from, x->type, (uint64_t)rows);
      continue;
    }
    numbers_to_float((float *)to, from, x->type, (uint64_t)rows);
    bool rounds = x->type == R_32F || x->type == C_32F;
    for (size_t i = 0; rounds && i < column; i++)
      ((float *)to)[i] = round_input(((float *)to)[i], g->compute);
  }
  return out;
}

// alpha op(A) op(B), not rounded: the sums are of the compute type.
static double *product(const GemmWork *g, const void *a, const void *b) {
  bool wide = is_double(g) || is_integer(g), complex = number_is_complex(g->c.type);
  size_t n = (size_t)g->m * (size_t)g->n * (complex ? 2 : 1), size = wide ? 8 : 4;
  double *out = calloc(n + 1, sizeof *out);
  void *wa = widen(g, &g->a, a, rows_a(g), columns_a(g), wide),
       *wb = widen(g, &g->b, b, rows_b(g), columns_b(g), wide), *sum = calloc(n + 1, size);
  static const double one[2] = {1, 0}, zero[2];
  static const float one_f[2] = {1, 0}, zero_f[2];
  DataType t = wide ? complex ? C_64F : R_64F : complex ? C_32F : R_32F;
  if (out && wa && wb && sum) {
    multiply(g, &(Product){.type = t,
                           .alpha = wide ? (const void *)one : one_f,
                           .beta = wide ? (const void *)zero : zero_f,
                           .a = wa,
                           .b = wb,
                           .c = sum,
                           .lda = (int)MAX_OF(1, rows_a(g)),
                           .ldb = (int)MAX_OF(1, rows_b(g)),
                           .ldc = (int)MAX_OF(1, g->m)});
    for (size_t i = 0; i < n; i++) out[i] = wide ? ((double *)sum)[i] : ((float *)sum)[i];
  }
  free(wa);
  free(wb);
  free(sum);
  return out;
}

static void scale_and_add(const GemmWork *g, double *d, const double *c, const double *alpha,
                          const double *beta) {
  bool complex = number_is_complex(g->c.type), single = !is_double(g) && !is_integer(g);
  size_t n = (size_t)g->m * (size_t)g->n;
  for (size_t i = 0; i < n; i++) {
    if (!complex) {
      double p = alpha[0] * d[i];
      if (c) p += beta[0] * c[i];
      d[i] = single ? (float)p : p;
      continue;
    }
    double *z = &d[2 * i], re = alpha[0] * z[0] - alpha[1] * z[1],
           im = alpha[0] * z[1] + alpha[1] * z[0];
    if (c) {
      re += beta[0] * c[2 * i] - beta[1] * c[2 * i + 1];
      im += beta[0] * c[2 * i + 1] + beta[1] * c[2 * i];
    }
    z[0] = single ? (float)re : re;
    z[1] = single ? (float)im : im;
  }
}

double *gemm_product(const GemmWork *g, const void *a, const void *b, const void *c) {
  double alpha[2] = {0}, beta[2] = {0};
  numbers_widen(alpha, scalar(&g->alpha), g->scale, 1);
  numbers_widen(beta, scalar(&g->beta), g->scale, 1);
  bool multiplies = g->k && (alpha[0] != 0 || alpha[1] != 0);
  size_t n = (size_t)g->m * (size_t)g->n * (number_is_complex(g->c.type) ? 2 : 1);
  double *d = multiplies ? product(g, a, b) : calloc(n + 1, sizeof *d);
  double *before = NULL;
  if (beta[0] != 0 || beta[1] != 0) before = widen(g, &g->c, c, g->m, g->n, true);
  if (d) scale_and_add(g, d, before, alpha, beta);
  free(before);
  return d;
}

void gemm_store(const GemmWork *g, const double *sums, void *to) {
  size_t column = (size_t)g->m * (number_is_complex(g->d.type) ? 2 : 1);
  for (int64_t j = 0; sums && j < g->n; j++)
    numbers_narrow((char *)to + (size_t)j * (size_t)g->d.ld * number_bytes(g->d.type), g->d.type,
                   sums + (size_t)j * column, (uint64_t)g->m);
}

// --- all of them ---

static void one(const GemmWork *g, const void *a, const void *b, const void *c, void *d) {
  if (is_native(g)) {
    multiply(g, &(Product){.type = g->a.type,
                           .alpha = scalar(&g->alpha),
                           .beta = scalar(&g->beta),
                           .a = a,
                           .b = b,
                           .c = d,
                           .lda = (int)g->a.ld,
                           .ldb = (int)g->b.ld,
                           .ldc = (int)g->d.ld});
    return;
  }
  double *sums = gemm_product(g, a, b, c);
  gemm_store(g, sums, d);
  free(sums);
}

static const void *matrix(const GemmWork *g, const GemmMatrix *x, int64_t i) {
  if (g->pointers) return ((const void *const *)x->p)[i];
  return (const char *)x->p + i * x->stride * (int64_t)number_bytes(x->type);
}

void gemm_run(void *work) {
  const GemmWork *g = work;
  if (!g->m || !g->n) return;
  for (int64_t i = 0; i < g->batch; i++) {
    GemmWork w = *g;
    w.a.p = matrix(g, &g->a, i);
    w.b.p = matrix(g, &g->b, i);
    w.c.p = matrix(g, &g->c, i);
    w.d.p = matrix(g, &g->d, i);
    if (g->pointers) {
      Operand list[4];
      w.batch = 1;
      uint32_t n = matrices(&w, list);
      if (!warpgrind_library_services.more_operands(list, n)) return;
    }
    w.pointers = false;
    one(&w, w.a.p, w.b.p, w.c.p, (void *)w.d.p);
  }
}
