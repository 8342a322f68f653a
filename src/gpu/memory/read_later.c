// Reads device memory in the order of a stream without waiting: the stream copies it to memory of
// the host, and a later call, or the end of the context, delivers the bytes.
#include "gpu/gpu.h"

#include <sys/mman.h>

enum { STAGING = 16 << 20 };  // most bytes that are pending, for each context

typedef struct Pending {
  void (*then)(void *arg, const void *bytes);
  void *arg;
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

// Hands over what has been read, in order. With the lock held.
static void hand_over(Staging *s) {
  GpuEntered e = gpu_context_enter(s->context);
  while (s->first && e.ok && gpu_real.cuEventQuery(s->first->done) == CUDA_SUCCESS) {
    Pending *p = s->first;
    s->first = p->next;
    p->then(p->arg, s->memory + p->at);
    gpu_real.cuEventDestroy_v2(p->done);
    free(p);
  }
  if (!s->first) {
    s->last = NULL;
    s->used = 0;
  }
  gpu_context_leave(e);
}

static void append(Staging *s, const Pending *p, size_t bytes) {
  Pending *copy = mem_alloc(sizeof *copy);
  *copy = *p;
  if (s->last) s->last->next = copy;
  else s->first = copy;
  s->last = copy;
  s->used += bytes;
}

SessionReadLater gpu_read_later(void *user, const void *on, uint64_t from, size_t bytes,
                                void (*then)(void *arg, const void *bytes), void *arg) {
  GpuContext *c = user;
  CUstream stream = (CUstream)(uintptr_t)on;
  CUevent done = NULL;
  pthread_mutex_lock(&lock);
  Staging *s = staging_of(c);
  if (s) hand_over(s);
  bool fits = s && s->used + bytes <= STAGING;
  GpuEntered e = gpu_context_enter(c);
  bool ok = fits && e.ok &&
            gpu_real.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
            gpu_real.cuMemcpyDtoHAsync_v2(s->memory + s->used, from, bytes, stream) ==
                CUDA_SUCCESS &&
            gpu_real.cuEventRecord(done, stream) == CUDA_SUCCESS;
  if (!ok && done) gpu_real.cuEventDestroy_v2(done);
  gpu_context_leave(e);
  if (ok) append(s, &(Pending){.then = then, .arg = arg, .at = s->used, .done = done}, bytes);
  pthread_mutex_unlock(&lock);
  return ok ? READ_TAKEN : s && !fits ? READ_NO_ROOM : READ_FAILED;
}

// The context goes; reads that have not ended by now never will.
void gpu_reads_close(GpuContext *c) {
  pthread_mutex_lock(&lock);
  Staging **at = &all;
  while (*at && (*at)->context != c) at = &(*at)->next;
  Staging *s = *at;
  if (s) {
    if (s->memory) hand_over(s);
    *at = s->next;
    for (Pending *p = s->first, *next; p; p = next) {
      next = p->next;
      p->then(p->arg, NULL);
      free(p);
    }
    free(s);  // its memory stays: a stream may still write to it
  }
  pthread_mutex_unlock(&lock);
}
