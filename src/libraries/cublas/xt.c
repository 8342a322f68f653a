// cuBLASXt: products of matrices in host or device memory, which return when they are done. The
// virtual device reads both, so that tiles and boards count for nothing.
#include <complex.h>
#undef I

#include "cuda/abi.h"
#include "libraries/cublas/internal.h"

enum { XT_MAGIC = 0x78626c63 };
typedef struct XtHandle {
  uint32_t magic;
  int block, pinning;
} XtHandle;

static bool is_handle(const XtHandle *h) { return h && h->magic == XT_MAGIC; }

EXPORT Status cublasXtCreate(XtHandle **out) {
  if (!out) return INVALID_VALUE;
  if (warpgrind_library_services.enter()) return NOT_INITIALIZED;
  XtHandle *h = calloc(1, sizeof *h);
  if (!h) return ALLOC_FAILED;
  *h = (XtHandle){.magic = XT_MAGIC, .block = 2048};
  *out = h;
  return SUCCESS;
}
EXPORT Status cublasXtDestroy(XtHandle *h) {
  if (!is_handle(h)) return NOT_INITIALIZED;
  h->magic = 0;
  free(h);
  return SUCCESS;
}

EXPORT Status cublasXtGetNumBoards(int n, int *devices, int *boards) {
  (void)devices;
  if (!boards) return INVALID_VALUE;
  *boards = n;
  return SUCCESS;
}
EXPORT Status cublasXtMaxBoards(int *boards) {
  if (!boards) return INVALID_VALUE;
  *boards = INT_MAX;
  return SUCCESS;
}
EXPORT Status cublasXtDeviceSelect(XtHandle *h, int n, const int *devices) {
  if (!is_handle(h)) return NOT_INITIALIZED;
  return n > 0 && devices ? SUCCESS : INVALID_VALUE;
}
EXPORT Status cublasXtSetBlockDim(XtHandle *h, int block) {
  if (!is_handle(h)) return NOT_INITIALIZED;
  if (block < 1) return INVALID_VALUE;
  h->block = block;
  return SUCCESS;
}
EXPORT Status cublasXtGetBlockDim(const XtHandle *h, int *block) {
  if (!is_handle(h)) return NOT_INITIALIZED;
  *block = h->block;
  return SUCCESS;
}
EXPORT Status cublasXtSetPinningMemMode(XtHandle *h, int mode) {
  if (!is_handle(h)) return NOT_INITIALIZED;
  h->pinning = mode;
  return SUCCESS;
}
EXPORT Status cublasXtGetPinningMemMode(const XtHandle *h, int *mode) {
  if (!is_handle(h)) return NOT_INITIALIZED;
  *mode = h->pinning;
  return SUCCESS;
}

static Status multiply(const XtHandle *h, const char *name, GemmWork *g) {
  if (!is_handle(h) || warpgrind_library_services.enter()) return NOT_INITIALIZED;
  const char *wrong = gemm_scale_type(g) ? gemm_wrong(g) : "the types do not go together";
  if (wrong) return refuse(name, wrong);
  if (cuCtxSynchronize() != CUDA_SUCCESS) return EXECUTION_FAILED;
  gemm_run(g);
  return SUCCESS;
}

#define NAME(f) TEXT(PASTE(cublasXt, T, f, ))
#define FUNCTIONS_OF_A_TYPE "libraries/cublas/xt_functions.h"
#include "libraries/common/for_all_types.h"
