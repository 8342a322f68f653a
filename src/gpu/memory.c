// Allocations: the session is told of them, nothing is changed. An allocation is told after it was made and a free before it is
// done, so that an address that is handed out again at once is told in the right order.
#include "gpu/gpu.h"

static CUresult made(CUresult result, uint64_t base, uint64_t size, SessionMemoryKind kind) {
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  if (!session_wants_launches()) return result;
  GpuContext *c = gpu_context_current();
  session_alloc(base, size, kind, c ? c->device : 0, NULL);
  return result;
}

static void goes(uint64_t base) {
  if (base) session_free(base);
}

// --- device memory ---

CUresult gpu_cuMemAlloc_v2(CUdeviceptr *p, size_t size) {
  CUresult result = gpu_real.cuMemAlloc_v2(p, size);
  return made(result, result == CUDA_SUCCESS ? *p : 0, size, SESSION_DEVICE);
}

CUresult gpu_cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element) {
  CUresult result = gpu_real.cuMemAllocPitch_v2(p, pitch, width, height, element);
  return result == CUDA_SUCCESS ? made(result, *p, *pitch * height, SESSION_DEVICE) : gpu_checked(result);
}

CUresult gpu_cuMemAllocManaged(CUdeviceptr *p, size_t size, unsigned flags) {
  CUresult result = gpu_real.cuMemAllocManaged(p, size, flags);
  return made(result, result == CUDA_SUCCESS ? *p : 0, size, SESSION_MANAGED);
}

CUresult gpu_cuMemFree_v2(CUdeviceptr p) {
  goes(p);
  return gpu_checked(gpu_real.cuMemFree_v2(p));
}

#define POOLS(suffix) \
  CUresult gpu_cuMemAllocAsync##suffix(CUdeviceptr *p, size_t size, CUstream stream) { \
    CUresult result = gpu_real.cuMemAllocAsync##suffix(p, size, stream); \
    return made(result, result == CUDA_SUCCESS ? *p : 0, size, SESSION_POOL); \
  } \
  CUresult gpu_cuMemAllocFromPoolAsync##suffix(CUdeviceptr *p, size_t size, CUmemoryPool pool, CUstream stream) { \
    CUresult result = gpu_real.cuMemAllocFromPoolAsync##suffix(p, size, pool, stream); \
    return made(result, result == CUDA_SUCCESS ? *p : 0, size, SESSION_POOL); \
  } \
  CUresult gpu_cuMemFreeAsync##suffix(CUdeviceptr p, CUstream stream) { \
    goes(p); \
    return gpu_checked(gpu_real.cuMemFreeAsync##suffix(p, stream)); \
  }
POOLS()
POOLS(_ptsz)

CUresult gpu_cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUDA_MEM_ALLOC_NODE_PARAMS *p) {
  CUresult result = gpu_real.cuGraphAddMemAllocNode(node, g, after, n, p);
  return result == CUDA_SUCCESS ? made(result, p->dptr, p->bytesize, SESSION_POOL) : gpu_checked(result);
}

// --- host memory ---

CUresult gpu_cuMemAllocHost_v2(void **p, size_t size) {
  CUresult result = gpu_real.cuMemAllocHost_v2(p, size);
  return made(result, result == CUDA_SUCCESS ? (uintptr_t)*p : 0, size, SESSION_PINNED);
}

CUresult gpu_cuMemHostAlloc(void **p, size_t size, unsigned flags) {
  CUresult result = gpu_real.cuMemHostAlloc(p, size, flags);
  return made(result, result == CUDA_SUCCESS ? (uintptr_t)*p : 0, size, SESSION_PINNED);
}

CUresult gpu_cuMemFreeHost(void *p) {
  goes((uintptr_t)p);
  return gpu_checked(gpu_real.cuMemFreeHost(p));
}

CUresult gpu_cuMemHostRegister_v2(void *p, size_t size, unsigned flags) {
  return made(gpu_real.cuMemHostRegister_v2(p, size, flags), (uintptr_t)p, size, SESSION_PINNED);
}

CUresult gpu_cuMemHostRegister(void *p, size_t size, unsigned flags) {
  return made(gpu_real.cuMemHostRegister(p, size, flags), (uintptr_t)p, size, SESSION_PINNED);
}

CUresult gpu_cuMemHostUnregister(void *p) {
  goes((uintptr_t)p);
  return gpu_checked(gpu_real.cuMemHostUnregister(p));
}

// --- virtual memory: what is mapped counts, where it is reserved does not ---

CUresult gpu_cuMemMap(CUdeviceptr p, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return made(gpu_real.cuMemMap(p, size, offset, handle, flags), p, size, SESSION_VIRTUAL);
}

CUresult gpu_cuMemUnmap(CUdeviceptr p, size_t size) {
  goes(p);
  return gpu_checked(gpu_real.cuMemUnmap(p, size));
}

// --- arrays: the handle stands for the address ---

static size_t format_bytes(CUarray_format f) {
  switch (f) {
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 1;
  }
}

static uint64_t array_bytes(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels) {
  return (uint64_t)width * MAX(height, 1) * MAX(depth, 1) * channels * format_bytes(format);
}

CUresult gpu_cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d) {
  CUresult result = gpu_real.cuArrayCreate_v2(out, d);
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  gpu_array_made(*out, d->Width, d->Height, 1, d->Format, d->NumChannels);
  return made(result, (uintptr_t)*out, array_bytes(d->Width, d->Height, 1, d->Format, d->NumChannels), SESSION_ARRAY);
}

CUresult gpu_cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d) {
  CUresult result = gpu_real.cuArray3DCreate_v2(out, d);
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  gpu_array_made(*out, d->Width, d->Height, d->Depth, d->Format, d->NumChannels);
  return made(result, (uintptr_t)*out, array_bytes(d->Width, d->Height, d->Depth, d->Format, d->NumChannels), SESSION_ARRAY);
}

CUresult gpu_cuArrayDestroy(CUarray a) {
  session_array_gone((uintptr_t)a);
  goes((uintptr_t)a);
  return gpu_checked(gpu_real.cuArrayDestroy(a));
}

CUresult gpu_cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels) {
  CUresult result = gpu_real.cuMipmappedArrayCreate(out, d, levels);
  if (result != CUDA_SUCCESS) return gpu_checked(result);
  uint64_t bytes = 0;
  for (unsigned i = 0; i < MIN(levels, 31u); i++)
    bytes += array_bytes(MAX(d->Width >> i, 1), d->Height >> i, d->Depth >> i, d->Format, d->NumChannels);
  return made(result, (uintptr_t)*out, bytes, SESSION_ARRAY);
}

CUresult gpu_cuMipmappedArrayDestroy(CUmipmappedArray a) {
  goes((uintptr_t)a);
  return gpu_checked(gpu_real.cuMipmappedArrayDestroy(a));
}
