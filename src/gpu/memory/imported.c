// Memory that other processes and other interfaces made. We report it to the session; otherwise
// accesses to it would count as outside of all allocations. These functions are not described in
// cuda/api.def.
#include "gpu/gpu.h"

static CUresult imported(CUresult result, uint64_t base, uint64_t size) {
  if (result != CUDA_SUCCESS || !base || !session_wants_launches()) return gpu_checked(result);
  GpuContext *c = gpu_context_current();
  size_t whole = 0;
  CUdeviceptr start = 0;
  if (!size && gpu_real.cuMemGetAddressRange_v2 &&
      gpu_real.cuMemGetAddressRange_v2(&start, &whole, base) == CUDA_SUCCESS && start == base)
    size = whole;
  if (!size) return result;
  session_alloc(base, size, SESSION_IMPORTED, c ? c->device : 0, NULL);
  gpu_owned_add(c, base, size, SESSION_IMPORTED);
  return result;
}

typedef CUresult OpenIpc(CUdeviceptr *, GpuIpcHandle, unsigned);

CUresult gpu_cuIpcOpenMemHandle(CUdeviceptr *p, GpuIpcHandle handle, unsigned flags) {
  CUresult result = ((OpenIpc *)gpu_real.cuIpcOpenMemHandle)(p, handle, flags);
  return imported(result, result == CUDA_SUCCESS ? *p : 0, 0);
}
CUresult gpu_cuIpcOpenMemHandle_v2(CUdeviceptr *p, GpuIpcHandle handle, unsigned flags) {
  CUresult result = ((OpenIpc *)gpu_real.cuIpcOpenMemHandle_v2)(p, handle, flags);
  return imported(result, result == CUDA_SUCCESS ? *p : 0, 0);
}

CUresult gpu_cuIpcCloseMemHandle(CUdeviceptr p) {
  bool known = session_wants_launches() && session_frees(p, SESSION_BIT(IMPORTED));
  if (known) session_free(p);
  CUresult result = ((CUresult(*)(CUdeviceptr))gpu_real.cuIpcCloseMemHandle)(p);
  if (known && result == CUDA_SUCCESS) gpu_owned_remove(p);
  else if (known) session_revive(p);
  return gpu_checked(result);
}

// Its arguments: an offset, a size, and fields that do not matter here.
CUresult gpu_cuExternalMemoryGetMappedBuffer(CUdeviceptr *p, void *memory,
                                             const uint64_t *offset_and_size) {
  CUresult result = ((CUresult(*)(CUdeviceptr *, void *, const uint64_t *))
                         gpu_real.cuExternalMemoryGetMappedBuffer)(p, memory, offset_and_size);
  return result == CUDA_SUCCESS ? imported(result, *p, offset_and_size[1]) : gpu_checked(result);
}

CUresult gpu_cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *p, size_t *size, void *resource) {
  CUresult result = ((CUresult(*)(CUdeviceptr *, size_t *,
                                  void *))gpu_real.cuGraphicsResourceGetMappedPointer_v2)(p, size,
                                                                                          resource);
  return result == CUDA_SUCCESS ? imported(result, *p, size ? *size : 0) : gpu_checked(result);
}

CUresult gpu_cuMemPoolImportPointer(CUdeviceptr *p, CUmemoryPool pool, void *data) {
  CUresult result = ((CUresult(*)(CUdeviceptr *, CUmemoryPool,
                                  void *))gpu_real.cuMemPoolImportPointer)(p, pool, data);
  return imported(result, result == CUDA_SUCCESS ? *p : 0, 0);
}
