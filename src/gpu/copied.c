// The driver has taken a copy or set: in stream order it happens now, and what is initialised moves
// along.
//
// Copies to the host are looked at when they have been done: behind an asynchronous one the stream
// copies the shadow of what it copied, and what that says is told at a later copy, or at the end.
#include "gpu/gpu.h"

#include <sys/mman.h>

enum { STAGING = 16 << 20 };  // bytes of shadow on their way, for each context

typedef struct Pending {
  SessionCopy copy;
  SessionCopyOut out;
  size_t at;
  CUevent done;
  struct Pending *next;
} Pending;
typedef struct Staging {
  GpuContext *context;
  char *memory;
  size_t used;
  Pending *first, *last;
  struct Staging *next;
} Staging;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Staging *all;

static Staging *staging_of(GpuContext *c) {
  for (Staging *s = all; s; s = s->next)
    if (s->context == c) return s->memory ? s : NULL;
  Staging *s = mem_alloc(sizeof *s);
  *s = (Staging){.context = c, .next = all};
  all = s;
  void *memory = mmap(NULL, STAGING, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  GpuEntered e = gpu_context_enter(c);
  if (e.ok && gpu_real.cuMemHostRegister_v2(memory, STAGING, 0) == CUDA_SUCCESS) s->memory = memory;
  else munmap(memory, STAGING);
  gpu_context_leave(e);
  return s->memory ? s : NULL;
}

// Tells what the copies that are done have copied, in their order. With the lock held.
static void look_at_done(Staging *s) {
  GpuEntered e = gpu_context_enter(s->context);
  while (s->first && e.ok && gpu_real.cuEventQuery(s->first->done) == CUDA_SUCCESS) {
    Pending *p = s->first;
    s->first = p->next;
    session_copy_out_check(&p->copy, &p->out, s->memory + p->at);
    gpu_real.cuEventDestroy_v2(p->done);
    free(p);
  }
  if (!s->first) {
    s->last = NULL;
    s->used = 0;
  }
  gpu_context_leave(e);
}

static void say_too_much(void) {
  log_once("initcheck staging", "initcheck: more is being copied to the host at once than is kept "
                                "track of; some of it is not looked at");
}

// Behind the copy, in its stream.
static void look_later(GpuContext *c, const SessionCopy *copy, const SessionCopyOut *out) {
  CUstream stream = (CUstream)(uintptr_t)copy->stream;
  CUevent done = NULL;
  pthread_mutex_lock(&lock);
  Staging *s = staging_of(c);
  if (s) look_at_done(s);
  bool fits = s && s->used + out->bytes <= STAGING;
  GpuEntered e = gpu_context_enter(c);
  bool ok = fits && e.ok &&
            gpu_real.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
            gpu_real.cuMemcpyDtoHAsync_v2(s->memory + s->used, out->bits, out->bytes, stream) ==
                CUDA_SUCCESS &&
            gpu_real.cuEventRecord(done, stream) == CUDA_SUCCESS;
  if (!ok && done) gpu_real.cuEventDestroy_v2(done);
  gpu_context_leave(e);
  if (ok) {
    Pending *p = mem_alloc(sizeof *p);
    *p = (Pending){.copy = *copy, .out = *out, .at = s->used, .done = done};
    p->copy.stack = session_copy_stack();
    if (s->last) s->last->next = p;
    else s->first = p;
    s->last = p;
    s->used += out->bytes;
  } else if (s && !fits) {
    say_too_much();
  }
  pthread_mutex_unlock(&lock);
}

// The copy has been done.
static void look_now(GpuContext *c, const SessionCopy *copy, const SessionCopyOut *out) {
  uint8_t *bits = mem_alloc(out->bytes);
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && c->stream &&
            gpu_real.cuMemcpyDtoHAsync_v2(bits, out->bits, out->bytes, c->stream) == CUDA_SUCCESS &&
            gpu_real.cuStreamSynchronize(c->stream) == CUDA_SUCCESS;
  gpu_context_leave(e);
  if (ok) session_copy_out_check(copy, out, bits);
  free(bits);
}

// Memory we were not told of may be the device's all the same: another process's, another API's.
static SessionPlaceKind kind_of(const SessionPlace *p) {
  unsigned type = CU_MEMORYTYPE_HOST;
  if (p->kind != SESSION_PLACE_UNIFIED || !gpu_real.cuPointerGetAttribute) return p->kind;
  bool known = gpu_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                              p->address) == CUDA_SUCCESS;
  return known && type != CU_MEMORYTYPE_HOST ? SESSION_PLACE_DEVICE : SESSION_PLACE_UNIFIED;
}

// What is captured happens when the graph is launched: gpu_shadow_unseen.
void gpu_copy_enqueued(const SessionCopy *c) {
  if (c->captured) return;
  gpu_copy_taken(c);
  gpu_race_copied(c);
  if (!session_wants_shadow()) return;
  GpuContext *context = gpu_context_of_stream((CUstream)(uintptr_t)c->stream);
  SessionDevice *d = gpu_context_use(context);
  if (!d) return;
  SessionCopy copy = *c;
  SessionCopyOut out;
  if (!copy.is_set) copy.to.kind = kind_of(&copy.to);
  if (!copy.stream) copy.stream = CU_STREAM_LEGACY;
  if (!session_copy_out(&copy, &out)) session_copy_runs(d, &copy);
  else if (copy.async) look_later(context, &copy, &out);
  else look_now(context, &copy, &out);
  gpu_context_used(context);
}

// The context goes; what was asked for has been done, if it ever will be.
void gpu_copies_finish(GpuContext *c) {
  gpu_copies_gone(c);
  pthread_mutex_lock(&lock);
  Staging **at = &all;
  while (*at && (*at)->context != c) at = &(*at)->next;
  Staging *s = *at;
  if (s) {
    if (s->memory) look_at_done(s);
    *at = s->next;
    for (Pending *p = s->first, *next; p; p = next) {
      next = p->next;
      free(p);
    }
    free(s);  // its memory stays: a stream may still write to it
  }
  pthread_mutex_unlock(&lock);
}
