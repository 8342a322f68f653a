// cuMemcpy* and cuMemset*: the many entry points of a few kinds of work.
#include "driver/driver.h"

enum { SMALL = 64 << 10 };  // done on the calling thread where the stream is idle

static CUresult finish_sync(Stream *s) {
  print_flush();
  return (CUresult)s->ctx->error;
}

// --- reports of the call to the session, before the copy is done ---

static bool is_empty(const SessionCopy *c) { return !c->width || !c->height || !c->depth; }

static void check(const char *call, SessionCopy *c, CUstream handle) {
  if (is_empty(c)) return;
  Stream *s;
  Context *ctx = NULL;
  c->call = call;
  c->async = strstr(call, "Async") != NULL;
  c->stream = handle;
  bool is_default = !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
  if ((is_default || object_get(handle, OBJECT_STREAM)) && stream_get(handle, &s) == CUDA_SUCCESS) {
    c->stream = s->legacy ? NULL : s;
    c->device = s->ctx->device->ordinal;
    ctx = s->ctx;
    c->captured = __atomic_load_n(&s->capture, __ATOMIC_RELAXED) != NULL;
  }
  bool follows = ctx && !c->captured && session_wants(SESSION_WANTS_COPY_TAGS);
  if (follows) c->on = tools_device_begin(ctx);
  session_copy_check(c);
  if (follows) tools_device_end();
}

static CUresult checked(const SessionCopy *c, CUresult result) {
  if (result == CUDA_ERROR_INVALID_VALUE && !is_empty(c)) session_copy_refused(c);
  if (result == CUDA_SUCCESS) session_copy_taken(c);
  return result;
}

// Pageable memory is read before an asynchronous call returns, and written before it returns, as on
// a device.
static CUresult submit(Stream *s, CopyWork *c, bool async) {
  Work w = {.kind = WORK_COPY, .copy = *c};
  size_t bytes = c->width * c->height * c->depth;
  if (!async) {
    TRY(queue_submit(s, &w, SUBMIT_WAIT | SUBMIT_INLINE));
    return finish_sync(s);
  }
  int flags = bytes <= SMALL ? SUBMIT_INLINE : 0;
  if (!s->capture && bytes) {
    bool flat = c->height == 1 && c->depth == 1;
    if (memory_is_pageable(c->dst)) {
      flags = SUBMIT_WAIT | SUBMIT_INLINE;
    } else if (memory_is_pageable(c->src)) {
      if (flat && bytes <= SMALL) {
        w.copy.staged = mem_alloc(bytes);
        memcpy(w.copy.staged, c->src, bytes);
        w.copy.src = w.copy.staged;
      } else {
        flags = SUBMIT_WAIT | SUBMIT_INLINE;
      }
    }
  }
  TRY(queue_submit(s, &w, flags));
  return flags & SUBMIT_WAIT ? (CUresult)s->ctx->error : CUDA_SUCCESS;
}

static CUresult run_box(const CUDA_MEMCPY3D *d, CUstream handle, bool async, uint32_t step) {
  Stream *s;
  CopyWork c;
  TRY(stream_get(handle, &s));
  if (!async) TRY(capture_forbids_unsafe_call());
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  TRY(copy_prepare(d, &c));
  c.step = step;
  c.tag = session_copy_tag();
  session_copy_begins(c.tag);
  return submit(s, &c, async);
}

static CUresult copy3d(const char *call, const CUDA_MEMCPY3D *d, CUstream handle, bool async) {
  SessionCopy c = {0};
  if (!session_wants_copies() || !d) return run_box(d, handle, async, 0);
  session_copy_of_box(d, &c);
  check(call, &c, handle);
  c.step = c.captured ? 0 : session_copy_number(&c);
  return checked(&c, run_box(d, handle, async, c.step));
}

static CUDA_MEMCPY3D flat_box(CUmemorytype dst_type, uintptr_t dst, CUmemorytype src_type,
                              uintptr_t src, size_t n) {
  CUDA_MEMCPY3D d = {.srcMemoryType = src_type,
                     .dstMemoryType = dst_type,
                     .WidthInBytes = n,
                     .Height = 1,
                     .Depth = 1};
  if (src_type == CU_MEMORYTYPE_HOST) d.srcHost = (void *)src;
  else d.srcDevice = src;
  if (dst_type == CU_MEMORYTYPE_HOST) d.dstHost = (void *)dst;
  else d.dstDevice = dst;
  return d;
}

static CUresult flat(const char *call, CUDA_MEMCPY3D box, CUstream s, bool async) {
  return copy3d(call, &box, s, async);
}

