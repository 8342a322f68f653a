// cublasLtCreate and the descriptors.
#include "libraries/cublasLt/internal.h"

Status lt_refuse(const char *call, const char *why) {
  warpgrind_library_services.refused(call, why);
  return INVALID_VALUE;
}
Status lt_unsupported(const char *call, const char *why) {
  warpgrind_library_services.unsupported(call, why);
  return NOT_SUPPORTED;
}
char lt_operation(uint64_t trans) { return trans == 0 ? 'N' : trans == 1 ? 'T' : 'C'; }

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

// Descriptors in the program's own memory (…Init), which is too small for attributes and holds
// their address instead. No call destroys such a descriptor: its attributes stay until the process
// ends.
enum { OPAQUE_BYTES = 64 };  // of the smallest one
#define OPAQUE_MAGIC 0x7470697263736564u
typedef struct Opaque {
  uint64_t magic;
  Attributes *at;
} Opaque;

static Attributes *changed(void *descriptor) {
  const Opaque *o = descriptor;
  return o && o->magic == OPAQUE_MAGIC ? o->at : (Attributes *)descriptor;
}
const Attributes *attributes_of(const void *descriptor) { return changed((void *)descriptor); }

static Status init(void *memory, size_t bytes, Status created, Attributes *at) {
  if (!memory || bytes < OPAQUE_BYTES) return INVALID_VALUE;
  if (!created) *(Opaque *)memory = (Opaque){OPAQUE_MAGIC, at};
  return created;
}

static Status set(Attributes *descriptor, int i, const void *from, size_t bytes) {
  Attributes *a = changed(descriptor);
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
  put(a, DESC_AUX_TYPE, (uint64_t)-1, 4);
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
EXPORT Status cublasLtMatrixTransformDescCreate(Attributes **out, int scale) {
  Attributes *a = calloc(1, sizeof *a);
  if (!out || !a) return ALLOC_FAILED;
  put(a, TRANSFORM_SCALE, (uint64_t)scale, 4);
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
EXPORT Status cublasLtMatrixTransformDescInit_internal(void *memory, size_t bytes, int scale) {
  Attributes *a = NULL;
  Status created = cublasLtMatrixTransformDescCreate(&a, scale);
  return init(memory, bytes, created, a);
}

// The functions that each of the four kinds of descriptor has.
#define DESCRIPTOR(name) \
  EXPORT Status cublasLt##name##Destroy(Attributes *a) { return destroy(a); } \
  EXPORT Status cublasLt##name##SetAttribute(Attributes *a, int i, const void *p, size_t n) { \
    return set(a, i, p, n); \
  } \
  EXPORT Status cublasLt##name##GetAttribute(const Attributes *a, int i, void *p, size_t n, \
                                             size_t *written) { \
    return get(a, i, p, n, written); \
  }
DESCRIPTOR(MatmulDesc)
DESCRIPTOR(MatrixLayout)
DESCRIPTOR(MatmulPreference)
DESCRIPTOR(MatrixTransformDesc)
