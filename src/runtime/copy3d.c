// Copies with a shape: 2D, 3D, to, from and between arrays. All become one driver 3D copy.
#include "runtime/internal.h"

#define PTR(p) ((CUdeviceptr)(uintptr_t)(p))

bool rt_copy_kind_types(int kind, CUmemorytype *src, CUmemorytype *dst) {
  static const CUmemorytype types[5][2] = {{CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
                                           {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
                                           {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
                                           {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
                                           {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED}};
  if (kind < 0 || kind > cudaMemcpyDefault) return false;
  *src = types[kind][0];
  *dst = types[kind][1];
  return true;
}

static cudaError_t run_copy3d(const CUDA_MEMCPY3D *c, RtQueue q) {
  if (!c->WidthInBytes || !c->Height || !c->Depth) return cudaSuccess;
  if (q.sync && !q.stream) return rt_result(cuMemcpy3D_v2(c));
  CUresult r = cuMemcpy3DAsync_v2(c, q.stream);
  if (r == CUDA_SUCCESS && q.sync) r = cuStreamSynchronize(q.stream);
  return rt_result(r);
}

// One side of a copy. An array has no pointer; x is in bytes.
typedef struct Side {
  const void *ptr;
  cudaArray_t array;
  size_t x, y, z, pitch, height;
} Side;

static void set_source(CUDA_MEMCPY3D *c, Side s, CUmemorytype type) {
  c->srcXInBytes = s.x;
  c->srcY = s.y;
  c->srcZ = s.z;
  c->srcMemoryType = s.array ? CU_MEMORYTYPE_ARRAY : type;
  c->srcArray = s.array;
  c->srcHost = type == CU_MEMORYTYPE_HOST ? s.ptr : NULL;
  c->srcDevice = type == CU_MEMORYTYPE_HOST ? 0 : PTR(s.ptr);
  c->srcPitch = s.pitch;
  c->srcHeight = s.height;
}

static void set_destination(CUDA_MEMCPY3D *c, Side s, CUmemorytype type) {
  c->dstXInBytes = s.x;
  c->dstY = s.y;
  c->dstZ = s.z;
  c->dstMemoryType = s.array ? CU_MEMORYTYPE_ARRAY : type;
  c->dstArray = s.array;
  c->dstHost = type == CU_MEMORYTYPE_HOST ? (void *)s.ptr : NULL;
  c->dstDevice = type == CU_MEMORYTYPE_HOST ? 0 : PTR(s.ptr);
  c->dstPitch = s.pitch;
  c->dstHeight = s.height;
}

static cudaError_t copy2d(Side dst, Side src, size_t width, size_t height, int kind, RtQueue q) {
  RT_ENTER();
  CUmemorytype src_type, dst_type;
  if (!rt_copy_kind_types(kind, &src_type, &dst_type))
    return rt_return(cudaErrorInvalidMemcpyDirection);
  if (!width || !height) return cudaSuccess;
  bool too_narrow = (!dst.array && dst.pitch < width) || (!src.array && src.pitch < width);
  if ((!dst.array && !dst.ptr) || (!src.array && !src.ptr))
    return rt_return(too_narrow ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue);
  if (too_narrow && height == 1) return rt_return(cudaErrorInvalidPitchValue);
  CUDA_MEMCPY3D c = {.WidthInBytes = width, .Height = height, .Depth = 1};
  set_source(&c, src, src_type);
  set_destination(&c, dst, dst_type);
  // the driver refuses what is too narrow, and says so
  cudaError_t e = run_copy3d(&c, q);
  return rt_return(too_narrow ? cudaErrorInvalidPitchValue : e);
}

#define LINEAR(p, pitch_) ((Side){.ptr = (p), .pitch = (pitch_)})
#define ARRAY(a, x_, y_) ((Side){.array = (cudaArray_t)(a), .x = (x_), .y = (y_)})

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t w,
                         size_t h, int kind) {
  return copy2d(LINEAR(dst, dpitch), LINEAR(src, spitch), w, h, kind, RT_SYNC);
}
cudaError_t cudaMemcpy2D_ptds(void *dst, size_t dpitch, const void *src, size_t spitch, size_t w,
                              size_t h, int kind) {
  return copy2d(LINEAR(dst, dpitch), LINEAR(src, spitch), w, h, kind, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t w,
                              size_t h, int kind, cudaStream_t stream) {
  return copy2d(LINEAR(dst, dpitch), LINEAR(src, spitch), w, h, kind, RT_ASYNC(stream));
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t spitch,
                                size_t w, size_t h, int kind) {
  return copy2d(ARRAY(dst, x, y), LINEAR(src, spitch), w, h, kind, RT_SYNC);
}
cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t dst, size_t x, size_t y, const void *src,
                                     size_t spitch, size_t w, size_t h, int kind) {
  return copy2d(ARRAY(dst, x, y), LINEAR(src, spitch), w, h, kind, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
                                     size_t spitch, size_t w, size_t h, int kind,
                                     cudaStream_t stream) {
  return copy2d(ARRAY(dst, x, y), LINEAR(src, spitch), w, h, kind, RT_ASYNC(stream));
}
cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_t src, size_t x, size_t y,
                                  size_t w, size_t h, int kind) {
  return copy2d(LINEAR(dst, dpitch), ARRAY(src, x, y), w, h, kind, RT_SYNC);
}
cudaError_t cudaMemcpy2DFromArray_ptds(void *dst, size_t dpitch, cudaArray_t src, size_t x,
                                       size_t y, size_t w, size_t h, int kind) {
  return copy2d(LINEAR(dst, dpitch), ARRAY(src, x, y), w, h, kind, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_t src, size_t x,
                                       size_t y, size_t w, size_t h, int kind,
                                       cudaStream_t stream) {
  return copy2d(LINEAR(dst, dpitch), ARRAY(src, x, y), w, h, kind, RT_ASYNC(stream));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src,
                                     size_t sx, size_t sy, size_t w, size_t h, int kind) {
  return copy2d(ARRAY(dst, dx, dy), ARRAY(src, sx, sy), w, h, kind, RT_SYNC);
}
cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src,
                                          size_t sx, size_t sy, size_t w, size_t h, int kind) {
  return copy2d(ARRAY(dst, dx, dy), ARRAY(src, sx, sy), w, h, kind, RT_SYNC_PER_THREAD);
}

// --- the older forms: `count` bytes that fill the rows of an array one after the other ---

static size_t row_bytes(cudaArray_t a) {
  CUDA_ARRAY3D_DESCRIPTOR d;
  if (!a || cuArray3DGetDescriptor_v2(&d, a) != CUDA_SUCCESS) return 0;
  return d.Width * rt_format_bytes(d.Format) * d.NumChannels;
}

// Moves a side on by n bytes; n never reaches past the end of a row.
static void advance(Side *s, size_t n, size_t row) {
  if (!s->array) {
    s->ptr = (const char *)s->ptr + n;
  } else if ((s->x += n) >= row) {
    s->x = 0;
    s->y++;
  }
}

static cudaError_t copy_rows(Side dst, Side src, size_t count, int kind, RtQueue q) {
  RT_ENTER();
  size_t drow = dst.array ? row_bytes(dst.array) : SIZE_MAX,
         srow = src.array ? row_bytes(src.array) : SIZE_MAX;
  if (!drow || !srow || dst.x >= drow || src.x >= srow) return rt_return(cudaErrorInvalidValue);
  cudaError_t e = cudaSuccess;
  while (count && !e) {
    size_t n = MIN(count, MIN(drow - dst.x, srow - src.x));
    dst.pitch = src.pitch = n;
    e = copy2d(dst, src, n, 1, kind, q);
    advance(&dst, n, drow);
    advance(&src, n, srow);
    count -= n;
  }
  return e;
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t count,
                              int kind) {
  return copy_rows(ARRAY(dst, x, y), LINEAR(src, 0), count, kind, RT_SYNC);
}
cudaError_t cudaMemcpyToArray_ptds(cudaArray_t dst, size_t x, size_t y, const void *src,
                                   size_t count, int kind) {
  return copy_rows(ARRAY(dst, x, y), LINEAR(src, 0), count, kind, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
                                   size_t count, int kind, cudaStream_t stream) {
  return copy_rows(ARRAY(dst, x, y), LINEAR(src, 0), count, kind, RT_ASYNC(stream));
}
cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_t src, size_t x, size_t y, size_t count,
                                int kind) {
  return copy_rows(LINEAR(dst, 0), ARRAY(src, x, y), count, kind, RT_SYNC);
}
cudaError_t cudaMemcpyFromArray_ptds(void *dst, cudaArray_t src, size_t x, size_t y, size_t count,
                                     int kind) {
  return copy_rows(LINEAR(dst, 0), ARRAY(src, x, y), count, kind, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_t src, size_t x, size_t y, size_t count,
                                     int kind, cudaStream_t stream) {
  return copy_rows(LINEAR(dst, 0), ARRAY(src, x, y), count, kind, RT_ASYNC(stream));
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src,
                                   size_t sx, size_t sy, size_t count, int kind) {
  return copy_rows(ARRAY(dst, dx, dy), ARRAY(src, sx, sy), count, kind, RT_SYNC);
}
cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t dst, size_t dx, size_t dy, cudaArray_t src,
                                        size_t sx, size_t sy, size_t count, int kind) {
  return copy_rows(ARRAY(dst, dx, dy), ARRAY(src, sx, sy), count, kind, RT_SYNC_PER_THREAD);
}

// --- 3D ---

// Offsets count elements of their own object (bytes for a pointer); the extent counts elements of
// the array if there is one.
cudaError_t rt_copy3d_params(const cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out) {
  if (!p || !p->srcArray == !p->srcPtr.ptr || !p->dstArray == !p->dstPtr.ptr)
    return cudaErrorInvalidValue;
  CUmemorytype src_type, dst_type;
  if (!rt_copy_kind_types(p->kind, &src_type, &dst_type)) return cudaErrorInvalidMemcpyDirection;
  size_t se = p->srcArray ? rt_array_element_bytes(p->srcArray) : 1,
         de = p->dstArray ? rt_array_element_bytes(p->dstArray) : 1;
  if (!se || !de) return cudaErrorInvalidResourceHandle;
  if (p->srcArray && p->dstArray && se != de) return cudaErrorInvalidValue;
  size_t width = p->extent.width * (p->srcArray ? se : de);
  bool rows = p->extent.height > 1 || p->extent.depth > 1;
  if (rows &&
      ((!p->srcArray && p->srcPtr.pitch < width) || (!p->dstArray && p->dstPtr.pitch < width)))
    return cudaErrorInvalidPitchValue;
  *out = (CUDA_MEMCPY3D){
      .WidthInBytes = width, .Height = p->extent.height, .Depth = p->extent.depth};
  set_source(out,
             (Side){p->srcPtr.ptr, p->srcArray, p->srcPos.x * se, p->srcPos.y, p->srcPos.z,
                    p->srcPtr.pitch, p->srcPtr.ysize},
             src_type);
  set_destination(out,
                  (Side){p->dstPtr.ptr, p->dstArray, p->dstPos.x * de, p->dstPos.y, p->dstPos.z,
                         p->dstPtr.pitch, p->dstPtr.ysize},
                  dst_type);
  return cudaSuccess;
}

void rt_copy3d_params_back(const CUDA_MEMCPY3D *c, cudaMemcpy3DParms *p) {
  size_t se = c->srcMemoryType == CU_MEMORYTYPE_ARRAY ? rt_array_element_bytes(c->srcArray) : 1;
  size_t de = c->dstMemoryType == CU_MEMORYTYPE_ARRAY ? rt_array_element_bytes(c->dstArray) : 1;
  size_t unit = se > 1 ? se : de;
  void *src = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (void *)c->srcHost
                                                     : (void *)(uintptr_t)c->srcDevice;
  void *dst = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : (void *)(uintptr_t)c->dstDevice;
  bool src_host = c->srcMemoryType == CU_MEMORYTYPE_HOST,
       dst_host = c->dstMemoryType == CU_MEMORYTYPE_HOST;
  memset(p, 0, sizeof *p);
  if (c->srcMemoryType == CU_MEMORYTYPE_ARRAY) p->srcArray = c->srcArray;
  else p->srcPtr = (cudaPitchedPtr){src, c->srcPitch, c->srcPitch, c->srcHeight};
  if (c->dstMemoryType == CU_MEMORYTYPE_ARRAY) p->dstArray = c->dstArray;
  else p->dstPtr = (cudaPitchedPtr){dst, c->dstPitch, c->dstPitch, c->dstHeight};
  p->srcPos = (cudaPos){c->srcXInBytes / (se ? se : 1), c->srcY, c->srcZ};
  p->dstPos = (cudaPos){c->dstXInBytes / (de ? de : 1), c->dstY, c->dstZ};
  p->extent = (cudaExtent){c->WidthInBytes / (unit ? unit : 1), c->Height, c->Depth};
  p->kind = c->srcMemoryType == CU_MEMORYTYPE_UNIFIED || c->dstMemoryType == CU_MEMORYTYPE_UNIFIED
                ? cudaMemcpyDefault
            : src_host ? (dst_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                       : (dst_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
}

static cudaError_t copy3d(const cudaMemcpy3DParms *p, RtQueue q) {
  RT_ENTER();
  CUDA_MEMCPY3D c;
  cudaError_t e = rt_copy3d_params(p, &c);
  return rt_return(e ? e : run_copy3d(&c, q));
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) { return copy3d(p, RT_SYNC); }
cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms *p) { return copy3d(p, RT_SYNC_PER_THREAD); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream) {
  return copy3d(p, RT_ASYNC(stream));
}

static cudaError_t copy3d_peer(const cudaMemcpy3DPeerParms *p, RtQueue q) {
  RT_ENTER();
  if (!p) return rt_return(cudaErrorInvalidValue);
  CUcontext dst_context, src_context;
  cudaError_t e = rt_context_of(p->dstDevice, &dst_context);
  if (!e) e = rt_context_of(p->srcDevice, &src_context);
  cudaMemcpy3DParms plain = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                             p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  CUDA_MEMCPY3D c;
  if (!e) e = rt_copy3d_params(&plain, &c);
  // one address space: a peer copy is a copy
  return rt_return(e ? e : run_copy3d(&c, q));
}
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p) { return copy3d_peer(p, RT_SYNC); }
cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms *p) {
  return copy3d_peer(p, RT_SYNC_PER_THREAD);
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
  return copy3d_peer(p, RT_ASYNC(stream));
}
