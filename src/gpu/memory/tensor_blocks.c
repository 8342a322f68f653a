// PyTorch and JAX with their caches turned off, so that every tensor is an allocation of the
// driver: memory they free is kept for their next tensor of that size. cuMemAlloc and cuMemFree
// take a hundred microseconds, and wait for the GPU; a framework's own cache does neither.
//
// A block is used again when all work has ended that the context had when the block was freed. One
// event for the whole context reports that; the next event is recorded when it has come.
#define _GNU_SOURCE

#include <link.h>

#include "gpu/closed/closed.h"
#include "gpu/gpu.h"
#include "weave/weave.h"

typedef struct Block {
  CUdeviceptr base;
  size_t bytes;
  uint64_t freed;  // number of the free; 0: the program has it
  struct Block *next;
} Block;

typedef struct Queue {  // free blocks of one size, the oldest first
  Block *first, *last;
} Queue;

struct GpuBlocks {
  U64Map given;                  // base -> Block, of the program or in quarantine
  U64Map queues;                 // bytes -> Queue
  uint64_t frees, ended, asked;  // numbers of frees: the last; last whose work has ended; of event
  CUevent event;                 // of `asked`
  bool waits;
  uint64_t mark;  // session_device_mark of `asked`
  size_t cached;  // bytes in the queues
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map idle;  // base -> Block, of all queues: the driver would free them a second time

// --- is there such a framework? ---

typedef struct Seen {
  unsigned long long adds;
  bool framework;
} Seen;

static int look_at_object(struct dl_phdr_info *info, size_t size, void *user) {
  Seen *s = user;
  if (info->dlpi_adds == s->adds) return 1;  // nothing was loaded since
  const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  const char *name = slash ? slash + 1 : info->dlpi_name ? info->dlpi_name : "";
  if (!strncmp(name, "libc10_cuda.so", 14) || !strncmp(name, "xla_cuda_plugin", 15))
    s->framework = true;
  return s->framework;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *user) {
  *(unsigned long long *)user = info->dlpi_adds;
  return 1;
}

bool gpu_frameworks_uncached(void) {
  static _Atomic int wanted;  // 1: no, 2: yes
  static _Atomic bool found;
  static _Atomic unsigned long long last;
  if (atomic_load_explicit(&found, memory_order_relaxed)) return true;
  if (!wanted) {
    const char *ours = getenv("WARPGRIND_UNCACHED");
    const char *set = getenv("PYTORCH_NO_CUDA_MEMORY_CACHING");
    wanted = tools_need_each_object(session_tools()) && ((set && *set) || ours) ? 2 : 1;
  }
  if (wanted == 1) return false;
  Seen s = {.adds = atomic_load(&last)};
  dl_iterate_phdr(look_at_object, &s);
  if (s.framework) atomic_store(&found, true);
  else {
    unsigned long long adds = 0;
    dl_iterate_phdr(count_loads, &adds);
    atomic_store(&last, adds);
  }
  return s.framework;
}

// --- which work has ended ---

static void ask(GpuContext *c, struct GpuBlocks *b, SessionDevice *d) {
  if (b->waits && gpu_real.cuEventQuery(b->event) == CUDA_SUCCESS) {
    b->waits = false;
    b->ended = b->asked;
    if (d) session_device_settled(d, b->mark);
  }
  if (b->waits || b->ended == b->frees) return;
  if (d) b->mark = session_device_mark(d);
  b->waits = gpu_real.cuCtxRecordEvent(c->handle, b->event) == CUDA_SUCCESS;
  b->asked = b->frees;
}

// Eighths of a power of two: at most a ninth of a block is not used, and a tensor of about the same
// size finds it again.
static size_t block_bytes(size_t bytes) {
  size_t step = 512;
  while (step * 8 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

static Block *take_free(struct GpuBlocks *b, size_t bytes) {
  Queue *q = u64map_get(&b->queues, bytes);
  Block *k = q ? q->first : NULL;
  if (!k || k->freed > b->ended) return NULL;
  q->first = k->next;
  b->cached -= k->bytes;
  u64map_remove(&idle, k->base);
  return k;
}

static struct GpuBlocks *blocks_of(GpuContext *c) {
  if (c->blocks || !gpu_real.cuCtxRecordEvent || !gpu_real.cuEventQuery) return c->blocks;
  struct GpuBlocks *b = mem_alloc(sizeof *b);
  if (gpu_real.cuEventCreate(&b->event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS)
    return c->blocks = b;
  free(b);
  return NULL;
}

// --- blocks of the program ---

bool gpu_block_alloc(CUdeviceptr *out, size_t size, CUresult *result) {
  const size_t largest = (size_t)1 << 40;
  GpuContext *c = size && size < largest && gpu_frameworks_uncached() ? gpu_context_current()
                                                                      : NULL;
  if (!c || !c->stream || atomic_load(&c->faulted)) return false;
  SessionDevice *d = gpu_context_use(c);
  pthread_mutex_lock(&lock);
  struct GpuBlocks *b = blocks_of(c);
  size_t bytes = block_bytes(size + gpu_closed_gap(size));
  Block *k = NULL;
  if (b) {
    ask(c, b, d);
    k = take_free(b, bytes);
  }
  pthread_mutex_unlock(&lock);
  if (k) session_contents_kept(k->base);
  if (d) gpu_context_used(c);
  if (!b) return false;
  *result = CUDA_SUCCESS;
  if (!k) {
    CUdeviceptr base = 0;
    *result = GPU_RETRY(gpu_real.cuMemAlloc_v2(&base, bytes));
    if (*result != CUDA_SUCCESS) return false;  // perhaps there is room for what was asked for
    k = mem_alloc(sizeof *k);
    *k = (Block){.base = base, .bytes = bytes};
  }
  k->freed = 0;
  k->next = NULL;
  pthread_mutex_lock(&lock);
  u64map_put(&b->given, k->base, k);
  pthread_mutex_unlock(&lock);
  *out = k->base;
  return true;
}

static Block *given(const GpuContext *c, uint64_t base) {
  return c->blocks ? u64map_get(&c->blocks->given, base) : NULL;
}

bool gpu_block_freed(GpuContext *c, uint64_t base) {
  pthread_mutex_lock(&lock);
  Block *k = given(c, base);
  if (k) k->freed = ++c->blocks->frees;
  pthread_mutex_unlock(&lock);
  return k != NULL;
}

bool gpu_block_keep(GpuContext *c, uint64_t base) {
  pthread_mutex_lock(&lock);
  Block *k = given(c, base);
  if (k && !k->freed) k = NULL;
  if (k) {
    u64map_remove(&c->blocks->given, base);
    Queue *q = u64map_get(&c->blocks->queues, k->bytes);
    if (!q) u64map_put(&c->blocks->queues, k->bytes, q = mem_alloc(sizeof *q));
    if (q->first) q->last->next = k;
    else q->first = k;
    q->last = k;
    c->blocks->cached += k->bytes;
    u64map_put(&idle, base, k);
  }
  pthread_mutex_unlock(&lock);
  return k != NULL;
}

bool gpu_block_is_idle(uint64_t base) {
  pthread_mutex_lock(&lock);
  bool found = idle.len && u64map_get(&idle, base);
  pthread_mutex_unlock(&lock);
  return found;
}

void gpu_block_forget(GpuContext *c, uint64_t base) {
  pthread_mutex_lock(&lock);
  if (c->blocks) free(u64map_remove(&c->blocks->given, base));
  pthread_mutex_unlock(&lock);
}

// --- memory is short, or asked about ---

typedef VEC(Block *) BlockList;

// With the lock held: what is in the queues.
static BlockList take_idle(struct GpuBlocks *b) {
  BlockList all = {0};
  uint32_t it = 0;
  uint64_t bytes;
  void *queue;
  while (b && u64map_next(&b->queues, &it, &bytes, &queue)) {
    Queue *q = queue;
    for (Block *k = q->first; k; k = k->next) {
      vec_push(&all, k);
      u64map_remove(&idle, k->base);
    }
    q->first = NULL;
  }
  if (b) b->cached = 0;
  return all;
}

bool gpu_blocks_trim(void) {
  GpuContext *c = gpu_frameworks_uncached() ? gpu_context_current() : NULL;
  pthread_mutex_lock(&lock);
  BlockList all = take_idle(c ? c->blocks : NULL);
  pthread_mutex_unlock(&lock);
  bool any = all.len != 0;
  for (uint32_t i = 0; i < all.len; i++) {
    gpu_real.cuMemFree_v2(all.data[i]->base);  // waits for whoever uses it
    free(all.data[i]);
  }
  vec_free(&all);
  return any;
}

// Its memory goes with it.
void gpu_blocks_gone(GpuContext *c) {
  pthread_mutex_lock(&lock);
  struct GpuBlocks *b = c->blocks;
  c->blocks = NULL;
  BlockList all = take_idle(b);
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < all.len; i++) free(all.data[i]);
  vec_free(&all);
  if (!b) return;
  u64map_free_all(&b->given);
  u64map_free_all(&b->queues);
  free(b);
}

size_t gpu_blocks_cached(const GpuContext *c) {
  pthread_mutex_lock(&lock);
  size_t bytes = c->blocks ? c->blocks->cached : 0;
  pthread_mutex_unlock(&lock);
  return bytes;
}
