// Finds out when all pages of a step were taken. An event follows the kernel that copies them; when
// it has come, the heads of both rings say how far they must be read. Nothing waits for it.
#include "gpu/collector.h"
#include "gpu/contents/changed_pages.h"

typedef struct Pending {
  struct Pending *next;
  CUevent kept;  // after the kernel that keeps the pages
  uint32_t step;
  bool is_kept;
  uint64_t heads[2];  // of the ring and of the stage, read after the event `kept`
} Pending;
struct GpuPagesEnds {
  GpuCollected collected;
  GpuPagesRings rings;
  Pending *first, *last, *spare;
};

// In the context: its stream has nothing but copies of ours.
static bool read_heads(const GpuPagesEnds *g, uint64_t heads[2]) {
  CUstream stream = g->collected.context->stream;
  return gpu_real.cuMemcpyDtoHAsync_v2(heads, g->rings.head, 2 * sizeof *heads, stream) ==
             CUDA_SUCCESS &&
         gpu_real.cuStreamSynchronize(stream) == CUDA_SUCCESS;
}

static void note_heads(GpuPagesEnds *g) {
  Pending *from = g->first, *upto;
  while (from && from->is_kept) from = from->next;
  for (upto = from; upto && gpu_real.cuEventQuery(upto->kept) == CUDA_SUCCESS;) upto = upto->next;
  uint64_t heads[2];
  if (from == upto || !read_heads(g, heads)) return;
  for (Pending *p = from; p != upto; p = p->next) {
    p->is_kept = true;
    memcpy(p->heads, heads, sizeof heads);
  }
}

static bool all_taken(const GpuPagesEnds *g, const Pending *p) {
  return p->is_kept && __atomic_load_n(&g->rings.ring->tail, __ATOMIC_ACQUIRE) >= p->heads[0] &&
         gpu_stage_taken(g->rings.stage) >= p->heads[1];
}

static bool tell(GpuPagesEnds *g) {
  bool any = false;
  while (g->first && all_taken(g, g->first)) {
    Pending *p = g->first;
    session_inputs_all_kept(p->step);
    g->first = p->next;
    if (!g->first) g->last = NULL;
    p->next = g->spare;
    g->spare = p;
    any = true;
  }
  return any;
}

static GpuTaken take(GpuCollected *one) {
  GpuPagesEnds *g = (GpuPagesEnds *)one;
  if (!g->first) return GPU_IDLE;
  GpuEntered e = gpu_context_enter(one->context);
  if (e.ok) note_heads(g);
  gpu_context_leave(e);
  return tell(g) ? GPU_TOOK : GPU_WAITS;
}

static GpuCollector ends = GPU_COLLECTOR(take, NULL, 1000);

GpuPagesEnds *gpu_pages_ends_open(GpuContext *c, const GpuPagesRings *rings) {
  GpuPagesEnds *g = mem_alloc(sizeof *g);
  g->collected.context = c;
  g->rings = *rings;
  gpu_collector_add(&ends, &g->collected);
  return g;
}

static Pending *spare_of(GpuPagesEnds *g) {
  Pending *p = g->spare;
  if (p) {
    g->spare = p->next;
    return p;
  }
  p = mem_alloc(sizeof *p);
  if (gpu_real.cuEventCreate(&p->kept, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS) return p;
  free(p);
  return NULL;
}

void gpu_pages_ends_await(GpuPagesEnds *g, CUstream stream, uint32_t step) {
  pthread_mutex_lock(&ends.lock);
  Pending *p = spare_of(g);
  bool ok = p && gpu_real.cuEventRecord(p->kept, stream) == CUDA_SUCCESS;
  if (p) p->next = ok ? NULL : g->spare;
  if (p && !ok) g->spare = p;
  if (ok) {
    p->step = step;
    p->is_kept = false;
    if (g->last) g->last->next = p;
    else g->first = p;
    g->last = p;
    gpu_collector_wake(&ends);
  }
  pthread_mutex_unlock(&ends.lock);
}

// The contents of the rings were taken; events go with the context.
void gpu_pages_ends_close(GpuPagesEnds *g) {
  pthread_mutex_lock(&ends.lock);
  gpu_collector_remove(&ends, &g->collected);
  GpuEntered e = gpu_context_enter(g->collected.context);
  if (e.ok) note_heads(g);
  gpu_context_leave(e);
  tell(g);
  pthread_mutex_unlock(&ends.lock);
}
