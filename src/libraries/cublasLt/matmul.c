// cuBLASLt on the virtual device: descriptors, and the product with its epilogue.
#include <math.h>

#include "libraries/blas/blas.h"
#include "libraries/common/gemm.h"

typedef enum Status {
  SUCCESS = 0,
  NOT_INITIALIZED = 1,
  ALLOC_FAILED = 3,
  INVALID_VALUE = 7,
  EXECUTION_FAILED = 13,
  NOT_SUPPORTED = 15
} Status;

// Descriptors are lists of attributes by their number; each fits into eight bytes.
enum { ATTRIBUTES = 40 };
typedef struct Attributes {
  uint64_t value[ATTRIBUTES];
  uint8_t bytes[ATTRIBUTES];
} Attributes;

enum {
  LAYOUT_TYPE,
  LAYOUT_ORDER,
  LAYOUT_ROWS,
  LAYOUT_COLS,
  LAYOUT_LD,
  LAYOUT_BATCH,
  LAYOUT_STRIDE
};
enum {
  DESC_COMPUTE = 0,
  DESC_SCALE = 1,
  DESC_POINTER_MODE = 2,
  DESC_TRANSA = 3,
  DESC_TRANSB = 4,
  DESC_EPILOGUE = 7,
  DESC_BIAS = 8,
  DESC_BIAS_STRIDE = 10,
  DESC_AUX = 11,
  DESC_AUX_LD = 12,
  DESC_AUX_STRIDE = 13,
  DESC_A_SCALE = 17,
  DESC_B_SCALE = 18,
  DESC_D_SCALE = 20,
  DESC_BIAS_TYPE = 26,
  DESC_A_SCALE_MODE = 31,
  DESC_D_OUT_SCALE_MODE = 37
};
enum { RELU = 2, BIAS = 4, GELU = 32, AUX = 128 };

static Status refuse(const char *why) {
  warpgrind_library_services.refused("cublasLtMatmul", why);
  return INVALID_VALUE;
}
static Status unsupported(const char *why) {
  warpgrind_library_services.unsupported("cublasLtMatmul", why);
  return NOT_SUPPORTED;
}

EXPORT Status cublasLtCreate(void **handle) {
  if (!handle) return INVALID_VALUE;
  if (warpgrind_library_services.enter()) return NOT_INITIALIZED;
  *handle = malloc(1);
  return *handle ? SUCCESS : ALLOC_FAILED;
}
EXPORT Status cublasLtDestroy(void *handle) {
  free(handle);
  return SUCCESS;
}
EXPORT size_t cublasLtGetVersion(void) { return (size_t)library_major * 10000; }
EXPORT size_t cublasLtGetCudartVersion(void) { return (size_t)library_major * 1000; }

// --- descriptors ---

static void put(Attributes *a, int i, uint64_t value, unsigned bytes) {
  a->value[i] = value;
  a->bytes[i] = (uint8_t)bytes;
}

// Descriptors in the program's own memory (…Init), which is too small for attributes and has their
// address instead. Nothing ends such a descriptor: its attributes stay until the process ends.
enum { OPAQUE_BYTES = 64 };  // of the smallest one
#define OPAQUE_MAGIC 0x7470697263736564u
typedef struct Opaque {
  uint64_t magic;
  Attributes *at;
} Opaque;

static Attributes *attributes_of(const void *descriptor) {
  const Opaque *o = descriptor;
  return o && o->magic == OPAQUE_MAGIC ? o->at : (Attributes *)descriptor;
}

static Status init(void *memory, size_t bytes, Status created, Attributes *at) {
  if (!memory || bytes < OPAQUE_BYTES) return INVALID_VALUE;
  if (!created) *(Opaque *)memory = (Opaque){OPAQUE_MAGIC, at};
  return created;
}

static Status set(Attributes *descriptor, int i, const void *from, size_t bytes) {
  Attributes *a = attributes_of(descriptor);
  if (!a || !from || i < 0 || i >= ATTRIBUTES || !bytes || bytes > 8) return INVALID_VALUE;
  a->value[i] = 0;
  memcpy(&a->value[i], from, bytes);
  a->bytes[i] = (uint8_t)bytes;
  return SUCCESS;
}

static Status get(const Attributes *descriptor, int i, void *to, size_t bytes, size_t *written) {
  const Attributes *a = attributes_of(descriptor);
  if (!a || i < 0 || i >= ATTRIBUTES) return INVALID_VALUE;
  size_t size = a->bytes[i] ? a->bytes[i] : bytes;
  if (written) *written = size;
  if (!bytes) return SUCCESS;
  if (!to || bytes < size || size > 8) return INVALID_VALUE;
  memcpy(to, &a->value[i], size);
  return SUCCESS;
}

