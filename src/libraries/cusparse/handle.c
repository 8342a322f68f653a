// Handles of cuSPARSE, and the objects that functions take beside them.
#include "cuda/abi.h"
#include "libraries/cusparse/internal.h"

Status handle_check(const Handle *h) {
  if (!IS(h, HANDLE)) return NOT_INITIALIZED;
  return warpgrind_library_services.enter() ? EXECUTION_FAILED : SUCCESS;
}

Status refuse(const char *call, const char *why) {
  warpgrind_library_services.refused(call, why);
  return INVALID_VALUE;
}

Scalar scalar_take(const Handle *h, const void *p, DataType t) {
  Scalar s = {0};
  if (h->device_pointers) s.device = p;
  else if (p) memcpy(s.bytes, p, number_bytes(t));
  return s;
}

Status submit_call(const Handle *h, LibraryCall *c) {
  c->stream = h->stream;
  int result = warpgrind_library_services.submit(c);
  if (!result) return SUCCESS;
  return result == CUDA_ERROR_OUT_OF_MEMORY ? ALLOC_FAILED : EXECUTION_FAILED;
}

Status buffer_size(const Handle *h, size_t *bytes) {
  Status s = handle_check(h);
  if (s) return s;
  if (!bytes) return INVALID_VALUE;
  *bytes = BUFFER_BYTES;
  return SUCCESS;
}

Status object_create(void *out, size_t bytes, Magic magic) {
  if (!out) return INVALID_VALUE;
  Magic *object = calloc(1, bytes);
  if (!object) return ALLOC_FAILED;
  *object = magic;
  *(void **)out = object;
  return SUCCESS;
}

Status object_destroy(void *object, Magic magic) {
  if (!object || *(Magic *)object != magic) return INVALID_VALUE;
  *(Magic *)object = (Magic)0;
  free(object);
  return SUCCESS;
}

EXPORT Status cusparseCreate(Handle **out) {
  if (warpgrind_library_services.enter()) return NOT_INITIALIZED;
  return object_create(out, sizeof **out, MAGIC_HANDLE);
}
EXPORT Status cusparseDestroy(Handle *h) {
  if (!IS(h, HANDLE)) return NOT_INITIALIZED;
  cuCtxSynchronize();
  return object_destroy(h, MAGIC_HANDLE);
}

#define SETTING(function, type, field) \
  EXPORT Status cusparseSet##function(Handle *h, type value) { \
    if (!IS(h, HANDLE)) return NOT_INITIALIZED; \
    h->field = value; \
    return SUCCESS; \
  } \
  EXPORT Status cusparseGet##function(const Handle *h, type *value) { \
    if (!IS(h, HANDLE)) return NOT_INITIALIZED; \
    if (!value) return INVALID_VALUE; \
    *value = h->field; \
    return SUCCESS; \
  }
SETTING(Stream, const void *, stream)
SETTING(PointerMode, int, device_pointers)

EXPORT Status cusparseGetVersion(const Handle *h, int *version) {
  if (!IS(h, HANDLE)) return NOT_INITIALIZED;
  if (!version) return INVALID_VALUE;
  *version = library_major * 1000;
  return SUCCESS;
}
EXPORT Status cusparseGetProperty(int type, int *value) {
  if (!value || type < 0 || type > 2) return INVALID_VALUE;
  *value = type == 0 ? library_major : 0;
  return SUCCESS;
}

typedef struct StatusText {
  const char *name, *text;
} StatusText;
static const StatusText statuses[] = {
    {"CUSPARSE_STATUS_SUCCESS", "success"},
    {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {"CUSPARSE_STATUS_ARCH_MISMATCH", "the device lacks a feature that the function needs"},
    {"CUSPARSE_STATUS_MAPPING_ERROR", "an access to GPU memory failed"},
    {"CUSPARSE_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
    {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"}};

static const StatusText *status_text(unsigned s) {
  static const StatusText unknown = {"unrecognized error code", "unrecognized error code"};
  return s < sizeof statuses / sizeof *statuses ? &statuses[s] : &unknown;
}
EXPORT const char *cusparseGetErrorName(unsigned s) { return status_text(s)->name; }
EXPORT const char *cusparseGetErrorString(unsigned s) { return status_text(s)->text; }

// --- cusparseMatDescr_t ---

EXPORT Status cusparseCreateMatDescr(LegacyMatrix **out) {
  return object_create(out, sizeof **out, MAGIC_LEGACY);
}
EXPORT Status cusparseDestroyMatDescr(LegacyMatrix *m) { return object_destroy(m, MAGIC_LEGACY); }
#define MATRIX_SETTING(function, field) \
  EXPORT Status cusparseSetMat##function(LegacyMatrix *m, int value) { \
    if (!IS(m, LEGACY) || value < 0) return INVALID_VALUE; \
    m->field = value; \
    return SUCCESS; \
  } \
  EXPORT int cusparseGetMat##function(const LegacyMatrix *m) { \
    return IS(m, LEGACY) \
    ? m->field : 0; \
  }
MATRIX_SETTING(Type, type)
MATRIX_SETTING(FillMode, fill)
MATRIX_SETTING(DiagType, diagonal)
MATRIX_SETTING(IndexBase, base)
