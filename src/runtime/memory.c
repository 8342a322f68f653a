// Allocation of memory and queries about it. Arrays are in array.c, pools in pool.c.
#include "runtime/internal.h"

#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))
#define VOID_PTR(p) ((void *)(uintptr_t)(p))

cudaError_t cudaMalloc(void **out, size_t size) {
  RT_ENTER();
  if (!out) return rt_return(cudaErrorInvalidValue);
  CUdeviceptr p = 0;
  // no bytes: success and NULL
  cudaError_t e = size ? rt_result(cuMemAlloc_v2(&p, size)) : cudaSuccess;
  *out = VOID_PTR(p);
  return rt_return(e);
}

cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags) {
  RT_ENTER();
  if (!out) return rt_return(cudaErrorInvalidValue);
  CUdeviceptr p = 0;
  cudaError_t e = rt_result(cuMemAllocManaged(&p, size, flags));
  if (!e) *out = VOID_PTR(p);
  return rt_return(e);
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
  RT_ENTER();
  if (!out || !pitch) return rt_return(cudaErrorInvalidValue);
  CUdeviceptr p = 0;
  *pitch = 0;
  cudaError_t e = width && height ? rt_result(cuMemAllocPitch_v2(&p, pitch, width, height, 4))
                                  : cudaSuccess;
  *out = VOID_PTR(p);
  return rt_return(e);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *out, cudaExtent extent) {
  if (!out) return rt_return(cudaErrorInvalidValue);
  if (extent.depth && extent.height > SIZE_MAX / extent.depth)
    return rt_return(cudaErrorMemoryAllocation);
  void *p;
  size_t pitch;
  cudaError_t e = cudaMallocPitch(&p, &pitch, extent.width, extent.height * extent.depth);
  if (!e) *out = (cudaPitchedPtr){p, pitch, extent.width, extent.height};
  return e;
}

cudaError_t cudaFree(void *p) {
  RT_ENTER();  // cudaFree(0) is the customary way to make the context
  return p ? rt_done(cuMemFree_v2(PTR(p))) : cudaSuccess;
}

// --- host memory ---

cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags) {
  RT_ENTER();
  if (!out) return rt_return(cudaErrorInvalidValue);
  *out = NULL;
  return size ? rt_done(cuMemHostAlloc(out, size, flags)) : cudaSuccess;
}

cudaError_t cudaMallocHost(void **out, size_t size) {
  return cudaHostAlloc(out, size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

cudaError_t cudaFreeHost(void *p) {
  RT_ENTER();
  return p ? rt_done(cuMemFreeHost(p)) : cudaSuccess;
}

cudaError_t cudaHostRegister(void *p, size_t size, unsigned flags) {
  RT_ENTER();
  return rt_done(cuMemHostRegister_v2(p, size, flags));
}

cudaError_t cudaHostUnregister(void *p) {
  RT_ENTER();
  return rt_done(cuMemHostUnregister(p));
}

cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags) {
  RT_ENTER();
  if (!out) return rt_return(cudaErrorInvalidValue);
  CUdeviceptr p = 0;
  cudaError_t e = rt_result(cuMemHostGetDevicePointer_v2(&p, host, flags));
  *out = VOID_PTR(p);
  return rt_return(e);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
  RT_ENTER();
  return rt_done(cuMemHostGetFlags(flags, host));
}

// --- questions ---

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  RT_ENTER();
  return rt_done(cuMemGetInfo_v2(available, total));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *out, const void *ptr) {
  RT_ENTER();
  if (!out) return rt_return(cudaErrorInvalidValue);
  unsigned type = 0;
  int managed = 0, device = 0;
  CUdeviceptr on_device = 0;
  void *on_host = NULL;
  if (!ptr ||
      cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, PTR(ptr)) != CUDA_SUCCESS ||
      !type) {
    *out = (cudaPointerAttributes){cudaMemoryTypeUnregistered, cudaInvalidDeviceId, NULL,
                                   (void *)ptr};
    return cudaSuccess;
  }
  cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, PTR(ptr));
  cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, PTR(ptr));
  cuPointerGetAttribute(&on_device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, PTR(ptr));
  cuPointerGetAttribute(&on_host, CU_POINTER_ATTRIBUTE_HOST_POINTER, PTR(ptr));
  if (managed)
    *out = (cudaPointerAttributes){cudaMemoryTypeManaged, device, (void *)ptr, (void *)ptr};
  else if (type == CU_MEMORYTYPE_HOST)
    *out = (cudaPointerAttributes){cudaMemoryTypeHost, device, VOID_PTR(on_device), on_host};
  else *out = (cudaPointerAttributes){cudaMemoryTypeDevice, device, VOID_PTR(on_device), NULL};
  return cudaSuccess;
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, int attribute, const void *ptr,
                                     size_t count) {
  RT_ENTER();
  return rt_done(
      cuMemRangeGetAttribute(data, size, (CUmem_range_attribute)attribute, PTR(ptr), count));
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, int *attributes, size_t n,
                                      const void *ptr, size_t count) {
  RT_ENTER();
  return rt_done(cuMemRangeGetAttributes(data, sizes, (CUmem_range_attribute *)attributes, n,
                                         PTR(ptr), count));
}