static Status destroy(Attributes *a) {
  free(a);
  return SUCCESS;
}

EXPORT Status cublasLtMatmulDescCreate(Attributes **out, int compute, int scale) {
  Attributes *a = calloc(1, sizeof *a);
  if (!out || !a) return ALLOC_FAILED;
  put(a, DESC_COMPUTE, (uint64_t)compute, 4);
  put(a, DESC_SCALE, (uint64_t)scale, 4);
  put(a, DESC_EPILOGUE, 1, 4);
  put(a, DESC_BIAS_TYPE, (uint64_t)-1, 4);
  *out = a;
  return SUCCESS;
}
EXPORT Status cublasLtMatrixLayoutCreate(Attributes **out, int type, uint64_t rows,
                                         uint64_t columns, int64_t ld) {
  Attributes *a = calloc(1, sizeof *a);
  if (!out || !a) return ALLOC_FAILED;
  put(a, LAYOUT_TYPE, (uint64_t)type, 4);
  put(a, LAYOUT_ORDER, 0, 4);
  put(a, LAYOUT_ROWS, rows, 8);
  put(a, LAYOUT_COLS, columns, 8);
  put(a, LAYOUT_LD, (uint64_t)ld, 8);
  put(a, LAYOUT_BATCH, 1, 4);
  put(a, LAYOUT_STRIDE, 0, 8);
  *out = a;
  return SUCCESS;
}
EXPORT Status cublasLtMatmulPreferenceCreate(Attributes **out) {
  Attributes *a = calloc(1, sizeof *a);
  if (!out || !a) return ALLOC_FAILED;
  *out = a;
  return SUCCESS;
}
EXPORT Status cublasLtMatmulDescInit_internal(void *memory, size_t bytes, int compute, int scale) {
  Attributes *a = NULL;
  Status created = cublasLtMatmulDescCreate(&a, compute, scale);
  return init(memory, bytes, created, a);
}
EXPORT Status cublasLtMatrixLayoutInit_internal(void *memory, size_t bytes, int type, uint64_t rows,
                                                uint64_t columns, int64_t ld) {
  Attributes *a = NULL;
  Status created = cublasLtMatrixLayoutCreate(&a, type, rows, columns, ld);
  return init(memory, bytes, created, a);
}
EXPORT Status cublasLtMatmulPreferenceInit_internal(void *memory, size_t bytes) {
  Attributes *a = NULL;
  Status created = cublasLtMatmulPreferenceCreate(&a);
  return init(memory, bytes, created, a);
}
EXPORT Status cublasLtMatmulDescDestroy(Attributes *a) { return destroy(a); }
EXPORT Status cublasLtMatrixLayoutDestroy(Attributes *a) { return destroy(a); }
EXPORT Status cublasLtMatmulPreferenceDestroy(Attributes *a) { return destroy(a); }
EXPORT Status cublasLtMatmulDescSetAttribute(Attributes *a, int i, const void *p, size_t n) {
  return set(a, i, p, n);
}
EXPORT Status cublasLtMatrixLayoutSetAttribute(Attributes *a, int i, const void *p, size_t n) {
  return set(a, i, p, n);
}
EXPORT Status cublasLtMatmulPreferenceSetAttribute(Attributes *a, int i, const void *p, size_t n) {
  return set(a, i, p, n);
}
EXPORT Status cublasLtMatmulDescGetAttribute(const Attributes *a, int i, void *p, size_t n,
                                             size_t *written) {
  return get(a, i, p, n, written);
}
EXPORT Status cublasLtMatrixLayoutGetAttribute(const Attributes *a, int i, void *p, size_t n,
                                               size_t *written) {
  return get(a, i, p, n, written);
}
EXPORT Status cublasLtMatmulPreferenceGetAttribute(const Attributes *a, int i, void *p, size_t n,
                                                   size_t *written) {
  return get(a, i, p, n, written);
}

// --- the product ---

typedef struct Matmul {
  GemmWork gemm;
  unsigned epilogue;
  const void *bias;
  DataType bias_type;
  int64_t bias_stride, aux_ld, aux_stride;
  void *aux;
  const float *scale_a, *scale_b, *scale_d;
} Matmul;

static double activate(double x, unsigned epilogue) {
  if (epilogue & RELU) return x > 0 ? x : 0;
  if (epilogue & GELU) return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  return x;
}

