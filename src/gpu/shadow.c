// initcheck on a GPU: shadow memory is set and copied by the streams of the program, right behind
// what it goes along with.
#include "gpu/gpu.h"

static CUstream stream_of(const void *s) { return (CUstream)(uintptr_t)s; }

// In the program's stream, or in ours and at once. What cannot be done in the stream of another
// context is done at once.
bool gpu_shadow_fill(void *user, const void *stream, uint64_t to, uint8_t value, size_t size) {
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

bool gpu_shadow_move(void *user, const void *stream, uint64_t to, uint64_t from, size_t size) {
  GpuEntered e = gpu_context_enter(user);
  bool ok = e.ok && stream && gpu_real.cuMemcpyDtoDAsync_v2 &&
            gpu_real.cuMemcpyDtoDAsync_v2(to, from, size, stream_of(stream)) == CUDA_SUCCESS;
  gpu_context_leave(e);
  return ok;
}

void gpu_shadow_give_back(void *user, uint64_t p) {
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

// Memory of graphs and mapped memory count as initialised: a graph hands its memory out again where
// nobody sees it, and what is mapped may be mapped elsewhere, too. Arrays have no address.
void gpu_shadow_alloc(GpuContext *c, uint64_t base, uint64_t size, SessionMemoryKind kind) {
  if (!session_wants_shadow() || kind == SESSION_ARRAY) return;
  bool tracked = kind == SESSION_DEVICE || (kind == SESSION_POOL && !host_sees(base));
  SessionDevice *d = tracked ? gpu_context_use(c) : NULL;
  session_shadow_alloc(d, NULL, base, size, kind);
  if (d) gpu_context_used(c);
}

// Not described in cuda/api.def. Another process writes to it from now on.
CUresult gpu_cuIpcGetMemHandle(void *handle, CUdeviceptr p) {
  CUresult (*real)(void *,
                   CUdeviceptr) = (CUresult(*)(void *, CUdeviceptr))gpu_real.cuIpcGetMemHandle;
  session_shadow_forget(p);
  return real(handle, p);
}

CUresult gpu_cuMemPoolExportPointer(void *data, CUdeviceptr p) {
  CUresult (*real)(void *,
                   CUdeviceptr) = (CUresult(*)(void *, CUdeviceptr))gpu_real.cuMemPoolExportPointer;
  session_shadow_forget(p);
  return real(data, p);
}

// --- words written by streams ---

static CUresult written(CUresult result, CUdeviceptr p, size_t bytes, CUstream stream) {
  session_order_host_saw(stream);  // whoever waits for the value
  session_outputs_unseen();
  session_unknown_writes(stream);
  if (result != CUDA_SUCCESS || !session_wants_shadow()) return result;
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
    gpu_waiting_unknown(); \
    return written(gpu_real.cuStreamWriteValue32##suffix(s, p, v, flags), p, 4, STREAM(s)); \
  } \
  CUresult gpu_cuStreamWriteValue64##suffix(CUstream s, CUdeviceptr p, uint64_t v, \
                                            unsigned flags) { \
    gpu_waiting_unknown(); \
    return written(gpu_real.cuStreamWriteValue64##suffix(s, p, v, flags), p, 8, STREAM(s)); \
  } \
  CUresult gpu_cuStreamBatchMemOp##suffix(CUstream s, unsigned n, CUstreamBatchMemOpParams *ops, \
                                          unsigned flags) { \
    gpu_waiting_unknown(); \
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

// --- launches ---

// Shadows of shared memory: one piece for each stream, whose launches use it one after the other.
enum { SLABS = 16 };
typedef struct Slab {
  GpuContext *context;
  unsigned long long stream;
  CUdeviceptr memory;
  size_t size;
} Slab;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Slab slabs[SLABS];

static Slab *slab_of(GpuContext *c, unsigned long long stream) {
  Slab *free_one = NULL;
  for (unsigned i = 0; i < SLABS; i++) {
    if (slabs[i].context == c && slabs[i].stream == stream) return &slabs[i];
    if (!slabs[i].context && !free_one) free_one = &slabs[i];
  }
  if (free_one) *free_one = (Slab){.context = c, .stream = stream};
  return free_one;
}

// Blocks clear their parts of it when they begin, which must not be before the launch before has
// ended: overlaps, it may be. 0: there is none. A piece that is too small is left to launches that
// use it, and is gone with the context.
static CUdeviceptr take_slab(GpuContext *c, CUstream stream, size_t bytes, bool overlaps) {
  unsigned long long id;
  if (!gpu_real.cuStreamGetId || gpu_real.cuStreamGetId(stream, &id) != CUDA_SUCCESS) return 0;
  pthread_mutex_lock(&lock);
  Slab *s = slab_of(c, id);
  if (s && s->size < bytes) {
    size_t size = 1 << 16;
    while (size < bytes) size *= 2;
    GpuEntered e = gpu_context_enter(c);
    CUdeviceptr p = 0;
    if (e.ok && gpu_real.cuMemAlloc_v2(&p, size) == CUDA_SUCCESS) *s = (Slab){c, id, p, size};
    gpu_context_leave(e);
  }
  CUdeviceptr memory = s && s->size >= bytes ? s->memory : 0;
  pthread_mutex_unlock(&lock);
  if (!memory || !overlaps) return memory;
  GpuEntered e = gpu_context_enter(c);
  bool waits = e.ok && gpu_real.cuMemsetD8Async(memory, 0, 1, stream) == CUDA_SUCCESS;
  gpu_context_leave(e);
  return waits ? memory : 0;
}

static int static_shared(const GpuLaunch *l) {
  int bytes = 0;
  CUresult result = l->of->is_kernel
                        ? gpu_real.cuKernelGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                                        (CUkernel)l->function, l->context->device)
                        : gpu_real.cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                                      l->function);
  return result == CUDA_SUCCESS ? bytes : 0;
}

// A captured launch may run at the same time as others of its graph: it gets none, and its shared
// memory counts as initialised.
void gpu_shadow_launch(GpuLaunch *l, void *record) {
  if (!session_wants_shadow()) return;
  SessionKernel *k = l->of->kernel;
  l->marks = session_shadow_marks(k, record);
  l->heap_unseen = ((const WgLaunch *)record)->flags & WG_LAUNCH_HEAP_UNSEEN;
  if (l->event.captured || !l->marks) return;
  gpu_whole_ask(l, stream_of(l->event.stream), record);
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  uint64_t blocks = (uint64_t)l->event.grid[0] * l->event.grid[1] * l->event.grid[2];
  uint64_t bytes = session_shared_shadow(k, blocks, (uint32_t)static_shared(l) + l->event.shared,
                                         &r);
  if (bytes)
    r.shared_shadow = take_slab(l->context, stream_of(l->event.stream), bytes, l->event.overlaps);
  if (r.shared_shadow) memcpy(record, &r, sizeof r);
}

// What is not checked has written what it liked. In graphs that is seen to when they are launched.
void gpu_shadow_launched(const GpuLaunch *l) {
  if (!session_wants_shadow() || (l->marks && !l->heap_unseen) || (l->of && l->event.captured))
    return;
  CUstream stream = stream_of(l->event.stream);
  if (gpu_is_capturing(stream)) return;
  if (l->marks) {
    SessionDevice *d = gpu_context_use(l->context);
    if (d) session_shadow_heap_unseen(d, stream ? stream : CU_STREAM_LEGACY);
    if (d) gpu_context_used(l->context);
    return;
  }
  gpu_shadow_unseen(l->context ? l->context : gpu_context_of_stream(stream), stream);
}

void gpu_shadow_unseen(GpuContext *c, CUstream stream) {
  SessionDevice *d = session_wants_shadow() ? gpu_context_use(c) : NULL;
  if (!d) return;
  session_shadow_unknown_kernel(d, stream ? stream : CU_STREAM_LEGACY);
  gpu_context_used(c);
}

// Launches look at the shadow until they end; those of graphs may begin again at any time, and then
// it cannot be given back.
bool gpu_shadow_drain(void) {
  GpuContext *c = session_wants_shadow() ? gpu_context_current() : NULL;
  SessionDevice *d = c && !atomic_load(&c->faulted) ? gpu_context_use(c) : NULL;
  if (!d) return false;
  bool given = gpu_context_settle(c) && session_shadow_give_up(d);
  gpu_context_used(c);
  return given;
}

void gpu_shadow_close(GpuContext *c) {
  gpu_copies_finish(c);
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < SLABS; i++)
    if (slabs[i].context == c) slabs[i] = (Slab){0};
  pthread_mutex_unlock(&lock);
}
