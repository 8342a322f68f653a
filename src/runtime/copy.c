// Copies of plain bytes, to and from symbols, between devices, and in batches.
#include "runtime/internal.h"

#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))

// Synchronous copies in the legacy stream are the driver's own; in any other stream: queue and
// wait.
static cudaError_t copy(void *dst, const void *src, size_t n, int kind, RtQueue q) {
  RT_ENTER();
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return rt_return(cudaErrorInvalidMemcpyDirection);
  if (!n) return cudaSuccess;
  if (!dst || !src) return rt_return(cudaErrorInvalidValue);
  CUdeviceptr d = PTR(dst), s = PTR(src);
  CUresult r;
  if (q.sync && !q.stream) {
    switch (kind) {
      case cudaMemcpyHostToDevice: r = cuMemcpyHtoD_v2(d, src, n); break;
      case cudaMemcpyDeviceToHost: r = cuMemcpyDtoH_v2(dst, s, n); break;
      case cudaMemcpyDeviceToDevice: r = cuMemcpyDtoD_v2(d, s, n); break;
      default: r = cuMemcpy(d, s, n);
    }
    return rt_done(r);
  }
  switch (kind) {
    case cudaMemcpyHostToDevice: r = cuMemcpyHtoDAsync_v2(d, src, n, q.stream); break;
    case cudaMemcpyDeviceToHost: r = cuMemcpyDtoHAsync_v2(dst, s, n, q.stream); break;
    case cudaMemcpyDeviceToDevice: r = cuMemcpyDtoDAsync_v2(d, s, n, q.stream); break;
    default: r = cuMemcpyAsync(d, s, n, q.stream);
  }
  if (r == CUDA_SUCCESS && q.sync) r = cuStreamSynchronize(q.stream);
  return rt_done(r);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t n, int kind) {
  return copy(dst, src, n, kind, RT_SYNC);
}
cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t n, int kind) {
  return copy(dst, src, n, kind, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t n, int kind, cudaStream_t stream) {
  return copy(dst, src, n, kind, RT_ASYNC(stream));
}

// --- symbols ---

// A range past the end of the variable is passed on with the variable's start, so that the driver
// refuses it and its message names the variable and the excess.
static cudaError_t symbol_range(const void *symbol, size_t *offset, size_t *n, void **out) {
  cudaError_t e = rt_enter();
  CUdeviceptr address = 0;
  size_t size = 0;
  if (!e) e = rt_find_symbol(symbol, &address, &size);
  if (!e && (*offset > size || *n > size - *offset)) {
    if (__builtin_add_overflow(*offset, *n, n)) e = cudaErrorInvalidValue;
    *offset = 0;
  }
  if (!e) *out = (void *)(uintptr_t)(address + *offset);
  return e;
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t n, size_t offset, int kind,
                             RtQueue q) {
  void *p;
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    return rt_return(cudaErrorInvalidMemcpyDirection);
  cudaError_t e = symbol_range(symbol, &offset, &n, &p);
  return e ? rt_return(e) : copy(p, src, n, kind, q);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t n, size_t offset, int kind,
                               RtQueue q) {
  void *p;
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    return rt_return(cudaErrorInvalidMemcpyDirection);
  cudaError_t e = symbol_range(symbol, &offset, &n, &p);
  return e ? rt_return(e) : copy(dst, p, n, kind, q);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset,
                               int kind) {
  return to_symbol(symbol, src, n, offset, kind, RT_SYNC);
}
cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *src, size_t n, size_t offset,
                                    int kind) {
  return to_symbol(symbol, src, n, offset, kind, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t n, size_t offset,
                                    int kind, cudaStream_t stream) {
  return to_symbol(symbol, src, n, offset, kind, RT_ASYNC(stream));
}
cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset, int kind) {
  return from_symbol(dst, symbol, n, offset, kind, RT_SYNC);
}
cudaError_t cudaMemcpyFromSymbol_ptds(void *dst, const void *symbol, size_t n, size_t offset,
                                      int kind) {
  return from_symbol(dst, symbol, n, offset, kind, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset,
                                      int kind, cudaStream_t stream) {
  return from_symbol(dst, symbol, n, offset, kind, RT_ASYNC(stream));
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol) {
  if (!out) return rt_return(cudaErrorInvalidValue);
  size_t offset = 0, n = 0;
  return rt_return(symbol_range(symbol, &offset, &n, out));
}

cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol) {
  RT_ENTER();
  if (!out) return rt_return(cudaErrorInvalidValue);
  CUdeviceptr address;
  return rt_return(rt_find_symbol(symbol, &address, out));
}

