// Tools look at copies to the host when they are done. For an asynchronous copy we find that out
// after a wait of the program, by an event after the copy. Before such a wait the program may not
// use the copied memory; right after it, the program has not used it yet.
#include "gpu/gpu.h"

enum { PENDING = 256 };  // older ones are not looked at

typedef struct Pending {
  SessionCopy copy;
  GpuContext *context;
  CUevent done;
} Pending;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Pending pending[PENDING];
static _Atomic uint32_t npending;

// With the lock held.
static void drop(uint32_t i) {
  GpuEntered e = gpu_context_enter(pending[i].context);
  if (e.ok) gpu_real.cuEventDestroy_v2(pending[i].done);
  gpu_context_leave(e);
  memmove(&pending[i], &pending[i + 1], (npending - i - 1) * sizeof *pending);
  npending--;
}

static void look_later(GpuContext *context, const SessionCopy *c) {
  Pending p = {*c, context, NULL};
  GpuEntered e = gpu_context_enter(context);
  bool ok = e.ok && gpu_real.cuEventCreate(&p.done, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
  if (ok && gpu_real.cuEventRecord(p.done, (CUstream)(uintptr_t)c->stream) != CUDA_SUCCESS) {
    gpu_real.cuEventDestroy_v2(p.done);
    ok = false;
  }
  gpu_context_leave(e);
  if (!ok) return;
  pthread_mutex_lock(&lock);
  if (npending == PENDING) drop(0);
  pending[npending++] = p;
  pthread_mutex_unlock(&lock);
}

void gpu_copy_taken(const SessionCopy *c) {
  if (!session_copy_wanted(c)) return;
  GpuContext *context = c->async ? gpu_context_of_stream((CUstream)(uintptr_t)c->stream) : NULL;
  if (!c->async) session_copy_done(c);
  else if (context) look_later(context, c);
}

void gpu_copies_gone(GpuContext *c) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = npending; i-- > 0;)
    if (pending[i].context == c) drop(i);
  pthread_mutex_unlock(&lock);
}

void gpu_copies_waited(void) {
  if (!npending) return;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < npending;) {
    GpuEntered e = gpu_context_enter(pending[i].context);
    bool done = e.ok && gpu_real.cuEventQuery(pending[i].done) == CUDA_SUCCESS;
    gpu_context_leave(e);
    if (!done) {
      i++;
      continue;
    }
    SessionCopy copy = pending[i].copy;
    drop(i);
    session_copy_done(&copy);
  }
  pthread_mutex_unlock(&lock);
}
