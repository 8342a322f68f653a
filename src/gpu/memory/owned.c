// The context of each allocation, and the quarantine: memory that the program has freed, but
// Warpgrind has not yet returned to the driver. Like cuMemFree, putting memory there waits for
// everything that was launched; cuMemFreeAsync waits for nothing, and the memory is given back in
// the order of its stream.
#include "gpu/gpu.h"

#include <time.h>

// reserved: see below
typedef struct Owned {
  GpuContext *context;
  uint64_t size;
  SessionMemoryKind kind;
  bool reserved, given;
} Owned;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map owned;          // base -> Owned
static U64Map held;           // base -> not NULL
static _Atomic int captures;  // in progress: waiting for a context would end them

void gpu_owned_add(GpuContext *c, uint64_t base, uint64_t size, SessionMemoryKind kind) {
  if (!c) return;
  Owned *o = mem_alloc(sizeof *o);
  *o = (Owned){.context = c, .size = size, .kind = kind};
  pthread_mutex_lock(&lock);
  free(u64map_remove(&owned, base));
  u64map_put(&owned, base, o);
  pthread_mutex_unlock(&lock);
}

void gpu_owned_freed(uint64_t base) {
  pthread_mutex_lock(&lock);
  Owned *o = owned.len ? u64map_remove(&owned, base) : NULL;
  pthread_mutex_unlock(&lock);
  if (o) gpu_block_forget(o->context, base);
  free(o);
}

void gpu_owned_remove(uint64_t base) {
  pthread_mutex_lock(&lock);
  free(owned.len ? u64map_remove(&owned, base) : NULL);
  pthread_mutex_unlock(&lock);
}

static bool find(uint64_t base, Owned *out) {
  pthread_mutex_lock(&lock);
  const Owned *o = u64map_get(&owned, base);
  if (o) *out = *o;
  pthread_mutex_unlock(&lock);
  return o != NULL;
}

// Reports the size without the gap after the allocation.
CUresult gpu_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr p) {
  CUdeviceptr start = 0;
  Owned o;
  CUresult result = gpu_real.cuMemGetAddressRange_v2(base ? base : &start, size, p);
  if (result == CUDA_SUCCESS && size && find(base ? *base : start, &o))
    *size = MIN(*size, (size_t)o.size);
  return result;
}

// Mapped memory belongs to no context, and that of pools only to a device.
static bool goes_with(const Owned *o, CUcontext ctx, bool primary) {
  return o->context->handle == ctx && o->kind != SESSION_VIRTUAL &&
         (primary || (o->kind != SESSION_POOL && o->kind != SESSION_GRAPH));
}

void gpu_owned_gone(CUcontext ctx, bool primary) {
  VEC(uint64_t) gone = {0};
  uint32_t it = 0;
  uint64_t base;
  void *o;
  pthread_mutex_lock(&lock);
  while (u64map_next(&owned, &it, &base, &o))
    if (goes_with(o, ctx, primary)) vec_push(&gone, base);
  for (uint32_t i = 0; i < gone.len; i++) free(u64map_remove(&owned, gone.data[i]));
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < gone.len; i++) session_free(gone.data[i]);
  vec_free(&gone);
}

// --- quarantine ---

bool gpu_is_held(uint64_t base) {
  pthread_mutex_lock(&lock);
  bool found = held.len && u64map_get(&held, base);
  pthread_mutex_unlock(&lock);
  return found || gpu_block_is_idle(base);
}

static void release(const SessionHeld *h) {
  GpuContext *c = (GpuContext *)h->owner;
  CUevent freed = h->extra;
  pthread_mutex_lock(&lock);
  u64map_remove(&held, h->base);
  pthread_mutex_unlock(&lock);
  if (gpu_block_keep(c, h->base)) return;
  GpuEntered e = gpu_context_enter(c);
  if (e.ok && freed) {
    gpu_real.cuStreamWaitEvent(c->stream, freed, 0);
    gpu_real.cuMemFreeAsync(h->base, c->stream);
    gpu_real.cuEventDestroy_v2(freed);
  } else if (e.ok) {
    gpu_real.cuMemFree_v2(h->base);
  }
  gpu_context_leave(e);
}

// Puts freed memory into the quarantine. false: it does not fit, and the driver must free it.
static bool put(uint64_t base, const Owned *o, CUevent freed) {
  pthread_mutex_lock(&lock);
  u64map_put(&held, base, &held);
  pthread_mutex_unlock(&lock);
  session_free(base);
  if (session_quarantine_hold(
          &(SessionHeld){base, o->size, o->context->device, o->kind, o->context, freed}, release)) {
    gpu_owned_remove(base);
    return true;
  }
  pthread_mutex_lock(&lock);
  u64map_remove(&held, base);
  pthread_mutex_unlock(&lock);
  session_revive(base);
  return false;
}

