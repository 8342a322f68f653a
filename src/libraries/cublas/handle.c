// cublasCreate and the settings of a handle.
#include "libraries/cublas/internal.h"

#include "cuda/abi.h"

Status handle_check(const Handle *h) {
  if (!h || h->magic != HANDLE_MAGIC) return NOT_INITIALIZED;
  return warpgrind_library_services.enter() ? EXECUTION_FAILED : SUCCESS;
}

Status status_of(int result) {
  if (result == 0) return SUCCESS;
  return result == CUDA_ERROR_OUT_OF_MEMORY ? ALLOC_FAILED : EXECUTION_FAILED;
}

Status refuse(const char *call, const char *why) {
  warpgrind_library_services.refused(call, why);
  return INVALID_VALUE;
}

Scalar scalar_take(const Handle *h, const void *p, size_t bytes) {
  Scalar s = {0};
  if (h->device_pointers) s.device = p;
  else if (p) memcpy(s.bytes, p, bytes);
  return s;
}

Status submit(const Handle *h, LibraryCall *c) {
  c->stream = h->stream;
  if (!blas()) return NOT_SUPPORTED;  // blas() has said what is missing
  return status_of(warpgrind_library_services.submit(c));
}

EXPORT Status cublasCreate_v2(Handle **out) {
  if (!out) return refuse("cublasCreate", "the pointer for the handle is null");
  if (warpgrind_library_services.enter()) return NOT_INITIALIZED;
  Handle *h = calloc(1, sizeof *h);
  if (!h) return ALLOC_FAILED;
  h->magic = HANDLE_MAGIC;
  *out = h;
  return SUCCESS;
}

EXPORT Status cublasDestroy_v2(Handle *h) {
  if (!h || h->magic != HANDLE_MAGIC) return NOT_INITIALIZED;
  cuCtxSynchronize();
  h->magic = 0;
  free(h);
  return SUCCESS;
}

// The version of the interface that this file serves.
EXPORT Status cublasGetVersion_v2(const Handle *h, int *version) {
  if (!version) return refuse("cublasGetVersion", "the pointer for the version is null");
  *version = library_major * 10000;
  return SUCCESS;
}

EXPORT Status cublasGetProperty(int type, int *value) {
  if (!value || type < 0 || type > 2) return INVALID_VALUE;
  *value = type == 0 ? library_major : 0;
  return SUCCESS;
}

EXPORT size_t cublasGetCudartVersion(void) { return (size_t)library_major * 1000; }

#define SETTER(function, type, field) \
  EXPORT Status cublasSet##function(Handle *h, type value) { \
    if (!h || h->magic != HANDLE_MAGIC) return NOT_INITIALIZED; \
    h->field = value; \
    return SUCCESS; \
  }
#define GETTER(function, type, field) \
  EXPORT Status cublasGet##function(const Handle *h, type *value) { \
    if (!h || h->magic != HANDLE_MAGIC) return NOT_INITIALIZED; \
    if (!value) return refuse("cublasGet" #function, "the pointer for the value is null"); \
    *value = h->field; \
    return SUCCESS; \
  }
#define SETTING(function, field) SETTER(function, int, field) GETTER(function, int, field)
SETTER(Stream_v2, const void *, stream)
GETTER(Stream_v2, const void *, stream)
SETTING(PointerMode_v2, device_pointers)
SETTING(MathMode, math_mode)
SETTING(AtomicsMode, atomics_mode)
SETTING(SmCountTarget, sm_target)
SETTING(EmulationStrategy, emulation)

// Nothing here needs a workspace. The real library sets the stream's own one back to its pool.
EXPORT Status cublasSetWorkspace_v2(Handle *h, void *workspace, size_t bytes) {
  return h && h->magic == HANDLE_MAGIC ? SUCCESS : NOT_INITIALIZED;
}

// Nothing is logged.
EXPORT Status cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file) {
  return SUCCESS;
}
EXPORT Status cublasSetLoggerCallback(void (*f)(const char *)) { return SUCCESS; }
EXPORT Status cublasGetLoggerCallback(void (**f)(const char *)) {
  if (!f) return INVALID_VALUE;
  *f = NULL;
  return SUCCESS;
}

EXPORT const char *cublasGetStatusName(Status s) { return blas_status_name(s); }
EXPORT const char *cublasGetStatusString(Status s) { return blas_status_words(s); }

// --- copies of vectors and matrices ---