static void finish_column(const Matmul *w, double *column, int64_t batch, int64_t j) {
  const GemmWork *g = &w->gemm;
  double scale = w->scale_d ? *w->scale_d : 1;
  unsigned size = number_bytes(g->d.type);
  for (int64_t i = 0; i < g->m; i++) {
    double bias = 0;
    if (w->bias)
      numbers_widen(&bias,
                    (const char *)w->bias +
                        (batch * w->bias_stride + i) * (int64_t)number_bytes(w->bias_type),
                    w->bias_type, 1);
    column[i] += bias;
    if (w->aux)
      numbers_narrow((char *)w->aux + (batch * w->aux_stride + j * w->aux_ld + i) * (int64_t)size,
                     g->d.type, &column[i], 1);
    column[i] = activate(column[i], w->epilogue) * scale;
  }
}

static const char *matrix(const GemmMatrix *x, int64_t i) {
  return (const char *)x->p + i * x->stride * (int64_t)number_bytes(x->type);
}

static void run(void *arguments) {
  Matmul *w = arguments;
  GemmWork g = w->gemm;
  if (w->epilogue == 1 && !w->scale_a && !w->scale_b && !w->scale_d) {
    gemm_run(&g);
    return;
  }
  if (w->scale_a || w->scale_b) {
    float alpha = *(const float *)scalar(&g.alpha);
    alpha *= (w->scale_a ? *w->scale_a : 1) * (w->scale_b ? *w->scale_b : 1);
    g.alpha.device = NULL;
    memcpy(g.alpha.bytes, &alpha, sizeof alpha);
  }
  for (int64_t b = 0; b < g.batch; b++) {
    double *sums = gemm_product(&g, matrix(&g.a, b), matrix(&g.b, b), matrix(&g.c, b));
    for (int64_t j = 0; sums && j < g.n; j++) finish_column(w, sums + j * g.m, b, j);
    gemm_store(&g, sums, (void *)matrix(&g.d, b));
    free(sums);
  }
}

static GemmMatrix matrix_of(const void *p, const Attributes *l) {
  return (GemmMatrix){p, (DataType)l->value[LAYOUT_TYPE], (int64_t)l->value[LAYOUT_LD],
                      (int64_t)l->value[LAYOUT_STRIDE]};
}

// What of the descriptor is not served; NULL: nothing.
static const char *beyond(const Matmul *w, const Attributes *d) {
  unsigned known = 1 | RELU | BIAS | GELU | AUX;
  if (w->epilogue & ~known || ((w->epilogue & AUX) && !(w->epilogue & GELU)))
    return "this epilogue is not served";
  if (d->value[DESC_POINTER_MODE] > 1) return "vectors of alpha are not served";
  for (int i = DESC_A_SCALE_MODE; i <= DESC_D_OUT_SCALE_MODE; i++)
    if (d->value[i]) return "scales of blocks are not served";
  if (number_is_complex(w->gemm.c.type) && w->epilogue != 1)
    return "epilogues of complex numbers are not served";
  return NULL;
}

static void add(LibraryCall *c, const char *name, const void *p, DataType t, uint64_t rows,
                uint64_t columns) {
  Element e = {number_bytes(t), number_format(t)};
  Operand o = operand_of_matrix(name, p, e, rows, columns, rows);
  if (p) call_operand(c, &o);
}

static void operands(LibraryCall *c, const Matmul *w) {
  const GemmWork *g = &w->gemm;
  gemm_operands(c, g);
  if (w->bias)
    add(c, "bias", w->bias, w->bias_type, (uint64_t)g->m, w->bias_stride ? (uint64_t)g->batch : 1);
  add(c, "A's scale", w->scale_a, R_32F, 1, 1);
  add(c, "B's scale", w->scale_b, R_32F, 1, 1);
  add(c, "D's scale", w->scale_d, R_32F, 1, 1);
  if (!w->aux) return;
  Element e = {number_bytes(g->d.type), number_format(g->d.type)};
  Operand o = operand_of_matrix("auxiliary output", w->aux, e, (uint64_t)g->m, (uint64_t)g->n,
                                (uint64_t)w->aux_ld);
  o.access = OPERAND_WRITE;
  call_operand(c, &o);
}

static void fill(Matmul *w, const Attributes *d) {
  w->epilogue = (unsigned)d->value[DESC_EPILOGUE];
  if (w->epilogue & BIAS) w->bias = (const void *)(uintptr_t)d->value[DESC_BIAS];
  int bias_type = (int)(uint32_t)d->value[DESC_BIAS_TYPE];
  DataType t = w->gemm.d.type;
  bool eight = t == R_8F_E4M3 || t == R_8F_E5M2;
  w->bias_type = bias_type >= 0 ? (DataType)bias_type : eight ? R_16BF : t;
  w->bias_stride = (int64_t)d->value[DESC_BIAS_STRIDE];
  if (w->epilogue & AUX) w->aux = (void *)(uintptr_t)d->value[DESC_AUX];
  w->aux_ld = (int64_t)d->value[DESC_AUX_LD];
  w->aux_stride = (int64_t)d->value[DESC_AUX_STRIDE];
  w->scale_a = (const float *)(uintptr_t)d->value[DESC_A_SCALE];
  w->scale_b = (const float *)(uintptr_t)d->value[DESC_B_SCALE];
  w->scale_d = (const float *)(uintptr_t)d->value[DESC_D_SCALE];
}