// --- between devices ---

static cudaError_t copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t n,
                             RtQueue q) {
  RT_ENTER();
  CUcontext dc, sc;
  cudaError_t e = rt_context_of(dst_device, &dc);
  if (!e) e = rt_context_of(src_device, &sc);
  if (e) return rt_return(e);
  if (!n) return cudaSuccess;
  return rt_done(q.sync ? cuMemcpyPeer(PTR(dst), dc, PTR(src), sc, n)
                        : cuMemcpyPeerAsync(PTR(dst), dc, PTR(src), sc, n, q.stream));
}
cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t n) {
  return copy_peer(dst, dst_device, src, src_device, n, RT_SYNC);
}
cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                size_t n, cudaStream_t stream) {
  return copy_peer(dst, dst_device, src, src_device, n, RT_ASYNC(stream));
}

// --- batches; toolkit 12 also reports the index of the copy that failed ---

cudaError_t cudaMemcpyBatchAsync_abi13(void **dsts, void **srcs, size_t *sizes, size_t count,
                                       cudaMemcpyAttributes *attributes, size_t *indices, size_t n,
                                       cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemcpyBatchAsync_v2((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, sizes, count,
                                       (CUmemcpyAttributes *)attributes, indices, n, stream));
}
cudaError_t cudaMemcpyBatchAsync_abi12(void **dsts, void **srcs, size_t *sizes, size_t count,
                                       cudaMemcpyAttributes *attributes, size_t *indices, size_t n,
                                       size_t *failed, cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemcpyBatchAsync((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, sizes, count,
                                    (CUmemcpyAttributes *)attributes, indices, n, failed, stream));
}
cudaError_t cudaMemcpyBatchAsync_ptsz_abi13(void **dsts, void **srcs, size_t *sizes, size_t count,
                                            cudaMemcpyAttributes *attributes, size_t *indices,
                                            size_t n, cudaStream_t stream) {
  return cudaMemcpyBatchAsync_abi13(dsts, srcs, sizes, count, attributes, indices, n,
                                    STREAM_PTSZ(stream));
}
cudaError_t cudaMemcpyBatchAsync_ptsz_abi12(void **dsts, void **srcs, size_t *sizes, size_t count,
                                            cudaMemcpyAttributes *attributes, size_t *indices,
                                            size_t n, size_t *failed, cudaStream_t stream) {
  return cudaMemcpyBatchAsync_abi12(dsts, srcs, sizes, count, attributes, indices, n, failed,
                                    STREAM_PTSZ(stream));
}

// The structures of a batch of 3D copies have the same layout in both interfaces.
cudaError_t cudaMemcpy3DBatchAsync_abi13(size_t n, cudaMemcpy3DBatchOp *ops,
                                         unsigned long long flags, cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemcpy3DBatchAsync_v2(n, (CUDA_MEMCPY3D_BATCH_OP *)ops, flags, stream));
}
cudaError_t cudaMemcpy3DBatchAsync_abi12(size_t n, cudaMemcpy3DBatchOp *ops, size_t *failed,
                                         unsigned long long flags, cudaStream_t stream) {
  RT_ENTER();
  return rt_done(cuMemcpy3DBatchAsync(n, (CUDA_MEMCPY3D_BATCH_OP *)ops, failed, flags, stream));
}
cudaError_t cudaMemcpy3DBatchAsync_ptsz_abi13(size_t n, cudaMemcpy3DBatchOp *ops,
                                              unsigned long long flags, cudaStream_t stream) {
  return cudaMemcpy3DBatchAsync_abi13(n, ops, flags, STREAM_PTSZ(stream));
}
cudaError_t cudaMemcpy3DBatchAsync_ptsz_abi12(size_t n, cudaMemcpy3DBatchOp *ops, size_t *failed,
                                              unsigned long long flags, cudaStream_t stream) {
  return cudaMemcpy3DBatchAsync_abi12(n, ops, failed, flags, STREAM_PTSZ(stream));
}