#define HOST CU_MEMORYTYPE_HOST
#define DEVICE CU_MEMORYTYPE_DEVICE
#define UNIFIED CU_MEMORYTYPE_UNIFIED
CUresult cuMemcpy(CUdeviceptr d, CUdeviceptr s, size_t n) {
  return flat(__func__, flat_box(UNIFIED, d, UNIFIED, s, n), NULL, false);
}
CUresult cuMemcpyAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream q) {
  return flat(__func__, flat_box(UNIFIED, d, UNIFIED, s, n), q, true);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr d, const void *s, size_t n) {
  return flat(__func__, flat_box(DEVICE, d, HOST, (uintptr_t)s, n), NULL, false);
}
CUresult cuMemcpyDtoH_v2(void *d, CUdeviceptr s, size_t n) {
  return flat(__func__, flat_box(HOST, (uintptr_t)d, DEVICE, s, n), NULL, false);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr d, CUdeviceptr s, size_t n) {
  return flat(__func__, flat_box(DEVICE, d, DEVICE, s, n), NULL, true);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void *s, size_t n, CUstream q) {
  return flat(__func__, flat_box(DEVICE, d, HOST, (uintptr_t)s, n), q, true);
}
CUresult cuMemcpyDtoHAsync_v2(void *d, CUdeviceptr s, size_t n, CUstream q) {
  return flat(__func__, flat_box(HOST, (uintptr_t)d, DEVICE, s, n), q, true);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream q) {
  return flat(__func__, flat_box(DEVICE, d, DEVICE, s, n), q, true);
}

static CUresult check_context(CUcontext handle) {
  return object_get(handle, OBJECT_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuMemcpyPeer(CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n) {
  TRY(check_context(dc));
  TRY(check_context(sc));
  return flat(__func__, flat_box(UNIFIED, d, UNIFIED, s, n), NULL, false);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr d, CUcontext dc, CUdeviceptr s, CUcontext sc, size_t n,
                           CUstream q) {
  TRY(check_context(dc));
  TRY(check_context(sc));
  return flat(__func__, flat_box(UNIFIED, d, UNIFIED, s, n), q, true);
}

// --- one-dimensional arrays ---

// A range of bytes in an array may cross rows: arrays are stored row after row.
static CUresult array_bytes(CUarray handle, size_t offset, size_t n, char **at) {
  Array *a = object_get(handle, OBJECT_ARRAY);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  if (offset + n > a->bytes || offset + n < n) return CUDA_ERROR_INVALID_VALUE;
  *at = (char *)a->vgpu.data + offset;
  return CUDA_SUCCESS;
}

static SessionPlace on_device(CUdeviceptr p) {
  return (SessionPlace){.kind = SESSION_PLACE_DEVICE, .address = p};
}
static SessionPlace in_array(CUarray array, size_t offset) {
  if (!array) return on_device(offset);  // refused as a bad address
  return (SessionPlace){.kind = SESSION_PLACE_ARRAY, .address = (uintptr_t)array, .x = offset};
}
static SessionPlace on_host(const void *p) {
  return (SessionPlace){.kind = SESSION_PLACE_HOST, .address = (uintptr_t)p};
}

static CUresult place_bytes(const SessionPlace *p, size_t n, char **at) {
  if (p->kind == SESSION_PLACE_ARRAY) return array_bytes((CUarray)p->address, p->x, n, at);
  *at = (char *)p->address;
  return CUDA_SUCCESS;
}

static CUresult array_flat(const char *call, SessionPlace to, SessionPlace from, size_t n,
                           CUstream q, bool async) {
  SessionCopy c = {.to = to, .from = from, .width = n, .height = 1, .depth = 1};
  if (session_wants_copies()) check(call, &c, q);
  c.step = c.captured ? 0 : session_copy_number(&c);
  char *d, *s;
  TRY(place_bytes(&to, n, &d));
  TRY(place_bytes(&from, n, &s));
  CUDA_MEMCPY3D box = flat_box(UNIFIED, (uintptr_t)d, UNIFIED, (uintptr_t)s, n);
  CUresult result = run_box(&box, q, async, c.step);
  if (result == CUDA_SUCCESS) session_copy_taken(&c);
  return result;
}

CUresult cuMemcpyDtoA_v2(CUarray d, size_t o, CUdeviceptr s, size_t n) {
  return array_flat(__func__, in_array(d, o), on_device(s), n, NULL, false);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr d, CUarray s, size_t o, size_t n) {
  return array_flat(__func__, on_device(d), in_array(s, o), n, NULL, false);
}
CUresult cuMemcpyHtoA_v2(CUarray d, size_t o, const void *s, size_t n) {
  return array_flat(__func__, in_array(d, o), on_host(s), n, NULL, false);
}
CUresult cuMemcpyAtoH_v2(void *d, CUarray s, size_t o, size_t n) {
  return array_flat(__func__, on_host(d), in_array(s, o), n, NULL, false);
}
CUresult cuMemcpyAtoA_v2(CUarray d, size_t o, CUarray s, size_t p, size_t n) {
  return array_flat(__func__, in_array(d, o), in_array(s, p), n, NULL, false);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray d, size_t o, const void *s, size_t n, CUstream q) {
  return array_flat(__func__, in_array(d, o), on_host(s), n, q, true);
}
CUresult cuMemcpyAtoHAsync_v2(void *d, CUarray s, size_t o, size_t n, CUstream q) {
  return array_flat(__func__, on_host(d), in_array(s, o), n, q, true);
}

// --- two and three dimensions ---

static CUresult copy2d(const char *call, const CUDA_MEMCPY2D *p, CUstream q, bool async) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D d = {
      .srcXInBytes = p->srcXInBytes,
      .srcY = p->srcY,
      .srcMemoryType = p->srcMemoryType,
      .srcHost = p->srcHost,
      .srcDevice = p->srcDevice,
      .srcArray = p->srcArray,
      .srcPitch = p->srcPitch,
      .dstXInBytes = p->dstXInBytes,
      .dstY = p->dstY,
      .dstMemoryType = p->dstMemoryType,
      .dstHost = p->dstHost,
      .dstDevice = p->dstDevice,
      .dstArray = p->dstArray,
      .dstPitch = p->dstPitch,
      .WidthInBytes = p->WidthInBytes,
      .Height = p->Height,
      .Depth = 1,
  };
  return copy3d(call, &d, q, async);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *p) { return copy2d(__func__, p, NULL, false); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p) { return copy2d(__func__, p, NULL, false); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream q) {
  return copy2d(__func__, p, q, true);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *p) { return copy3d(__func__, p, NULL, false); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream q) {
  return copy3d(__func__, p, q, true);
}

// The peer structure has contexts where the plain one has reserved words.
static CUresult copy3d_peer(const char *call, const CUDA_MEMCPY3D_PEER *p, CUstream q, bool async) {
  _Static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER), "same layout");
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D d;
  memcpy(&d, p, sizeof d);
  d.reserved0 = d.reserved1 = NULL;
  return copy3d(call, &d, q, async);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *p) {
  return copy3d_peer(__func__, p, NULL, false);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *p, CUstream q) {
  return copy3d_peer(__func__, p, q, true);
}

