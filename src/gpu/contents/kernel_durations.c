// How long launches of a kernel take, measured with two events around its first launch and those
// whose number is a power of two. Only the end of the first is waited for, PATIENCE_NS at most: it
// takes long anyway, and the next launches need the figure.
#include "gpu/gpu.h"

struct GpuDuration {
  GpuContext *context;  // of the events
  CUevent begin, end;
  bool under_way;  // both are recorded, and not read yet
  uint32_t launches;
  uint64_t ns;  // 0: not known
};

enum { SAMPLED_AGAIN = 8, PATIENCE_NS = 100000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// In the context.
static bool make_events(GpuDuration *p, GpuContext *c) {
  if (p->context == c) return true;
  if (gpu_real.cuEventCreate(&p->begin, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
      gpu_real.cuEventCreate(&p->end, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
    return false;
  p->context = c;  // those of another context go with it
  return true;
}

// Loads the code now: the driver would do so in the first launch, and that time would count.
static void load_code(const GpuFunction *f, CUfunction target) {
  if (f->is_kernel && target == f->handle &&
      (!gpu_real.cuKernelGetFunction ||
       gpu_real.cuKernelGetFunction(&target, (CUkernel)target) != CUDA_SUCCESS))
    return;
  if (gpu_real.cuFuncLoad) gpu_real.cuFuncLoad(target);
}

// Reads what was measured, if it has ended. With the lock held, in the context.
static void look(GpuDuration *p) {
  float ms = 0;
  if (!p->under_way || gpu_real.cuEventQuery(p->end) == CUDA_ERROR_NOT_READY) return;
  p->under_way = false;
  if (gpu_real.cuEventElapsedTime(&ms, p->begin, p->end) == CUDA_SUCCESS)
    p->ns = MAX((uint64_t)((double)ms * 1e6), 1);
}

GpuDuration *gpu_duration_begin(GpuFunction *f, CUfunction target, GpuContext *c, CUstream stream,
                                uint32_t *number, bool *sampled) {
  pthread_mutex_lock(&lock);
  if (!f->duration) f->duration = mem_alloc(sizeof *f->duration);
  GpuDuration *p = f->duration;
  uint32_t n = *number = p->launches++;
  bool wanted = !p->under_way && (!n || (n >= SAMPLED_AGAIN && !(n & (n - 1))));
  *sampled = false;
  if (wanted) {
    GpuEntered e = gpu_context_enter(c);
    if (!n) load_code(f, target);
    *sampled = e.ok && make_events(p, c) &&
               gpu_real.cuEventRecord(p->begin, stream) == CUDA_SUCCESS;
    gpu_context_leave(e);
  }
  pthread_mutex_unlock(&lock);
  return p;
}

void gpu_duration_end(GpuDuration *p, GpuContext *c, CUstream stream) {
  pthread_mutex_lock(&lock);
  GpuEntered e = gpu_context_enter(c);
  p->under_way = e.ok && gpu_real.cuEventRecord(p->end, stream) == CUDA_SUCCESS;
  for (uint64_t start = clock_ns(); p->under_way && !p->ns && clock_ns() - start < PATIENCE_NS;)
    look(p);
  gpu_context_leave(e);
  pthread_mutex_unlock(&lock);
}

uint64_t gpu_duration_ns(GpuDuration *p, GpuContext *c) {
  pthread_mutex_lock(&lock);
  if (p->under_way) {
    GpuEntered e = gpu_context_enter(c);
    if (e.ok) look(p);
    gpu_context_leave(e);
  }
  // the first takes longer than that, or cannot be measured
  uint64_t ns = p->ns ? p->ns : PATIENCE_NS;
  pthread_mutex_unlock(&lock);
  return ns;
}
