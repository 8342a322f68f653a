// Keeps the contents of memory before a launch (session_inputs), on a GPU. In the launch's stream a
// kernel of ours (probe/changed_pages_kernel.cu) hashes the pages that may have changed and copies
// those that have: to device memory (changed_pages_stage.c) or, when that is full, to a ring in
// host memory, from which a thread of ours takes them. The stream waits only for that thread, and
// only while the ring is full; the host never waits for a stream.
#include "gpu/gpu.h"

#include "gpu/collector.h"
#include "gpu/contents/changed_pages.h"
#include "gpu/own_kernel.h"

_Static_assert((int)WG_PAGE_BYTES == (int)SESSION_PAGE, "pages are the same on both devices");
enum { SLOTS = 256, TABLE_CHUNK = 4 << 20 };  // 16 MB on their way, for each context

typedef struct Table {
  uint64_t allocation;
  CUdeviceptr at;
  uint64_t pages;
} Table;
struct GpuPages {
  GpuCollected collected;
  CUfunction kernel;
  GpuStage *stage;
  GpuPagesEnds *ends;
  CUdeviceptr head;  // uint64_t[2]
  WgPagesRing *ring;
  CUdeviceptr ring_at;
  unsigned blocks;
  U64Map tables;  // base -> Table
  CUdeviceptr chunk;
  uint64_t chunk_left;  // memory for tables
  bool failed_said;
};
typedef struct GpuPages GpuPages;

extern const char probe_changed_pages_kernel_text[];

static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;

// --- pages ---

// Sends pages while the lock is held: only the thread that takes pages waits for it.
static GpuTaken take(GpuCollected *one) {
  GpuPages *g = (GpuPages *)one;
  GpuTaken any = GPU_WAITS;
  for (;;) {
    uint64_t tail = g->ring->tail;
    WgPagesSlot *s = &g->ring->slots[tail & (SLOTS - 1)];
    if (__atomic_load_n(&s->head.sequence, __ATOMIC_ACQUIRE) != tail + 1) return any;
    session_inputs_page(s->head.step, s->head.address, s->data,
                        MIN(s->head.bytes, (uint64_t)WG_PAGE_BYTES));
    __atomic_store_n(&g->ring->tail, tail + 1, __ATOMIC_RELEASE);
    any = GPU_TOOK;
  }
}

static GpuCollector ring_pages = GPU_COLLECTOR(take, NULL, 200);

// --- a context's part ---

static bool load(GpuPages *g) {
  GpuOwnKernel own = {0};
  bool ok = gpu_own_kernel_load(&own, g->collected.context, probe_changed_pages_kernel_text,
                                "wg_copy_changed_pages",
                                sizeof(WgPagesRing) + SLOTS * sizeof(WgPagesSlot), 256);
  g->ring = own.host;
  g->ring_at = own.host_at;
  g->kernel = own.function;
  g->head = own.device;
  g->blocks = own.processors * 4;
  if (ok) g->stage = gpu_stage_open(g->collected.context);
  return ok;
}

void gpu_pages_open(GpuContext *c) {
  if (!session_wants(SESSION_WANTS_INPUTS) || c->pages) return;
  GpuPages *g = mem_alloc(sizeof *g);
  g->collected.context = c;
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && c->stream && load(g);
  gpu_context_leave(e);
  if (!ok) {
    log_error(
        "the inputs of launches are not kept on device %d: the kernel that copies pages cannot be "
        "loaded",
        (int)c->device);
    free(g);
    return;
  }
  c->pages = g;
  g->ends = gpu_pages_ends_open(c, &(GpuPagesRings){g->ring, g->stage, g->head});
  gpu_collector_add(&ring_pages, &g->collected);
}

// All its work has ended, or never will.
void gpu_pages_close(GpuContext *c) {
  GpuPages *g = c->pages;
  if (!g) return;
  pthread_mutex_lock(&ring_pages.lock);
  gpu_collector_remove(&ring_pages, &g->collected);
  take(&g->collected);
  c->pages = NULL;
  // its memory stays: a kernel that has not ended writes there
  pthread_mutex_unlock(&ring_pages.lock);
  gpu_stage_close(g->stage);
  gpu_pages_ends_close(g->ends);
}

// --- before a launch ---

