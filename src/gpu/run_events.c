// Reports launches on a GPU to the session, and has scratch memory for them.
#include "gpu/gpu.h"

static CUstream stream_of(const void *s) { return (CUstream)(uintptr_t)s; }
static CUstream named(CUstream s) { return s ? s : CU_STREAM_LEGACY; }

// --- scratch memory: one slab for each stream, whose launches use it one after the other ---

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

// overlaps: the launch may begin before the stream's previous launch has ended, and would write to
// a slab in use; a memset of one byte makes it wait. 0: there is no memory. A slab that is too
// small stays until the context goes, for the launches that use it.
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

static uint64_t scratch(SessionRun *r, size_t bytes) {
  const GpuLaunch *l = r->user;
  return take_slab(l->context, stream_of(l->event.stream), bytes, l->event.overlaps);
}

// --- launches ---

void gpu_run_begins(GpuLaunch *l, SessionDevice *d, const SessionParams *given, void *record) {
  if (!session_wants(SESSION_WANTS_CONTENTS)) return;
  l->run = (SessionRun){.kernel = l->of->kernel,
                        .shape = &l->event,
                        .params = given,
                        .record = record,
                        .shared = (uint32_t)static_shared(l) + l->event.shared,
                        .scratch = scratch,
                        .user = l};
  session_launch_begins(d, l->event.stream, &l->run);
  l->run.params = NULL;  // the caller's
}

// A captured launch runs when its graph is launched: gpu_unchecked_writes.
void gpu_run_ends(GpuLaunch *l) {
  if (!session_wants(SESSION_WANTS_CONTENTS) || session_run_settled(&l->run) ||
      (l->of && l->event.captured))
    return;
  CUstream stream = stream_of(l->event.stream);
  if (gpu_is_capturing(stream)) return;
  GpuContext *c = l->context ? l->context : gpu_context_of_stream(stream);
  SessionDevice *d = gpu_context_use(c);
  if (!d) return;
  l->run.record = NULL;
  session_launch_ends(d, named(stream), &l->run);
  gpu_context_used(c);
}

void gpu_unchecked_writes(GpuContext *c, CUstream stream) {
  SessionDevice *d = session_wants(SESSION_WANTS_CONTENTS) ? gpu_context_use(c) : NULL;
  if (!d) return;
  session_unchecked_writes(d, named(stream));
  gpu_context_used(c);
}

void gpu_runs_close(GpuContext *c) {
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < SLABS; i++)
    if (slabs[i].context == c) slabs[i] = (Slab){0};
  pthread_mutex_unlock(&lock);
}
