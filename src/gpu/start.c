// Opens the real driver.
#define _GNU_SOURCE

#include "gpu/gpu.h"

#include "gpu/find.h"

#include <dlfcn.h>

GpuReal gpu_real;
static void *handle;

static const char *const names[] = {
#define API(base, suffix, since, types) #base #suffix,
#define SAME(base, suffix, since, target, params, args) #base #suffix,
#define PER_THREAD(base, suffix, kind, since, params, args) #base #suffix #kind,
#define NONE(base, suffix, kind, since) #base #suffix #kind,
#include "cuda/api.def"
};

// DEEPBIND: the driver's calls of its own exported functions must stay inside it. The address
// sanitizer refuses the flag.
#ifdef WARPGRIND_SANITIZER_RUNTIME
enum { HOW = RTLD_NOW | RTLD_LOCAL };
#else
enum { HOW = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND };
#endif

static bool open_driver(const char *path, Error *err) {
  void *opened = dlopen(path, HOW);
  if (!opened) return error_set(err, "%s could not be loaded: %s.", path, dlerror());
  Dl_info ours, theirs;
  void *init = dlsym(opened, "cuInit");
  if (!init) return error_set(err, "%s is not a CUDA driver: it has no function cuInit.", path);
  if (dladdr((void *)gpu_start, &ours) && dladdr(init, &theirs) &&
      ours.dli_fbase == theirs.dli_fbase)
    return error_set(err, "%s is Warpgrind's own library, not the real driver.", path);
  handle = opened;
  return true;
}

// Names a function that our own calls need and the driver lacks; NULL: none. CUDA 11 has all of
// them. If one is missing, we only pass calls on.
static const char *missing_function(void) {
#define NEEDED(name) \
  if (!gpu_real.name) return #name
  NEEDED(cuCtxGetCurrent);
  NEEDED(cuCtxSetCurrent);
  NEEDED(cuCtxPushCurrent_v2);
  NEEDED(cuCtxPopCurrent_v2);
  NEEDED(cuCtxGetDevice);
  NEEDED(cuCtxSynchronize);
  NEEDED(cuDeviceGetAttribute);
  NEEDED(cuDevicePrimaryCtxGetState);
  NEEDED(cuDevicePrimaryCtxRetain);
  NEEDED(cuDevicePrimaryCtxRelease_v2);
  NEEDED(cuGetErrorName);
  NEEDED(cuGetErrorString);
  NEEDED(cuMemAlloc_v2);
  NEEDED(cuMemFree_v2);
  NEEDED(cuMemHostRegister_v2);
  NEEDED(cuMemHostUnregister);
  NEEDED(cuMemHostGetDevicePointer_v2);
  NEEDED(cuMemsetD8Async);
  NEEDED(cuMemcpyDtoHAsync_v2);
  NEEDED(cuStreamCreate);
  NEEDED(cuStreamSynchronize);
  NEEDED(cuModuleLoadDataEx);
  NEEDED(cuModuleGetFunction);
  NEEDED(cuModuleUnload);
  NEEDED(cuDeviceGet);
#undef NEEDED
  return NULL;
}

bool gpu_start(void **table, Error *err) {
  Str path = {0};
  bool ok = gpu_find_driver(&path, err) && open_driver(path.data, err);
  if (ok) {
    void **real = (void **)&gpu_real;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) real[i] = dlsym(handle, names[i]);
    const char *missing = missing_function();
    if (missing)
      log_line("%s is too old to work with (it has no %s): kernels run unchanged and unchecked",
               path.data, missing);
    gpu_wrappers_install(table, !missing);
    int version = 0;
    if (gpu_real.cuDriverGetVersion) gpu_real.cuDriverGetVersion(&version);
    log_verbose("real driver: %s, CUDA %d.%d", path.data, version / 1000, version % 1000 / 10);
  }
  str_free(&path);
  return ok;
}
