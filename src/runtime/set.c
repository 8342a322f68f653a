// Filling memory with a byte.
#include "runtime/internal.h"

#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))

static cudaError_t finish(CUresult r, RtQueue q) {
  if (r == CUDA_SUCCESS && q.sync) r = cuStreamSynchronize(q.stream);
  return rt_done(r);
}

static cudaError_t set(void *p, int value, size_t n, RtQueue q) {
  RT_ENTER();
  if (!n) return cudaSuccess;
  if (!p) return rt_return(cudaErrorInvalidValue);
  if (q.sync && !q.stream) return rt_done(cuMemsetD8_v2(PTR(p), (unsigned char)value, n));
  return finish(cuMemsetD8Async(PTR(p), (unsigned char)value, n, q.stream), q);
}

static cudaError_t set2d(void *p, size_t pitch, int value, size_t width, size_t height, RtQueue q) {
  RT_ENTER();
  if (!width || !height) return cudaSuccess;
  if (!p) return rt_return(cudaErrorInvalidValue);
  if (q.sync && !q.stream)
    return rt_done(cuMemsetD2D8_v2(PTR(p), pitch, (unsigned char)value, width, height));
  return finish(cuMemsetD2D8Async(PTR(p), pitch, (unsigned char)value, width, height, q.stream), q);
}

static cudaError_t set3d(cudaPitchedPtr p, int value, cudaExtent extent, RtQueue q) {
  if (!extent.width || !extent.height || !extent.depth) return cudaSuccess;
  if (extent.height == p.ysize || extent.depth == 1)  // slices follow each other: one rectangle
    return set2d(p.ptr, p.pitch, value, extent.width, extent.height * extent.depth, q);
  for (size_t z = 0; z < extent.depth; z++) {
    cudaError_t e = set2d((char *)p.ptr + z * p.pitch * p.ysize, p.pitch, value, extent.width,
                          extent.height, q);
    if (e) return e;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset(void *p, int value, size_t n) { return set(p, value, n, RT_SYNC); }
cudaError_t cudaMemset_ptds(void *p, int value, size_t n) {
  return set(p, value, n, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream) {
  return set(p, value, n, RT_ASYNC(stream));
}
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t w, size_t h) {
  return set2d(p, pitch, value, w, h, RT_SYNC);
}
cudaError_t cudaMemset2D_ptds(void *p, size_t pitch, int value, size_t w, size_t h) {
  return set2d(p, pitch, value, w, h, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t w, size_t h,
                              cudaStream_t stream) {
  return set2d(p, pitch, value, w, h, RT_ASYNC(stream));
}
cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
  return set3d(p, value, extent, RT_SYNC);
}
cudaError_t cudaMemset3D_ptds(cudaPitchedPtr p, int value, cudaExtent extent) {
  return set3d(p, value, extent, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream) {
  return set3d(p, value, extent, RT_ASYNC(stream));
}
