// A kernel of our own that runs in the program's streams (outputs.c, inputs.c, whole.c), with
// memory of the host that it writes to and zeroed memory of the device.
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
