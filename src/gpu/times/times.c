// When launches and copies ran: an event before and one after each, in its stream. A thread of ours
// reads them when they are done; nothing waits for them. CUPTI measures better, where it can be
// used (times_cupti.c).
#include "gpu/times/times.h"

#include "gpu/collector.h"

// pending launches of a context; those beyond it are not timed
enum { PENDING = 4096, AT_ONCE = 256 };
// a difference of times has 24 bits: farther from the first event they would be too coarse
static const float FAR_MS = 4000;

typedef struct Timed {
  CUevent begin, end;
  GpuTimed what;
  struct Timed *next;
} Timed;
struct GpuTimes {
  GpuCollected collected;
  CUevent base;
  uint64_t base_ns;
  Timed *first, *last, *spare;
  uint32_t pending;
};
typedef struct GpuTimes GpuTimes;

// In the context. Its own stream is idle but for what we put there.
static bool set_base(GpuTimes *t) {
  if (!t->base && gpu_real.cuEventCreate(&t->base, CU_EVENT_DEFAULT) != CUDA_SUCCESS) return false;
  if (gpu_real.cuEventRecord(t->base, t->collected.context->stream) != CUDA_SUCCESS ||
      gpu_real.cuEventSynchronize(t->base) != CUDA_SUCCESS)
    return false;
  t->base_ns = clock_ns();
  return true;
}

void gpu_timed_ran(const GpuTimed *what, const SessionTimes *t) {
  if (what->is_copy) session_copy_ran(what->number, t);
  else session_launch_ran((uint32_t)what->number, t);
}

static uint64_t time_of(const GpuTimes *t, CUevent e, float *ms) {
  if (gpu_real.cuEventElapsedTime(ms, t->base, e) != CUDA_SUCCESS) return 0;
  return (uint64_t)((double)t->base_ns + (double)*ms * 1e6);
}

// Reports the times of work that has ended, AT_ONCE launches at most. With the lock held, in the
// context.
static void take_done(GpuTimes *t) {
  float ms = 0;
  uint64_t ended[AT_ONCE];
  uint32_t n = 0;
  while (t->first && n < AT_ONCE && gpu_real.cuEventQuery(t->first->end) == CUDA_SUCCESS) {
    Timed *one = t->first;
    if (!one->what.is_copy) ended[n++] = one->what.number;
    uint64_t begin = time_of(t, one->begin, &ms), end = time_of(t, one->end, &ms);
    if (begin && end)
      gpu_timed_ran(&one->what, &(SessionTimes){.begin = begin, .end = end, .source = "events"});
    t->first = one->next;
    if (!t->first) t->last = NULL;
    one->next = t->spare;
    t->spare = one;
    t->pending--;
  }
  SessionDevice *d = n ? gpu_context_use(t->collected.context) : NULL;
  if (d) session_launches_ended(d, ended, n);
  if (d) gpu_context_used(t->collected.context);
  if (ms > FAR_MS) set_base(t);
}

static GpuTaken take(GpuCollected *one) {
  GpuTimes *t = (GpuTimes *)one;
  if (!t->first) return GPU_IDLE;
  GpuEntered e = gpu_context_enter(one->context);
  if (e.ok) take_done(t);
  gpu_context_leave(e);
  return GPU_WAITS;
}

static bool by_cupti;  // not changed after the first context was met
static GpuCollector times = GPU_COLLECTOR(take, NULL, 1000);

void gpu_times_open(GpuContext *c) {
  if (!session_wants(SESSION_WANTS_LAUNCH_TIMES) || c->times || !c->stream ||
      !gpu_real.cuEventElapsedTime)
    return;
  if (session_wants(SESSION_WANTS_CUPTI) && gpu_cupti_open()) {
    by_cupti = true;
    return;
  }
  GpuTimes *t = mem_alloc(sizeof *t);
  t->collected.context = c;
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && set_base(t);
  gpu_context_leave(e);
  if (!ok) {
    free(t);
    return;
  }
  c->times = t;
  gpu_collector_add(&times, &t->collected);
}

// All its work has ended, or never will.
void gpu_times_close(GpuContext *c) {
  GpuTimes *t = c->times;
  if (by_cupti) gpu_cupti_flush();
  if (!t) return;
  pthread_mutex_lock(&times.lock);
  gpu_collector_remove(&times, &t->collected);
  GpuEntered e = gpu_context_enter(c);
  if (e.ok) take_done(t);
  gpu_context_leave(e);
  c->times = NULL;  // its events go with the context
  pthread_mutex_unlock(&times.lock);
}

static Timed *spare_of(GpuTimes *t) {
  Timed *one = t->spare;
  if (one) {
    t->spare = one->next;
    return one;
  }
  one = mem_alloc(sizeof *one);
  if (gpu_real.cuEventCreate(&one->begin, CU_EVENT_DEFAULT) == CUDA_SUCCESS &&
      gpu_real.cuEventCreate(&one->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS)
    return one;
  free(one);
  return NULL;
}

void *gpu_times_begin(GpuContext *c, CUstream stream) {
  if (by_cupti) return c;
  if (!c || !c->times) return NULL;
  SessionDevice *d = gpu_context_use(c);
  GpuEntered e = gpu_context_enter(c);
  pthread_mutex_lock(&times.lock);
  GpuTimes *t = d ? c->times : NULL;
  Timed *one = t && e.ok && t->pending < PENDING ? spare_of(t) : NULL;
  if (one && gpu_real.cuEventRecord(one->begin, stream) != CUDA_SUCCESS) {
    one->next = t->spare;
    t->spare = one;
    one = NULL;
  }
  if (one) t->pending++;
  pthread_mutex_unlock(&times.lock);
  gpu_context_leave(e);
  if (d) gpu_context_used(c);
  return one;
}

void gpu_times_end(GpuContext *c, CUstream stream, void *began, GpuTimed what) {
  Timed *one = began;
  if (!one) return;
  if (by_cupti) {
    if (what.number) gpu_cupti_asked(c->handle, stream, &what);
    return;
  }
  SessionDevice *d = gpu_context_use(c);
  GpuEntered e = gpu_context_enter(c);
  pthread_mutex_lock(&times.lock);
  GpuTimes *t = d ? c->times : NULL;
  bool ok = t && what.number && e.ok && gpu_real.cuEventRecord(one->end, stream) == CUDA_SUCCESS;
  one->what = what;
  one->next = NULL;
  if (ok && t->last) t->last = t->last->next = one;
  else if (ok) t->first = t->last = one;
  else if (t) {
    one->next = t->spare;
    t->spare = one;
    t->pending--;
  }
  gpu_collector_wake(&times);
  pthread_mutex_unlock(&times.lock);
  gpu_context_leave(e);
  if (d) gpu_context_used(c);
}
