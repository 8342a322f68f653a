#include "cli/driver_calls.h"

#include <dlfcn.h>

CliDriver cu;

bool cli_driver_open(Error *err) {
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
