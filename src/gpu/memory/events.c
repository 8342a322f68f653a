// Reports memory on a GPU to the session; sets and copies device memory for tools, in the order of
// the program's streams.
#include "gpu/gpu.h"

static CUstream stream_of(const void *s) { return (CUstream)(uintptr_t)s; }

// In the program's stream; where that fails (a stream of another context), at once in ours.
bool gpu_memory_fill(void *user, const void *stream, uint64_t to, uint8_t value, size_t size) {
  GpuContext *c = user;
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && stream &&
            gpu_real.cuMemsetD8Async(to, value, size, stream_of(stream)) == CUDA_SUCCESS;
  if (e.ok && !ok && c->stream)
    ok = gpu_real.cuMemsetD8Async(to, value, size, c->stream) == CUDA_SUCCESS &&
         gpu_real.cuStreamSynchronize(c->stream) == CUDA_SUCCESS;
  gpu_context_leave(e);
  return ok;
}

bool gpu_memory_move(void *user, const void *stream, uint64_t to, uint64_t from, size_t size) {
  GpuEntered e = gpu_context_enter(user);
  bool ok = e.ok && stream && gpu_real.cuMemcpyDtoDAsync_v2 &&
            gpu_real.cuMemcpyDtoDAsync_v2(to, from, size, stream_of(stream)) == CUDA_SUCCESS;
  gpu_context_leave(e);
  return ok;
}

void gpu_memory_give_back(void *user, uint64_t p) {
  GpuEntered e = gpu_context_enter(user);
  if (e.ok) gpu_real.cuMemFree_v2(p);
  gpu_context_leave(e);
}

// --- allocations ---

static bool host_sees(uint64_t p) {
  unsigned type = CU_MEMORYTYPE_DEVICE, managed = 0;
  if (!gpu_real.cuPointerGetAttribute) return false;
  if (gpu_real.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p) ==
          CUDA_SUCCESS &&
      managed)
    return true;
  return gpu_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) ==
             CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

// Contents of memory of graphs and of mapped memory count as defined: the driver does not say when
// a graph reuses its memory, and mapped memory may be mapped elsewhere, too. Arrays have no
// address.
void gpu_memory_new(GpuContext *c, uint64_t base, uint64_t size, SessionMemoryKind kind) {
  if (!session_wants(SESSION_WANTS_CONTENTS) || kind == SESSION_ARRAY) return;
  bool tracked = kind == SESSION_DEVICE || (kind == SESSION_POOL && !host_sees(base));
  SessionDevice *d = tracked ? gpu_context_use(c) : NULL;
  session_memory_event(
      &(SessionMemoryEvent){MEMORY_NEW, .device = d, .base = base, .size = size, .memory = kind});
  if (d) gpu_context_used(c);
}

// Not described in cuda/api.def. Another process writes to it from now on.
CUresult gpu_cuIpcGetMemHandle(void *handle, CUdeviceptr p) {
  CUresult (*real)(void *,
                   CUdeviceptr) = (CUresult(*)(void *, CUdeviceptr))gpu_real.cuIpcGetMemHandle;
  session_memory_event(&(SessionMemoryEvent){MEMORY_SHARED, .base = p});
  return real(handle, p);
}

CUresult gpu_cuMemPoolExportPointer(void *data, CUdeviceptr p) {
  CUresult (*real)(void *,
                   CUdeviceptr) = (CUresult(*)(void *, CUdeviceptr))gpu_real.cuMemPoolExportPointer;
  session_memory_event(&(SessionMemoryEvent){MEMORY_SHARED, .base = p});
  return real(data, p);
}

// --- words written by streams ---

static CUresult written(CUresult result, CUdeviceptr p, size_t bytes, CUstream stream) {
  session_order_host_saw(stream);  // another thread may wait for the value
  session_outputs_unseen();
  session_unknown_writes(stream);
  if (result != CUDA_SUCCESS || !session_wants(SESSION_WANTS_CONTENTS)) return result;
  SessionCopy c = {.to = {.kind = SESSION_PLACE_DEVICE, .address = p},
                   .is_set = true,
                   .width = bytes,
                   .height = 1,
                   .depth = 1,
                   .stream = stream,
                   .captured = gpu_is_capturing(stream)};
  gpu_copy_enqueued(&c);
  return result;
}

#define PER_THREAD_STREAM(s) ((s) ? (s) : CU_STREAM_PER_THREAD)
#define AS_IT_IS(s) (s)
#define WRITES(suffix, STREAM) \
  CUresult gpu_cuStreamWriteValue32##suffix(CUstream s, CUdeviceptr p, uint32_t v, \
                                            unsigned flags) { \
    gpu_hash_before_unknown(); \
    return written(gpu_real.cuStreamWriteValue32##suffix(s, p, v, flags), p, 4, STREAM(s)); \
  } \
  CUresult gpu_cuStreamWriteValue64##suffix(CUstream s, CUdeviceptr p, uint64_t v, \
                                            unsigned flags) { \
    gpu_hash_before_unknown(); \
    return written(gpu_real.cuStreamWriteValue64##suffix(s, p, v, flags), p, 8, STREAM(s)); \
  } \
  CUresult gpu_cuStreamBatchMemOp##suffix(CUstream s, unsigned n, CUstreamBatchMemOpParams *ops, \
                                          unsigned flags) { \
    gpu_hash_before_unknown(); \
    CUresult result = gpu_real.cuStreamBatchMemOp##suffix(s, n, ops, flags); \
    session_order_waits_for_something(STREAM(s)); \
    for (unsigned i = 0; result == CUDA_SUCCESS && i < n; i++) { \
      if (ops[i].operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) \
        written(result, ops[i].writeValue.address, 4, STREAM(s)); \
      if (ops[i].operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) \
        written(result, ops[i].writeValue.address, 8, STREAM(s)); \
    } \
    return result; \
  }
WRITES(, AS_IT_IS)
WRITES(_v2, AS_IT_IS)
WRITES(_ptsz, PER_THREAD_STREAM)
WRITES(_v2_ptsz, PER_THREAD_STREAM)

// --- when memory is short ---

// Kernels use memory of the tools until they end.
bool gpu_release_tool_memory(void) {
  GpuContext *c = session_may_release_memory() ? gpu_context_current() : NULL;
  SessionDevice *d = c && !atomic_load(&c->faulted) ? gpu_context_use(c) : NULL;
  if (!d) return false;
  bool given = gpu_context_settle(c) && session_release_memory(d);
  gpu_context_used(c);
  return given;
}