typedef struct Rectangle {
  const char *call;
  const void *from;
  void *to;
  int64_t rows, columns, element, from_ld, to_ld;
  bool to_device, async;
  CUstream stream;
} Rectangle;

static Status copy(const Rectangle *r) {
  if (r->rows < 0 || r->columns < 0 || r->element <= 0)
    return refuse(r->call, "a size is negative, or an element has no bytes");
  if (r->from_ld <= 0 || r->to_ld <= 0) return refuse(r->call, "a distance is not positive");
  if (!r->rows || !r->columns) return SUCCESS;
  if (warpgrind_library_services.enter()) return NOT_INITIALIZED;
  CUDA_MEMCPY2D c = {.srcPitch = (size_t)(r->from_ld * r->element),
                     .dstPitch = (size_t)(r->to_ld * r->element),
                     .WidthInBytes = (size_t)(r->rows * r->element),
                     .Height = (size_t)r->columns};
  c.srcMemoryType = r->to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  c.dstMemoryType = r->to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  c.srcHost = r->from;
  c.srcDevice = (CUdeviceptr)(uintptr_t)r->from;
  c.dstHost = r->to;
  c.dstDevice = (CUdeviceptr)(uintptr_t)r->to;
  int result = r->async ? cuMemcpy2DAsync_v2(&c, r->stream) : cuMemcpy2DUnaligned_v2(&c);
  return result ? MAPPING_ERROR : SUCCESS;
}

// A vector with increments of one is one row of bytes; others are rows of one element.
static Status copy_vector(Rectangle r, int64_t n, int64_t from_inc, int64_t to_inc) {
  bool dense = from_inc == 1 && to_inc == 1;
  r.rows = dense ? n : 1;
  r.columns = dense ? 1 : n;
  r.from_ld = dense ? MAX_OF(n, 1) : from_inc;
  r.to_ld = dense ? MAX_OF(n, 1) : to_inc;
  return copy(&r);
}

#define COPIES(INT, SUFFIX) \
  EXPORT Status cublasSetVector##SUFFIX(INT n, INT size, const void *x, INT incx, void *y, \
                                        INT incy) { \
    return copy_vector((Rectangle){"cublasSetVector", x, y, .element = size, .to_device = true}, \
                       n, incx, incy); \
  } \
  EXPORT Status cublasGetVector##SUFFIX(INT n, INT size, const void *x, INT incx, void *y, \
                                        INT incy) { \
    return copy_vector((Rectangle){"cublasGetVector", x, y, .element = size}, n, incx, incy); \
  } \
  EXPORT Status cublasSetVectorAsync##SUFFIX(INT n, INT size, const void *x, INT incx, void *y, \
                                             INT incy, CUstream s) { \
    return copy_vector((Rectangle){"cublasSetVectorAsync", x, y, .element = size, \
                                   .to_device = true, .async = true, .stream = s}, \
                       n, incx, incy); \
  } \
  EXPORT Status cublasGetVectorAsync##SUFFIX(INT n, INT size, const void *x, INT incx, void *y, \
                                             INT incy, CUstream s) { \
    return copy_vector( \
        (Rectangle){"cublasGetVectorAsync", x, y, .element = size, .async = true, .stream = s}, n, \
        incx, incy); \
  } \
  EXPORT Status cublasSetMatrix##SUFFIX(INT rows, INT columns, INT size, const void *a, INT lda, \
                                        void *b, INT ldb) { \
    return copy(&(Rectangle){"cublasSetMatrix", a, b, rows, columns, size, lda, ldb, true}); \
  } \
  EXPORT Status cublasGetMatrix##SUFFIX(INT rows, INT columns, INT size, const void *a, INT lda, \
                                        void *b, INT ldb) { \
    return copy(&(Rectangle){"cublasGetMatrix", a, b, rows, columns, size, lda, ldb, false}); \
  } \
  EXPORT Status cublasSetMatrixAsync##SUFFIX(INT rows, INT columns, INT size, const void *a, \
                                             INT lda, void *b, INT ldb, CUstream s) { \
    return copy( \
        &(Rectangle){"cublasSetMatrixAsync", a, b, rows, columns, size, lda, ldb, true, true, s}); \
  } \
  EXPORT Status cublasGetMatrixAsync##SUFFIX(INT rows, INT columns, INT size, const void *a, \
                                             INT lda, void *b, INT ldb, CUstream s) { \
    return copy(&(Rectangle){"cublasGetMatrixAsync", a, b, rows, columns, size, lda, ldb, false, \
                             true, s}); \
  }
COPIES(int, )
COPIES(int64_t, _64)