// --- advice and prefetching; toolkit 12 names a device where toolkit 13 names a location ---

static CUmemLocation location(cudaMemLocation l) {
  return (CUmemLocation){(CUmemLocationType)l.type, l.id};
}

cudaError_t cudaMemAdvise_abi12(const void *ptr, size_t count, int advice, int device) {
  RT_ENTER();
  return rt_done(cuMemAdvise(PTR(ptr), count, (CUmem_advise)advice, device));
}
cudaError_t cudaMemAdvise_v2(const void *ptr, size_t count, int advice, cudaMemLocation l) {
  RT_ENTER();
  return rt_done(cuMemAdvise_v2(PTR(ptr), count, (CUmem_advise)advice, location(l)));
}
cudaError_t cudaMemAdvise_abi13(const void *ptr, size_t count, int advice, cudaMemLocation l) {
  return cudaMemAdvise_v2(ptr, count, advice, l);
}

cudaError_t cudaMemPrefetchAsync_abi12(const void *ptr, size_t count, int device,
                                       cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemPrefetchAsync(PTR(ptr), count, device, stream));
}
cudaError_t cudaMemPrefetchAsync_ptsz_abi12(const void *ptr, size_t count, int device,
                                            cudaStream_t stream) {
  return cudaMemPrefetchAsync_abi12(ptr, count, device, STREAM_PTSZ(stream));
}
cudaError_t cudaMemPrefetchAsync_v2(const void *ptr, size_t count, cudaMemLocation l,
                                    unsigned flags, cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemPrefetchAsync_v2(PTR(ptr), count, location(l), flags, stream));
}
cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *ptr, size_t count, cudaMemLocation l,
                                         unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync_v2(ptr, count, l, flags, STREAM_PTSZ(stream));
}
cudaError_t cudaMemPrefetchAsync_abi13(const void *ptr, size_t count, cudaMemLocation l,
                                       unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync_v2(ptr, count, l, flags, stream);
}
cudaError_t cudaMemPrefetchAsync_ptsz_abi13(const void *ptr, size_t count, cudaMemLocation l,
                                            unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync_v2(ptr, count, l, flags, STREAM_PTSZ(stream));
}

cudaError_t cudaMemPrefetchBatchAsync(void **ptrs, size_t *sizes, size_t count,
                                      cudaMemLocation *locations, size_t *indices, size_t n,
                                      unsigned long long flags, cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemPrefetchBatchAsync((CUdeviceptr *)ptrs, sizes, count,
                                         (CUmemLocation *)locations, indices, n, flags, stream));
}
cudaError_t cudaMemDiscardBatchAsync(void **ptrs, size_t *sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemDiscardBatchAsync((CUdeviceptr *)ptrs, sizes, count, flags, stream));
}
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **ptrs, size_t *sizes, size_t count,
                                                cudaMemLocation *locations, size_t *indices,
                                                size_t n, unsigned long long flags,
                                                cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemDiscardAndPrefetchBatchAsync(
      (CUdeviceptr *)ptrs, sizes, count, (CUmemLocation *)locations, indices, n, flags, stream));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *ptr, size_t length,
                                     unsigned flags) {
  RT_ENTER();
  return rt_done(cuStreamAttachMemAsync(stream, PTR(ptr), length, flags));
}