// --- batches ---

static bool is_legacy(CUstream q) {
  return q == CU_STREAM_LEGACY || (!q && !stream_zero_is_per_thread);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *d, CUdeviceptr *s, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attrs, size_t *index, size_t nattrs,
                               CUstream q) {
  if (!d || !s || !sizes || !count || !attrs || !index || !nattrs || nattrs > count || index[0])
    return CUDA_ERROR_INVALID_VALUE;
  if (is_legacy(q)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++)
    TRY(flat(__func__, flat_box(UNIFIED, d[i], UNIFIED, s[i], sizes[i]), q, true));
  return CUDA_SUCCESS;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *d, CUdeviceptr *s, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attrs, size_t *index, size_t nattrs, size_t *fail,
                            CUstream q) {
  if (fail) *fail = SIZE_MAX;
  return cuMemcpyBatchAsync_v2(d, s, sizes, count, attrs, index, nattrs, q);
}

// One side of a copy of a batch, in bytes.
typedef struct BatchSide {
  CUmemorytype type;
  CUdeviceptr p;
  CUarray array;
  size_t pitch, height, x, y, z;
} BatchSide;
static CUresult batch_side(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element,
                           BatchSide *out) {
  if (o->type == CU_MEMCPY_OPERAND_TYPE_POINTER) {
    size_t row = o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width;
    *out = (BatchSide){.type = CU_MEMORYTYPE_UNIFIED,
                       .p = o->op.ptr.ptr,
                       .pitch = row * element,
                       .height = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height};
    return CUDA_SUCCESS;
  }
  if (o->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  *out = (BatchSide){.type = CU_MEMORYTYPE_ARRAY,
                     .array = o->op.array.array,
                     .x = o->op.array.offset.x * element,
                     .y = o->op.array.offset.y,
                     .z = o->op.array.offset.z};
  return CUDA_SUCCESS;
}

// Bytes of one unit of an extent: an element of the copy's array, or a byte if it has no array.
static size_t batch_element(const CUDA_MEMCPY3D_BATCH_OP *op) {
  const CUmemcpy3DOperand *o = op->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? &op->src : &op->dst;
  if (o->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return 1;
  Array *a = object_get(o->op.array.array, OBJECT_ARRAY);
  return a ? array_texel_bytes(a->vgpu.texel) * a->vgpu.channels : 1;
}

CUresult cuMemcpy3DBatchAsync_v2(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
                                 CUstream q) {
  if (!n || !ops || flags || is_legacy(q)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    CUDA_MEMCPY3D_BATCH_OP *op = &ops[i];
    size_t element = batch_element(op);
    BatchSide src, dst;
    TRY(batch_side(&op->src, &op->extent, element, &src));
    TRY(batch_side(&op->dst, &op->extent, element, &dst));
    CUDA_MEMCPY3D d = {.srcMemoryType = src.type,
                       .srcDevice = src.p,
                       .srcArray = src.array,
                       .srcPitch = src.pitch,
                       .srcHeight = src.height,
                       .srcXInBytes = src.x,
                       .srcY = src.y,
                       .srcZ = src.z,
                       .dstMemoryType = dst.type,
                       .dstDevice = dst.p,
                       .dstArray = dst.array,
                       .dstPitch = dst.pitch,
                       .dstHeight = dst.height,
                       .dstXInBytes = dst.x,
                       .dstY = dst.y,
                       .dstZ = dst.z,
                       .WidthInBytes = op->extent.width * element,
                       .Height = op->extent.height,
                       .Depth = op->extent.depth};
    TRY(copy3d(__func__, &d, q, true));
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpy3DBatchAsync(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *fail,
                              unsigned long long flags, CUstream q) {
  if (fail) *fail = SIZE_MAX;
  return cuMemcpy3DBatchAsync_v2(n, ops, flags, q);
}

// --- sets: asynchronous for the host, as on a device ---

static CUresult run_set(const CUDA_MEMSET_NODE_PARAMS *params, CUstream q, uint32_t step) {
  Stream *s;
  Work w = {.kind = WORK_SET};
  TRY(stream_get(q, &s));
  TRY(set_prepare(params, &w.set));
  w.set.step = step;
  w.set.tag = session_copy_tag();
  session_copy_begins(w.set.tag);
  return queue_submit(
      s, &w, params->width * params->height * params->elementSize <= SMALL ? SUBMIT_INLINE : 0);
}

static CUresult set(const char *call, CUDA_MEMSET_NODE_PARAMS params, CUstream q) {
  if (!session_wants_copies()) return run_set(&params, q, 0);
  SessionCopy c = {0};
  session_copy_of_set(&params, &c);
  check(call, &c, q);
  c.step = c.captured ? 0 : session_copy_number(&c);
  return checked(&c, run_set(&params, q, c.step));
}

CUresult cuMemsetD8_v2(CUdeviceptr p, unsigned char v, size_t n) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, 0, v, 1, n, 1}, NULL);
}
CUresult cuMemsetD16_v2(CUdeviceptr p, unsigned short v, size_t n) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, 0, v, 2, n, 1}, NULL);
}
CUresult cuMemsetD32_v2(CUdeviceptr p, unsigned v, size_t n) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, 0, v, 4, n, 1}, NULL);
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream q) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, 0, v, 1, n, 1}, q);
}
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short v, size_t n, CUstream q) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, 0, v, 2, n, 1}, q);
}
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream q) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, 0, v, 4, n, 1}, q);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, pitch, v, 1, w, h}, NULL);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr p, size_t pitch, unsigned short v, size_t w, size_t h) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, pitch, v, 2, w, h}, NULL);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, pitch, v, 4, w, h}, NULL);
}
CUresult cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h,
                           CUstream q) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, pitch, v, 1, w, h}, q);
}
CUresult cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, unsigned short v, size_t w, size_t h,
                            CUstream q) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, pitch, v, 2, w, h}, q);
}
CUresult cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h,
                            CUstream q) {
  return set(__func__, (CUDA_MEMSET_NODE_PARAMS){p, pitch, v, 4, w, h}, q);
}

// --- nodes ---

static void check_node(const char *call, const Context *ctx, SessionCopy *c) {
  c->call = call;
  c->device = ctx->device->ordinal;
  c->captured = true;
  if (!is_empty(c)) session_copy_check(c);
}

CUresult copy_prepare_node(const Context *ctx, const CUDA_MEMCPY3D *d, CopyWork *out) {
  if (!session_wants_memory()) return copy_prepare(d, out);
  SessionCopy c = {0};
  session_copy_of_box(d, &c);
  check_node("memcpy node", ctx, &c);
  return checked(&c, copy_prepare(d, out));
}

CUresult set_prepare_node(const Context *ctx, const CUDA_MEMSET_NODE_PARAMS *p, SetWork *out) {
  if (!session_wants_memory()) return set_prepare(p, out);
  SessionCopy c = {0};
  session_copy_of_set(p, &c);
  check_node("memset node", ctx, &c);
  return checked(&c, set_prepare(p, out));
}
