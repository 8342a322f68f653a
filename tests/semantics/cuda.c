#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef uint64_t CUdeviceptr;
#define FUNCTIONS \
  F(cuInit, (unsigned)) \
  F(cuDeviceGet, (int *, int)) \
  F(cuDeviceGetName, (char *, int, int)) \
  F(cuDevicePrimaryCtxRetain, (void **, int)) \
  F(cuDevicePrimaryCtxReset, (int)) \
  F(cuDevicePrimaryCtxRelease, (int)) \
  F(cuCtxSetCurrent, (void *)) \
  F(cuCtxSynchronize, (void)) \
  F(cuModuleLoadDataEx, (void **, const void *, unsigned, int *, void **)) \
  F(cuModuleUnload, (void *)) \
  F(cuModuleGetFunction, (void **, void *, const char *)) \
  F(cuMemAlloc, (CUdeviceptr *, size_t)) \
  F(cuMemcpyHtoD, (CUdeviceptr, const void *, size_t)) \
  F(cuMemcpyDtoH, (void *, CUdeviceptr, size_t)) \
  F(cuMemsetD8, (CUdeviceptr, unsigned char, size_t)) \
  F(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     void *, void **, void **)) \
  F(cuGetErrorName, (CUresult, const char **))
#define F(name, args) static CUresult (*name) args;
FUNCTIONS
#undef F

enum { BUFFER_BYTES = 1 << 20 };
static int device;
static CUdeviceptr buffer_in, buffer_out;
static char device_name[128];

static const char *error_name(CUresult r) {
  const char *s = NULL;
  return cuGetErrorName(r, &s) == 0 && s ? s : "unknown error";
}

static bool open_context(void) {
  void *context;
  CUresult r;
  if ((r = cuDevicePrimaryCtxRetain(&context, device)) || (r = cuCtxSetCurrent(context)) ||
      (r = cuMemAlloc(&buffer_in, BUFFER_BYTES)) || (r = cuMemAlloc(&buffer_out, BUFFER_BYTES))) {
    fprintf(stderr, "semantics: no context: %s\n", error_name(r));
    return false;
  }
  return true;
}

bool cuda_open(const char *library) {
  void *lib = dlopen(library, RTLD_NOW);
  if (!lib) {
    fprintf(stderr, "semantics: %s\n", dlerror());
    return false;
  }
  char name[64];
#define F(fn, args) \
  snprintf(name, sizeof name, "%s_v2", #fn); \
  /* cuCtxSynchronize_v2 is another function: it takes a context */ \
  *(void **)&fn = strcmp(#fn, "cuCtxSynchronize") ? dlsym(lib, name) : NULL; \
  if (!fn) *(void **)&fn = dlsym(lib, #fn); \
  if (!fn) { \
    fprintf(stderr, "semantics: %s has no %s\n", library, #fn); \
    return false; \
  }
  FUNCTIONS
#undef F
  CUresult r;
  if ((r = cuInit(0)) || (r = cuDeviceGet(&device, 0)) ||
      (r = cuDeviceGetName(device_name, sizeof device_name, device))) {
    fprintf(stderr, "semantics: no device: %s\n", error_name(r));
    return false;
  }
  return open_context();
}

const char *cuda_device_name(void) { return device_name; }

CudaModule *cuda_load(const char *ptx, char *log, size_t log_size) {
  static char jit_log[4096];
  int options[] = {5, 6};                    // error log buffer, its size
  void *values[] = {jit_log, (void *)sizeof jit_log};
  jit_log[0] = 0;
  void *m = NULL;
  CUresult r = cuModuleLoadDataEx(&m, ptx, 2, options, values);
  if (r) {
    snprintf(log, log_size, "%s: %s", error_name(r), jit_log);
    return NULL;
  }
  return m;
}

void cuda_unload(CudaModule *m) {
  if (m) cuModuleUnload(m);
}

bool cuda_run(CudaModule *m, const char *name, const void *in, size_t in_bytes, void *out,
              size_t out_bytes, uint32_t n, char *log, size_t log_size) {
  void *function;
  CUresult r = cuModuleGetFunction(&function, m, name);
  if (r) {
    snprintf(log, log_size, "no kernel %s: %s", name, error_name(r));
    return false;
  }
  if (in_bytes > BUFFER_BYTES || out_bytes > BUFFER_BYTES) abort();
  void *args[] = {&buffer_in, &buffer_out, &n};
  if ((r = cuMemcpyHtoD(buffer_in, in, in_bytes)) || (r = cuMemsetD8(buffer_out, 0, out_bytes)) ||
      (r = cuLaunchKernel(function, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, args, NULL)) ||
      (r = cuCtxSynchronize()) || (r = cuMemcpyDtoH(out, buffer_out, out_bytes))) {
    snprintf(log, log_size, "%s", error_name(r));
    cuDevicePrimaryCtxReset(device);
    cuDevicePrimaryCtxRelease(device);
    if (!open_context()) exit(2);
    return false;
  }
  return true;
}
