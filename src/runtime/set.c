// Filling memory with a byte.
#include "runtime/internal.h"

#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))

static cudaError_t finish(CUresult r, cudaStream_t stream, bool sync) {
  if (r == CUDA_SUCCESS && sync) r = cuStreamSynchronize(stream);
  return rt_done(r);
}

static cudaError_t set(void *p, int value, size_t n, cudaStream_t stream, bool sync) {
  RT_ENTER();
  if (!n) return cudaSuccess;
  if (!p) return rt_return(cudaErrorInvalidValue);
  if (sync && !stream) return rt_done(cuMemsetD8_v2(PTR(p), (unsigned char)value, n));
  return finish(cuMemsetD8Async(PTR(p), (unsigned char)value, n, stream), stream, sync);
}

static cudaError_t set2d(void *p, size_t pitch, int value, size_t width, size_t height,
                         cudaStream_t stream, bool sync) {
  RT_ENTER();
  if (!width || !height) return cudaSuccess;
  if (!p) return rt_return(cudaErrorInvalidValue);
  if (sync && !stream)
    return rt_done(cuMemsetD2D8_v2(PTR(p), pitch, (unsigned char)value, width, height));
  return finish(cuMemsetD2D8Async(PTR(p), pitch, (unsigned char)value, width, height, stream),
                stream, sync);
}

static cudaError_t set3d(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream,
                         bool sync) {
  if (!extent.width || !extent.height || !extent.depth) return cudaSuccess;
  if (extent.height == p.ysize || extent.depth == 1)  // slices follow each other: one rectangle
    return set2d(p.ptr, p.pitch, value, extent.width, extent.height * extent.depth, stream, sync);
  for (size_t z = 0; z < extent.depth; z++) {
    cudaError_t e = set2d((char *)p.ptr + z * p.pitch * p.ysize, p.pitch, value, extent.width,
                          extent.height, stream, sync);
    if (e) return e;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset(void *p, int value, size_t n) { return set(p, value, n, NULL, true); }
cudaError_t cudaMemset_ptds(void *p, int value, size_t n) {
  return set(p, value, n, cudaStreamPerThread, true);
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream) {
  return set(p, value, n, stream, false);
}
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t w, size_t h) {
  return set2d(p, pitch, value, w, h, NULL, true);
}
cudaError_t cudaMemset2D_ptds(void *p, size_t pitch, int value, size_t w, size_t h) {
  return set2d(p, pitch, value, w, h, cudaStreamPerThread, true);
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t w, size_t h,
                              cudaStream_t stream) {
  return set2d(p, pitch, value, w, h, stream, false);
}
cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
  return set3d(p, value, extent, NULL, true);
}
cudaError_t cudaMemset3D_ptds(cudaPitchedPtr p, int value, cudaExtent extent) {
  return set3d(p, value, extent, cudaStreamPerThread, true);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream) {
  return set3d(p, value, extent, stream, false);
}
