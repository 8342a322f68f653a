#ifndef WG_GPU_OWN_KERNEL_H
#define WG_GPU_OWN_KERNEL_H

#include "gpu/gpu.h"

typedef struct GpuOwnKernel {
  CUmodule module;
  CUfunction function;
  void *host;
  CUdeviceptr host_at;  // the device sees it at host_at
  CUdeviceptr device;
  unsigned processors;
} GpuOwnKernel;

// In the context, before the program's first launch: to load a kernel later would wait for kernels
// that run.
bool gpu_own_kernel_load(GpuOwnKernel *k, const GpuContext *c, const char *text, const char *name,
                         size_t host_bytes, size_t device_bytes);

// SessionDeviceOps: the same for tools
bool gpu_own_kernel_load_for_tool(void *context, const char *ptx, const char *name,
                                  SessionOwnKernel *k);
bool gpu_own_kernel_launch(void *context, const void *stream, const SessionOwnKernel *k,
                           unsigned blocks, unsigned threads, void **params);

#endif
