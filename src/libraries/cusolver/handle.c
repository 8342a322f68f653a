// Handles of cuSOLVER and their settings, and the objects that routines take beside them.
#include "cuda/abi.h"
#include "libraries/cusolver/internal.h"

Status handle_check(const Handle *h) {
  if (!h || h->magic != HANDLE_MAGIC) return NOT_INITIALIZED;
  return warpgrind_library_services.enter() ? EXECUTION_FAILED : SUCCESS;
}

Status refuse(const char *call, const char *why) {
  warpgrind_library_services.refused(call, why);
  return INVALID_VALUE;
}

Status submit(const Handle *h, LibraryCall *c, const Work *w, void (*run)(void *)) {
  if (!blas()) return NOT_SUPPORTED;  // blas() has said what is missing
  c->stream = h->stream;
  c->run = run;
  c->arguments = w;
  c->argument_bytes = sizeof *w;
  int result = warpgrind_library_services.submit(c);
  if (!result) return SUCCESS;
  return result == CUDA_ERROR_OUT_OF_MEMORY ? ALLOC_FAILED : EXECUTION_FAILED;
}

// --- objects: all of them begin with a number that says what they are ---

static Status create(void **out, size_t bytes, uint32_t magic) {
  if (!out) return INVALID_VALUE;
  uint32_t *object = calloc(1, bytes);
  if (!object) return ALLOC_FAILED;
  *object = magic;
  *out = object;
  return SUCCESS;
}

static Status destroy(void *object, uint32_t magic) {
  if (!object || *(uint32_t *)object != magic) return NOT_INITIALIZED;
  cuCtxSynchronize();
  *(uint32_t *)object = 0;
  free(object);
  return SUCCESS;
}

EXPORT Status cusolverDnCreate(Handle **out) {
  if (warpgrind_library_services.enter()) return NOT_INITIALIZED;
  Status s = create((void **)out, sizeof **out, HANDLE_MAGIC);
  if (!s) (*out)->deterministic = (*out)->math_mode = 1;
  return s;
}
EXPORT Status cusolverDnDestroy(Handle *h) { return destroy(h, HANDLE_MAGIC); }

EXPORT Status cusolverDnCreateParams(uint32_t **out) {
  return create((void **)out, sizeof **out, PARAMS_MAGIC);
}
EXPORT Status cusolverDnDestroyParams(uint32_t *p) { return destroy(p, PARAMS_MAGIC); }
// There is only one algorithm: the program's choice has no effect.
EXPORT Status cusolverDnSetAdvOptions(const uint32_t *p, int function, int algorithm) {
  return p && *p == PARAMS_MAGIC ? SUCCESS : INVALID_VALUE;
}

#define SETTING(function, type, field) \
  EXPORT Status cusolverDnSet##function(Handle *h, type value) { \
    if (!h || h->magic != HANDLE_MAGIC) return NOT_INITIALIZED; \
    h->field = value; \
    return SUCCESS; \
  } \
  EXPORT Status cusolverDnGet##function(const Handle *h, type *value) { \
    if (!h || h->magic != HANDLE_MAGIC) return NOT_INITIALIZED; \
    if (!value) return INVALID_VALUE; \
    *value = h->field; \
    return SUCCESS; \
  }
SETTING(Stream, const void *, stream)
SETTING(DeterministicMode, int, deterministic)
SETTING(MathMode, int, math_mode)
SETTING(EmulationStrategy, int, emulation)

// --- syevjInfo_t and gesvdjInfo_t ---

// Vectors and values come from LAPACK's own methods, which have no sweeps: one is reported.
#define JACOBI(Name, name) \
  EXPORT Status cusolverDnCreate##Name##Info(Jacobi **out) { \
    return create((void **)out, sizeof **out, JACOBI_MAGIC); \
  } \
  EXPORT Status cusolverDnDestroy##Name##Info(Jacobi *j) { return destroy(j, JACOBI_MAGIC); } \
  EXPORT Status cusolverDnX##name##SetTolerance(Jacobi *j, double tolerance) { \
    if (!j || j->magic != JACOBI_MAGIC) return INVALID_VALUE; \
    j->tolerance = tolerance; \
    return SUCCESS; \
  } \
  EXPORT Status cusolverDnX##name##SetMaxSweeps(Jacobi *j, int sweeps) { \
    if (!j || j->magic != JACOBI_MAGIC) return INVALID_VALUE; \
    j->sweeps = sweeps; \
    return SUCCESS; \
  } \
  EXPORT Status cusolverDnX##name##SetSortEig(Jacobi *j, int sort) { \
    if (!j || j->magic != JACOBI_MAGIC) return INVALID_VALUE; \
    j->sort = sort; \
    return SUCCESS; \
  } \
  EXPORT Status cusolverDnX##name##GetResidual(const Handle *h, const Jacobi *j, double *out) { \
    if (!j || j->magic != JACOBI_MAGIC || !out) return INVALID_VALUE; \
    cuCtxSynchronize(); \
    *out = j->residual; \
    return SUCCESS; \
  } \
  EXPORT Status cusolverDnX##name##GetSweeps(const Handle *h, const Jacobi *j, int *out) { \
    if (!j || j->magic != JACOBI_MAGIC || !out) return INVALID_VALUE; \
    *out = 1; \
    return SUCCESS; \
  }
JACOBI(Syevj, syevj)
JACOBI(Gesvdj, gesvdj)

// --- the library ---

EXPORT Status cusolverGetVersion(int *version) {
  if (!version) return INVALID_VALUE;
  *version = library_major * 1000;
  return SUCCESS;
}

EXPORT Status cusolverGetProperty(int type, int *value) {
  if (!value || type < 0 || type > 2) return INVALID_VALUE;
  *value = type == 0 ? library_major : 0;
  return SUCCESS;
}
