#include "cli/driver_calls.h"

#include <dlfcn.h>

CliDriver cu;

static bool open_library(Error *err) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library) return error_set(err, "%s", dlerror());
#define X(name, version, params) \
  *(void **)&cu.name = dlsym(library, #name #version); \
  if (!cu.name) return error_set(err, "the driver has no " #name);
  CLI_DRIVER_FUNCTIONS(X)
#undef X
  return true;
}

bool cli_driver_worked(CUresult result, const char *what, Error *err) {
  const char *text = NULL;
  if (result == CUDA_SUCCESS) return true;
  cu.cuGetErrorString(result, &text);
  return error_set(err, "%s: %s", what, text ? text : "unknown error");
}

bool cli_driver_start(CUdevice *device, Error *err) {
  CUcontext context;
  if (!open_library(err)) return false;
  CLI_DRIVER_DO(cuInit(0), "CUDA cannot be used");
  CLI_DRIVER_DO(cuDeviceGet(device, 0), "there is no device");
  CLI_DRIVER_DO(cuDevicePrimaryCtxRetain(&context, *device), "there is no context");
  CLI_DRIVER_DO(cuCtxSetCurrent(context), "there is no context");
  return true;
}