static bool may_keep(uint64_t base, Owned *o) {
  return !atomic_load(&captures) && find(base, o) && o->context->stream &&
         !atomic_load(&o->context->faulted);
}

static bool may_hold(uint64_t base, Owned *o) {
  return session_wants(SESSION_WANTS_QUARANTINE) && may_keep(base, o);
}

// A block of a framework's allocator, put there without waiting. One that does not fit into the
// quarantine is free at once.
static bool hold_block(uint64_t base, const Owned *o) {
  if (!gpu_block_freed(o->context, base)) return false;
  if (session_wants(SESSION_WANTS_QUARANTINE) && put(base, o, NULL)) return true;
  session_free(base);
  gpu_owned_remove(base);
  return gpu_block_keep(o->context, base);
}

bool gpu_hold(uint64_t base) {
  Owned o;
  bool holds = session_wants(SESSION_WANTS_QUARANTINE);
  if ((!holds && !gpu_frameworks_uncached()) || !may_keep(base, &o) || o.kind != SESSION_DEVICE)
    return false;
  if (hold_block(base, &o)) return true;
  if (!holds) return false;
  SessionDevice *d = gpu_context_use(o.context);
  if (!d) return false;
  uint64_t mark = session_device_mark(d);
  GpuEntered e = gpu_context_enter(o.context);
  bool ended = e.ok && gpu_real.cuCtxSynchronize() == CUDA_SUCCESS;
  gpu_context_leave(e);
  if (ended) session_device_settled(d, mark);
  gpu_context_used(o.context);
  return ended && put(base, &o, NULL);
}

bool gpu_hold_in_order(uint64_t base, CUstream stream, GpuRecord *record) {
  Owned o;
  CUevent freed = NULL;
  if (!may_hold(base, &o) || o.kind != SESSION_POOL || !gpu_real.cuEventCreate ||
      !gpu_real.cuEventDestroy_v2 || !gpu_real.cuStreamWaitEvent)
    return false;
  if (gpu_is_capturing(stream) || gpu_context_of_stream(stream) != o.context) return false;
  GpuEntered e = gpu_context_enter(o.context);
  bool ok = e.ok && gpu_real.cuEventCreate(&freed, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
  gpu_context_leave(e);
  if (ok && record(freed, stream) == CUDA_SUCCESS && put(base, &o, freed)) return true;
  if (ok) gpu_real.cuEventDestroy_v2(freed);
  return false;
}

bool gpu_quarantine_drain(void) {
  GpuContext *c = session_wants(SESSION_WANTS_QUARANTINE) ? gpu_context_current() : NULL;
  return c && session_quarantine_release(c->device, NULL, release);
}

void gpu_quarantine_leave(GpuContext *c) { session_quarantine_release(c->device, c, release); }

CUresult gpu_cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  GPU_TRY(gpu_checked(gpu_real.cuMemGetInfo_v2(free_bytes, total)));
  GpuContext *c = session_wants(SESSION_WANTS_QUARANTINE) ? gpu_context_current() : NULL;
  if (c)
    *free_bytes = MIN(*free_bytes + session_quarantine_bytes(c->device) + gpu_blocks_cached(c),
                      *total);
  *free_bytes = session_free_for_program(*free_bytes);
  return CUDA_SUCCESS;
}

// A program shall read the same values of a pool as without us. So the quarantine first returns
// memory to the pool, up to the current position of its stream.
CUresult gpu_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void *value) {
  GpuContext *c = session_wants(SESSION_WANTS_QUARANTINE) ? gpu_context_current() : NULL;
  gpu_quarantine_drain();
  for (int tries = 0; c && c->stream && tries < 100; tries++) {
    GpuEntered e = gpu_context_enter(c);
    bool busy = e.ok && gpu_real.cuStreamQuery(c->stream) == CUDA_ERROR_NOT_READY;
    gpu_context_leave(e);
    if (!busy) break;
    nanosleep(&(struct timespec){0, 20000}, NULL);
  }
  return gpu_checked(gpu_real.cuMemPoolGetAttribute(pool, which, value));
}

CUresult gpu_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  gpu_quarantine_drain();
  return gpu_checked(gpu_real.cuMemPoolTrimTo(pool, keep));
}

// --- PyTorch without its cache. It frees tensors while it captures, which the driver refuses, and
// its graphs go on using what was allocated while they were captured: such memory is kept until its
// context ends, and memory freed during a capture is given back when the capture is over. ---

static VEC(uint64_t) waiting;  // freed during a capture; in `owned` still

bool gpu_captures_reserve(void) { return atomic_load(&captures) && gpu_frameworks_uncached(); }

