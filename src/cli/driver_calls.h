// The driver's functions, for parts of the command that run on a device (replay.c, calculate.c).
// They run under Warpgrind like any other program.
#ifndef WG_CLI_DRIVER_CALLS_H
#define WG_CLI_DRIVER_CALLS_H

#include "base/base.h"
#include "cuda/abi.h"

// clang-format off
#define CLI_DRIVER_FUNCTIONS(X) \
  X(cuInit, , (unsigned)) \
  X(cuDeviceGet, , (CUdevice *, int)) \
  X(cuDeviceGetName, , (char *, int, CUdevice)) \
  X(cuDevicePrimaryCtxRetain, , (CUcontext *, CUdevice)) \
  X(cuCtxSetCurrent, , (CUcontext)) \
  X(cuCtxSynchronize, , (void)) \
  X(cuGetErrorString, , (CUresult, const char **)) \
  X(cuModuleLoadData, , (CUmodule *, const void *)) \
  X(cuModuleUnload, , (CUmodule)) \
  X(cuModuleGetFunction, , (CUfunction *, CUmodule, const char *)) \
  X(cuModuleGetGlobal, _v2, (CUdeviceptr *, size_t *, CUmodule, const char *)) \
  X(cuMemAlloc, _v2, (CUdeviceptr *, size_t)) \
  X(cuMemcpyHtoD, _v2, (CUdeviceptr, const void *, size_t)) \
  X(cuMemcpyDtoH, _v2, (void *, CUdeviceptr, size_t)) \
  X(cuFuncSetAttribute, , (CUfunction, CUfunction_attribute, int)) \
  X(cuLaunchKernelEx, , (const CUlaunchConfig *, CUfunction, void **, void **)) \
  X(cuLinkCreate, _v2, (unsigned, CUjit_option *, void **, CUlinkState *)) \
  X(cuLinkAddData, _v2, (CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, \
    CUjit_option *, void **)) \
  X(cuLinkComplete, , (CUlinkState, void **, size_t *)) \
  X(cuMemAddressReserve, , (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long)) \
  X(cuMemAddressFree, , (CUdeviceptr, size_t)) \
  X(cuMemCreate, , (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, \
    unsigned long long)) \
  X(cuMemMap, , (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long \
    long)) \
  X(cuMemUnmap, , (CUdeviceptr, size_t)) \
  X(cuMemRelease, , (CUmemGenericAllocationHandle)) \
  X(cuMemSetAccess, , (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t)) \
  X(cuMemGetAllocationGranularity, , (size_t *, const CUmemAllocationProp *, \
    CUmemAllocationGranularity_flags))
// clang-format on

typedef struct CliDriver {
#define X(name, version, params) CUresult(*name) params;
  CLI_DRIVER_FUNCTIONS(X)
#undef X
} CliDriver;
extern CliDriver cu;  // filled in by cli_driver_start

// Loads the library, and makes the first device's context current on this thread.
bool cli_driver_start(CUdevice *device, Error *err);
// false: err is `what` and the driver's text
bool cli_driver_worked(CUresult result, const char *what, Error *err);
// For functions that return false and set an Error *err.
#define CLI_DRIVER_DO(call, what) \
  do { \
    if (!cli_driver_worked(cu.call, what, err)) return false; \
  } while (0)

#endif
