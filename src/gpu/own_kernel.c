// A kernel of our own that runs in the program's streams (hash_buffers.c, changed_pages.c, those of
// tools), with memory of the host that it writes to and zeroed memory of the device.
#include <sys/mman.h>

#include "gpu/own_kernel.h"

bool gpu_own_kernel_load(GpuOwnKernel *k, const GpuContext *c, const char *text, const char *name,
                         size_t host_bytes, size_t device_bytes) {
  int processors = 0;
  void *memory = mmap(NULL, host_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  k->host = memory;
  bool ok = gpu_real.cuMemHostRegister_v2(memory, host_bytes, CU_MEMHOSTREGISTER_DEVICEMAP) ==
                CUDA_SUCCESS &&
            gpu_real.cuMemHostGetDevicePointer_v2(&k->host_at, memory, 0) == CUDA_SUCCESS &&
            gpu_real.cuModuleLoadData(&k->module, text) == CUDA_SUCCESS &&
            gpu_real.cuModuleGetFunction(&k->function, k->module, name) == CUDA_SUCCESS &&
            gpu_real.cuMemAlloc_v2(&k->device, device_bytes) == CUDA_SUCCESS &&
            gpu_real.cuMemsetD8Async(k->device, 0, device_bytes, c->stream) == CUDA_SUCCESS &&
            gpu_real.cuStreamSynchronize(c->stream) == CUDA_SUCCESS &&
            gpu_real.cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                          c->device) == CUDA_SUCCESS;
  k->processors = (unsigned)MAX(processors, 1);
  // else its first launch would take milliseconds, in the midst of the program's
  if (ok && gpu_real.cuFuncLoad) gpu_real.cuFuncLoad(k->function);
  return ok;
}

bool gpu_own_kernel_load_for_tool(void *context, const char *ptx, const char *name,
                                  SessionOwnKernel *k) {
  GpuContext *c = context;
  GpuOwnKernel own = {0};
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && c->stream &&
            gpu_own_kernel_load(&own, c, ptx, name, k->host_bytes, k->device_bytes);
  gpu_context_leave(e);
  k->function = own.function;
  k->host = own.host;
  k->host_at = own.host_at;
  k->device = own.device;
  k->processors = own.processors;
  return ok;
}

bool gpu_own_kernel_launch(void *context, const void *stream, const SessionOwnKernel *k,
                           unsigned blocks, unsigned threads, void **params) {
  GpuContext *c = context;
  if (atomic_load(&c->faulted)) return false;
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok &&
            gpu_real.cuLaunchKernel(k->function, blocks, 1, 1, threads, 1, 1, 0,
                                    (CUstream)(uintptr_t)stream, params, NULL) == CUDA_SUCCESS;
  gpu_context_leave(e);
  return ok;
}
