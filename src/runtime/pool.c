// Stream-ordered allocation and memory pools. Pool structures have the same layout in both
// interfaces.
#include "runtime/internal.h"

#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))

cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream) {
  RT_ENTER();
  if (!out) return rt_return(cudaErrorInvalidValue);
  CUdeviceptr p = 0;
  cudaError_t e = size ? rt_result(cuMemAllocAsync(&p, size, stream)) : cudaSuccess;
  *out = (void *)(uintptr_t)p;
  return rt_return(e);
}

cudaError_t cudaMallocFromPoolAsync(void **out, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  RT_ENTER();
  if (!out) return rt_return(cudaErrorInvalidValue);
  CUdeviceptr p = 0;
  cudaError_t e = rt_result(cuMemAllocFromPoolAsync(&p, size, pool, stream));
  *out = (void *)(uintptr_t)p;
  return rt_return(e);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) {
  RT_ENTER();
  return p ? rt_done(cuMemFreeAsync(PTR(p), stream)) : cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props) {
  RT_ENTER();
  return rt_done(cuMemPoolCreate(pool, (const CUmemPoolProps *)props));
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  RT_ENTER();
  return rt_done(cuMemPoolDestroy(pool));
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  RT_ENTER();
  return rt_done(cuMemPoolTrimTo(pool, keep));
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value) {
  RT_ENTER();
  return rt_done(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value) {
  RT_ENTER();
  return rt_done(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list, size_t n) {
  RT_ENTER();
  return rt_done(cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)list, n));
}
cudaError_t cudaMemPoolGetAccess(int *flags, cudaMemPool_t pool, cudaMemLocation *where) {
  RT_ENTER();
  return rt_done(cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, (CUmemLocation *)where));
}
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, cudaMemLocation *where, int type) {
  RT_ENTER();
  return rt_done(cuMemGetDefaultMemPool(pool, (CUmemLocation *)where, (CUmemAllocationType)type));
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, cudaMemLocation *where, int type) {
  RT_ENTER();
  return rt_done(cuMemGetMemPool(pool, (CUmemLocation *)where, (CUmemAllocationType)type));
}
cudaError_t cudaMemSetMemPool(cudaMemLocation *where, int type, cudaMemPool_t pool) {
  RT_ENTER();
  return rt_done(cuMemSetMemPool((CUmemLocation *)where, (CUmemAllocationType)type, pool));
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  RT_ENTER();
  return rt_done(cuDeviceGetDefaultMemPool(pool, device));
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  RT_ENTER();
  return rt_done(cuDeviceGetMemPool(pool, device));
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  RT_ENTER();
  return rt_done(cuDeviceSetMemPool(device, pool));
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value) {
  RT_ENTER();
  return rt_done(cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value));
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value) {
  RT_ENTER();
  return rt_done(cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value));
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
  RT_ENTER();
  return rt_done(cuDeviceGraphMemTrim(device));
}