void gpu_owned_reserve(uint64_t base) {
  pthread_mutex_lock(&lock);
  Owned *o = u64map_get(&owned, base);
  if (o) o->reserved = true;
  pthread_mutex_unlock(&lock);
}

GpuFree gpu_free_in_capture(uint64_t base) {
  if (!gpu_frameworks_uncached()) return GPU_FREE_NOW;
  pthread_mutex_lock(&lock);
  Owned *o = u64map_get(&owned, base);
  GpuFree what = GPU_FREE_NOW;
  if (o && o->given) what = GPU_FREED_BEFORE;
  else if (o && o->reserved) what = GPU_FREE_NEVER;
  else if (o && o->kind == SESSION_DEVICE && atomic_load(&captures)) what = GPU_FREE_LATER;
  if (what == GPU_FREE_NEVER || what == GPU_FREE_LATER) o->given = true;
  if (what == GPU_FREE_LATER) vec_push(&waiting, base);
  pthread_mutex_unlock(&lock);
  // Captured launches have their facts already. Memory that a graph keeps is live for its launches,
  // and counts as freed only when the program frees it once more.
  if (what == GPU_FREE_LATER || what == GPU_FREED_BEFORE) session_free(base);
  return what;
}

static void free_waiting(void) {
  VEC(SessionHeld) now = {0};
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < waiting.len; i++) {
    Owned *o = u64map_remove(&owned, waiting.data[i]);
    if (!o) continue;  // its context is gone
    vec_push(&now, ((SessionHeld){.base = waiting.data[i],
                                  .size = o->size,
                                  .device = o->context->device,
                                  .kind = o->kind,
                                  .owner = o->context}));
    u64map_put(&held, waiting.data[i], &held);
    free(o);
  }
  waiting.len = 0;
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < now.len; i++)
    if (!session_quarantine_hold(&now.data[i], release)) release(&now.data[i]);
  vec_free(&now);
}

// --- captures ---

bool gpu_is_capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return gpu_real.cuStreamIsCapturing &&
         gpu_real.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static _Atomic bool has_captured;
bool gpu_may_capture(void) { return atomic_load_explicit(&has_captured, memory_order_relaxed); }
// before the call: another thread may launch into the stream as soon as it captures
static void begins(void) {
  gpu_hash_all_deferred(NULL);
  atomic_store(&has_captured, true);
}

static CUresult begun(CUresult result) {
  if (result == CUDA_SUCCESS) atomic_fetch_add(&captures, 1);
  return result;
}

CUresult gpu_cuStreamBeginCapture(CUstream s) {
  begins();
  return begun(gpu_real.cuStreamBeginCapture(s));
}
CUresult gpu_cuStreamBeginCapture_ptsz(CUstream s) {
  begins();
  return begun(gpu_real.cuStreamBeginCapture_ptsz(s));
}
CUresult gpu_cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) {
  begins();
  return begun(gpu_real.cuStreamBeginCapture_v2(s, mode));
}
CUresult gpu_cuStreamBeginCapture_v2_ptsz(CUstream s, CUstreamCaptureMode mode) {
  begins();
  return begun(gpu_real.cuStreamBeginCapture_v2_ptsz(s, mode));
}
CUresult gpu_cuStreamBeginCaptureToGraph(CUstream s, CUgraph g, const CUgraphNode *after,
                                         const CUgraphEdgeData *edges, size_t n,
                                         CUstreamCaptureMode mode) {
  begins();
  return begun(gpu_real.cuStreamBeginCaptureToGraph(s, g, after, edges, n, mode));
}
CUresult gpu_cuStreamBeginCaptureToGraph_ptsz(CUstream s, CUgraph g, const CUgraphNode *after,
                                              const CUgraphEdgeData *edges, size_t n,
                                              CUstreamCaptureMode mode) {
  begins();
  return begun(gpu_real.cuStreamBeginCaptureToGraph_ptsz(s, g, after, edges, n, mode));
}

// A capture may end with an error too; a call that is refused does not end it.
static CUresult ended(CUresult result, CUstream stream, bool was, const CUgraph *out) {
  if (result == CUDA_SUCCESS && out) session_created(*out);
  if (was && !gpu_is_capturing(stream) && atomic_fetch_sub(&captures, 1) == 1) free_waiting();
  return gpu_checked(result);
}

CUresult gpu_cuStreamEndCapture(CUstream s, CUgraph *out) {
  bool was = gpu_is_capturing(s);
  return ended(gpu_real.cuStreamEndCapture(s, out), s, was, out);
}
CUresult gpu_cuStreamEndCapture_ptsz(CUstream s, CUgraph *out) {
  CUstream stream = s ? s : CU_STREAM_PER_THREAD;
  bool was = gpu_is_capturing(stream);
  return ended(gpu_real.cuStreamEndCapture_ptsz(s, out), stream, was, out);
}