static char operation(uint64_t trans) { return trans == 0 ? 'N' : trans == 1 ? 'T' : 'C'; }

EXPORT Status cublasLtMatmul(void *handle, const Attributes *d, const void *alpha, const void *pa,
                             const Attributes *a, const void *pb, const Attributes *b,
                             const void *beta, const void *pc, const Attributes *c, void *pd,
                             const Attributes *out, const void *algo, void *workspace,
                             size_t workspace_bytes, const void *stream) {
  if (!handle) return NOT_INITIALIZED;
  d = attributes_of(d);
  a = attributes_of(a);
  b = attributes_of(b);
  c = attributes_of(c);
  out = attributes_of(out);
  if (!d || !a || !b || !c || !out || !alpha || !beta) return refuse("an argument is null");
  if (a->value[LAYOUT_ORDER] || b->value[LAYOUT_ORDER] || c->value[LAYOUT_ORDER] ||
      out->value[LAYOUT_ORDER])
    return unsupported("only column-major order is served");
  Matmul w = {.gemm = {.transa = operation(d->value[DESC_TRANSA]),
                       .transb = operation(d->value[DESC_TRANSB]),
                       .m = (int64_t)out->value[LAYOUT_ROWS],
                       .n = (int64_t)out->value[LAYOUT_COLS],
                       .batch = (int64_t)out->value[LAYOUT_BATCH],
                       .a = matrix_of(pa, a),
                       .b = matrix_of(pb, b),
                       .c = matrix_of(pc ? pc : pd, c),
                       .d = matrix_of(pd, out),
                       .compute = (Compute)d->value[DESC_COMPUTE]}};
  GemmWork *g = &w.gemm;
  bool plain_a = g->transa == 'N', plain_b = g->transb == 'N';
  g->k = (int64_t)a->value[plain_a ? LAYOUT_COLS : LAYOUT_ROWS];
  if ((int64_t)a->value[plain_a ? LAYOUT_ROWS : LAYOUT_COLS] != g->m ||
      (int64_t)b->value[plain_b ? LAYOUT_COLS : LAYOUT_ROWS] != g->n ||
      (int64_t)b->value[plain_b ? LAYOUT_ROWS : LAYOUT_COLS] != g->k)
    return refuse("the shapes of A, B and D do not go together");
  if (!gemm_scale_type(g)) return unsupported("these types of A, B, C and D are not served");
  fill(&w, d);
  const char *wrong = gemm_wrong(g), *missing = beyond(&w, d);
  if (wrong) return refuse(wrong);
  if (missing) return unsupported(missing);
  if (warpgrind_library_services.enter()) return EXECUTION_FAILED;
  bool on_device = d->value[DESC_POINTER_MODE] == 1;
  if (on_device) {
    g->alpha.device = alpha;
    g->beta.device = beta;
  } else {
    memcpy(g->alpha.bytes, alpha, number_bytes(g->scale));
    memcpy(g->beta.bytes, beta, number_bytes(g->scale));
  }
  LibraryCall call = {.name = "cublasLtMatmul",
                      .stream = stream,
                      .run = run,
                      .arguments = &w,
                      .argument_bytes = sizeof w};
  operands(&call, &w);
  if (!blas()) return NOT_SUPPORTED;  // it has said what is missing
  return warpgrind_library_services.submit(&call) ? EXECUTION_FAILED : SUCCESS;
}

// --- heuristics: there is one algorithm ---

typedef struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Heuristic;

EXPORT Status cublasLtMatmulAlgoGetHeuristic(void *handle, const Attributes *d, const Attributes *a,
                                             const Attributes *b, const Attributes *c,
                                             const Attributes *out, const Attributes *preference,
                                             int most, Heuristic *results, int *found) {
  if (!handle) return NOT_INITIALIZED;
  if (!results || !found || most < 1) return INVALID_VALUE;
  results[0] = (Heuristic){.algorithm = {1}, .waves = 1};
  *found = 1;
  return SUCCESS;
}
EXPORT Status cublasLtMatmulAlgoCheck(void *handle, const Attributes *d, const Attributes *a,
                                      const Attributes *b, const Attributes *c,
                                      const Attributes *out, const void *algorithm,
                                      Heuristic *result) {
  if (!handle) return NOT_INITIALIZED;
  if (result) *result = (Heuristic){.algorithm = {1}, .waves = 1};
  return SUCCESS;
}
