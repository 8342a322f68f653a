// Changed pages that wait in device memory, so that the program's stream does not wait for the bus.
// A thread of ours takes them from there in a stream of its own. A kernel never waits for that
// thread, because it calls the driver, which may wait for the kernel: when no place is free, pages
// go to the ring of changed_pages.c.
#include "gpu/gpu.h"

#include <sys/mman.h>

#include "gpu/collector.h"
#include "gpu/contents/changed_pages.h"

// 256 to 16 MB of the device's memory, no more than so much of what is free
enum { MOST_PLACES = 4096, FEWEST_PLACES = 256, AT_ONCE = 64, PART_OF_FREE = 32 };

struct GpuStage {
  GpuCollected collected;
  CUstream stream;
  WgPagesStage *heads;
  CUdeviceptr heads_at;
  CUdeviceptr pages;
  uint8_t *bounce;  // [AT_ONCE] pages
  uint32_t places;
  bool failed;
};

// Counts the complete pages that follow one another from `tail` on.
static uint32_t ready(const GpuStage *s, uint64_t tail) {
  uint32_t n = 0, first = (uint32_t)(tail & (s->places - 1));
  while (n < AT_ONCE && first + n < s->places &&
         __atomic_load_n(&s->heads->heads[first + n].sequence, __ATOMIC_ACQUIRE) == tail + n + 1)
    n++;
  return n;
}

// In the context. false: no page is complete.
static bool copy_some(GpuStage *s) {
  uint64_t tail = s->heads->tail, first = tail & (s->places - 1);
  uint32_t n = s->failed ? 0 : ready(s, tail);
  if (!n) return false;
  bool ok = gpu_real.cuMemcpyDtoHAsync_v2(s->bounce, s->pages + first * WG_PAGE_BYTES,
                                          (size_t)n * WG_PAGE_BYTES, s->stream) == CUDA_SUCCESS &&
            gpu_real.cuStreamSynchronize(s->stream) == CUDA_SUCCESS;
  if (!ok) {
    // a kernel has failed; places are not free again, and who comes next uses the other ring
    s->failed = true;
    log_error("the inputs of launches are not complete: pages of device %d were lost",
              (int)s->collected.context->device);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    const WgPagesHead *h = &s->heads->heads[first + i];
    session_inputs_page(h->step, h->address, s->bounce + (size_t)i * WG_PAGE_BYTES,
                        MIN(h->bytes, (uint64_t)WG_PAGE_BYTES));
  }
  __atomic_store_n(&s->heads->tail, tail + n, __ATOMIC_RELEASE);
  return true;
}

static GpuTaken take(GpuCollected *one) {
  GpuStage *s = (GpuStage *)one;
  if (s->failed || !ready(s, s->heads->tail)) return GPU_WAITS;
  GpuEntered e = gpu_context_enter(one->context);
  bool any = e.ok && copy_some(s);
  gpu_context_leave(e);
  return any ? GPU_TOOK : GPU_WAITS;
}

static GpuCollector staged = GPU_COLLECTOR(take, NULL, 500);

static bool make(GpuStage *s) {
  size_t free_bytes = 0, total = 0;
  if (gpu_real.cuMemGetInfo_v2(&free_bytes, &total) != CUDA_SUCCESS) return false;
  const char *wanted = getenv("WARPGRIND_INPUTS_PLACES");  // for tests: a power of two; 0: none
  for (s->places = MOST_PLACES; (size_t)s->places * WG_PAGE_BYTES > free_bytes / PART_OF_FREE;)
    s->places /= 2;
  if (wanted) s->places = (uint32_t)strtoul(wanted, NULL, 10);
  if (s->places < (wanted ? 1 : FEWEST_PLACES)) return false;
  size_t bytes = sizeof(WgPagesStage) + s->places * sizeof(WgPagesHead);
  void *bounce = NULL,
       *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  s->heads = memory;
  bool ok = gpu_real.cuMemHostRegister_v2(memory, bytes, CU_MEMHOSTREGISTER_DEVICEMAP) ==
                CUDA_SUCCESS &&
            gpu_real.cuMemHostGetDevicePointer_v2(&s->heads_at, memory, 0) == CUDA_SUCCESS &&
            gpu_real.cuMemHostAlloc(&bounce, (size_t)AT_ONCE * WG_PAGE_BYTES, 0) == CUDA_SUCCESS &&
            gpu_real.cuStreamCreate(&s->stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
            gpu_real.cuMemAlloc_v2(&s->pages, (size_t)s->places * WG_PAGE_BYTES) == CUDA_SUCCESS &&
            // the first copy takes longest
            gpu_real.cuMemcpyDtoHAsync_v2(bounce, s->pages, WG_PAGE_BYTES, s->stream) ==
                CUDA_SUCCESS &&
            gpu_real.cuStreamSynchronize(s->stream) == CUDA_SUCCESS;
  s->bounce = bounce;
  return ok;
}

GpuStage *gpu_stage_open(GpuContext *c) {
  GpuStage *s = mem_alloc(sizeof *s);
  s->collected.context = c;
  if (!make(s)) {
    free(s);  // what it has got goes with the context
    return NULL;
  }
  gpu_collector_add(&staged, &s->collected);
  return s;
}

void gpu_stage_use(const GpuStage *s, WgPagesWork *w) {
  if (!s) return;
  w->stage = s->heads_at;
  w->pages = s->pages;
  w->staged = s->places;
}

uint64_t gpu_stage_taken(const GpuStage *s) {
  return s ? __atomic_load_n(&s->heads->tail, __ATOMIC_ACQUIRE) : 0;
}

void gpu_stage_close(GpuStage *s) {
  if (!s) return;
  pthread_mutex_lock(&staged.lock);
  GpuEntered e = gpu_context_enter(s->collected.context);
  while (e.ok && copy_some(s)) continue;
  gpu_context_leave(e);
  gpu_collector_remove(&staged, &s->collected);
  pthread_mutex_unlock(&staged.lock);  // its memory stays: a kernel that has not ended writes there
}