// Makes a table of zeros: no page was kept. Uses the context's own stream, so that it waits for
// nothing of the program.
static CUdeviceptr new_table(GpuPages *g, uint64_t bytes) {
  bytes = (bytes + 255) / 256 * 256;
  if (bytes > g->chunk_left) {
    uint64_t size = MAX(bytes, (uint64_t)TABLE_CHUNK);
    CUdeviceptr chunk;
    if (gpu_real.cuMemAlloc_v2(&chunk, size) != CUDA_SUCCESS) return 0;
    g->chunk = chunk;
    g->chunk_left = size;
  }
  CUdeviceptr at = g->chunk;
  if (gpu_real.cuMemsetD8Async(at, 0, bytes, g->collected.context->stream) != CUDA_SUCCESS ||
      gpu_real.cuStreamSynchronize(g->collected.context->stream) != CUDA_SUCCESS)
    return 0;
  g->chunk += bytes;
  g->chunk_left -= bytes;
  return at;
}

// Finds the table of an allocation. The table of an earlier allocation at the same address is used
// again if it is large enough; it is set to zero in stream order.
static CUdeviceptr table_of(GpuPages *g, const SessionPart *p, CUstream stream) {
  uint64_t pages = (p->size + WG_PAGE_BYTES - 1) / WG_PAGE_BYTES;
  Table *t = u64map_get(&g->tables, p->base);
  if (t && t->allocation == p->allocation && t->pages >= pages) return t->at;
  if (!t) u64map_put(&g->tables, p->base, t = mem_alloc(sizeof *t));
  if (t->at && t->pages >= pages) {
    t->allocation = p->allocation;
    return gpu_real.cuMemsetD8Async(t->at, 0, pages * 8, stream) == CUDA_SUCCESS ? t->at : 0;
  }
  *t = (Table){p->allocation, new_table(g, pages * 8), pages};
  if (!t->at) t->pages = 0;
  return t->at;
}

// Clears entries of pages that were kept otherwise since.
static bool forget(const SessionPart *p, CUdeviceptr table, CUstream stream) {
  uint64_t from = p->forget.from / WG_PAGE_BYTES,
           to = (MIN(p->forget.to, p->size) + WG_PAGE_BYTES - 1) / WG_PAGE_BYTES;
  return from >= to ||
         gpu_real.cuMemsetD8Async(table + from * 8, 0, (to - from) * 8, stream) == CUDA_SUCCESS;
}

static bool launch_copy(GpuPages *g, const SessionInputs *in, uint32_t first, CUstream stream) {
  WgPagesWork w = {.ring = g->ring_at,
                   .head = g->head,
                   .slots = SLOTS,
                   .step = in->step,
                   .count = MIN(in->parts.len - first, (uint32_t)WG_PAGES_PARTS)};
  gpu_stage_use(g->stage, &w);
  uint64_t pages = 0;
  for (uint32_t i = 0; i < w.count; i++) {
    const SessionPart *p = &in->parts.data[first + i];
    uint64_t from = p->from / WG_PAGE_BYTES,
             to = (MIN(p->to, p->size) + WG_PAGE_BYTES - 1) / WG_PAGE_BYTES;
    pages += to - from;
    w.parts[i] = (WgPagesPart){.base = p->base,
                               .bytes = p->size,
                               .first = from,
                               .pages = pages,
                               .table = table_of(g, p, stream)};
    if (!w.parts[i].table || !forget(p, w.parts[i].table, stream)) return false;
  }
  void *params[] = {&w};
  return !pages ||
         gpu_real.cuLaunchKernel(g->kernel, (unsigned)MIN(pages, (uint64_t)g->blocks), 1, 1,
                                 WG_PAGES_THREADS, 1, 1, 0, stream, params, NULL) == CUDA_SUCCESS;
}

void gpu_pages_keep(GpuContext *c, CUstream stream, const SessionInputs *in) {
  if (!in) return;
  if (!in->parts.len) {
    session_inputs_all_kept(in->step);
    return;
  }
  SessionDevice *d = gpu_context_use(c);  // so that the context is not closed meanwhile
  GpuPages *g = d ? c->pages : NULL;
  bool ok = g != NULL;
  GpuEntered e = gpu_context_enter(c);
  pthread_mutex_lock(&tables_lock);
  for (uint32_t first = 0; ok && e.ok && first < in->parts.len; first += WG_PAGES_PARTS)
    ok = launch_copy(g, in, first, stream);
  if (ok && e.ok) gpu_pages_ends_await(g->ends, stream, in->step);
  pthread_mutex_unlock(&tables_lock);
  gpu_context_leave(e);
  if (g && !ok && !g->failed_said) {
    g->failed_said = true;
    log_error(
        "the inputs of launches are not complete: device %d has no memory to find changed pages",
        (int)c->device);
  }
  if (d) gpu_context_used(c);
}
