// --hash on a GPU: after a launch, in its stream, a kernel of ours (probe/hash_kernel.cu) hashes
// what the launch may have written and puts the result into host memory, from which a thread of
// ours takes it. The host never waits for a stream.
#include "gpu/gpu.h"

#include <sched.h>

#include "gpu/collector.h"
#include "gpu/own_kernel.h"
#include "probe/hash_abi.h"

enum { SLOTS = 4096 };  // pending hashes of a context

// Tables for buffers of which only a part is hashed again (probe/hash_abi.h): TABLES bytes of
// device memory, 16 for each tile.
enum { TABLES = 16 << 20, LARGE = 1 << 20 };  // smaller buffers are always hashed whole

// The table of a buffer: valid for the allocation of that number, until an unknown write.
typedef struct Table {
  uint64_t allocation, epoch;
  uint32_t at, bytes;
} Table;

typedef struct Pending {
  SessionOutputs *outputs;
  uint32_t n;
  uint16_t buffers[WG_HASH_BUFFERS];
  uint64_t sequence;
} Pending;
struct GpuHashes {
  GpuCollected collected;
  CUfunction kernel;
  CUdeviceptr scratch;             // WgHashScratch[SLOTS]
  volatile WgHashResult *results;  // [SLOTS], the device sees them at
  CUdeviceptr results_at;
  unsigned blocks;  // that the device runs at a time
  Pending pending[SLOTS];
  // numbers of slots; used: in the order of the launches
  uint16_t free[SLOTS], used[SLOTS];
  uint32_t nfree, nused;
  uint64_t sequence;
  CUdeviceptr tables;
  uint32_t tables_used;
  U64Map table_of;  // base -> Table
  bool full_said;
};
typedef struct GpuHashes GpuHashes;

extern const char probe_hash_kernel_text[];

static _Atomic uint32_t contexts;
uint32_t gpu_outputs_contexts(void) {
  return atomic_load_explicit(&contexts, memory_order_relaxed);
}

// --- results ---

typedef struct Result {
  Pending of;
  uint64_t sums[WG_HASH_BUFFERS][2];
} Result;

enum { NOT_YET = 256 };  // results that a later one of another stream may overtake

// Takes up to `most` that have arrived. With the lock held.
static uint32_t take_some(GpuHashes *h, Result *out, uint32_t most) {
  uint32_t n = 0, kept = 0;
  for (uint32_t i = 0; i < h->nused; i++) {
    uint16_t slot = h->used[i];
    Pending *p = &h->pending[slot];
    if (n == most || kept == NOT_YET) {
      memmove(h->used + kept, h->used + i, (h->nused - i) * sizeof h->used[0]);
      kept += h->nused - i;
      break;
    }
    if (__atomic_load_n(&h->results[slot].sequence, __ATOMIC_ACQUIRE) != p->sequence) {
      h->used[kept++] = slot;
      continue;
    }
    Result *r = &out[n++];
    *r = (Result){.of = *p};
    for (uint32_t b = 0; b < p->n; b++)
      for (int k = 0; k < 2; k++) r->sums[b][k] = h->results[slot].sums[b][k];
    h->free[h->nfree++] = slot;
  }
  h->nused = kept;
  return n;
}

static void tell(const Result *list, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const Pending *p = &list[i].of;
    // consecutive buffers go into one event
    for (uint32_t k = 0, next; k < p->n; k = next) {
      for (next = k + 1; next < p->n && p->buffers[next] == p->buffers[next - 1] + 1;) next++;
      session_hashes(p->outputs, list[i].sums + k, p->buffers[k], next - k);
    }
    session_outputs_free(p->outputs);
  }
}

// Nothing is sent while the lock is held: launches wait for it.
enum { AT_ONCE = 64 };
static Result taken[AT_ONCE];
static _Atomic uint32_t ntaken;  // not told yet

static GpuTaken take(GpuCollected *one) {
  GpuHashes *h = (GpuHashes *)one;
  uint32_t n = take_some(h, taken + ntaken, AT_ONCE - ntaken);
  ntaken += n;
  return n ? GPU_TOOK : h->nused ? GPU_WAITS : GPU_IDLE;
}

static void tell_taken(void) {
  tell(taken, ntaken);
  ntaken = 0;
}

static GpuCollector hashes = GPU_COLLECTOR(take, tell_taken, 500);

// --- a context's part ---

static bool load(GpuHashes *h) {
  GpuOwnKernel own = {0};
  bool ok = gpu_own_kernel_load(&own, h->collected.context, probe_hash_kernel_text,
                                "wg_hash_buffers", SLOTS * sizeof(WgHashResult),
                                SLOTS * sizeof(WgHashScratch));
  h->results = own.host;
  h->results_at = own.host_at;
  h->kernel = own.function;
  h->scratch = own.device;
  h->blocks = own.processors * 6;
  if (ok && gpu_real.cuMemAlloc_v2(&h->tables, TABLES) != CUDA_SUCCESS) h->tables = 0;
  return ok;
}

void gpu_outputs_open(GpuContext *c) {
  if (!session_wants_outputs() || c->hashes) return;
  GpuHashes *h = mem_alloc(sizeof *h);
  h->collected.context = c;
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && c->stream && load(h);
  gpu_context_leave(e);
  if (!ok) {
    log_error("--hash: the kernel that hashes buffers cannot be loaded on device %d",
              (int)c->device);
    free(h);
    return;
  }
  for (uint32_t i = 0; i < SLOTS; i++) h->free[h->nfree++] = (uint16_t)(SLOTS - 1 - i);
  c->hashes = h;
  atomic_fetch_add(&contexts, 1);
  gpu_collector_add(&hashes, &h->collected);
}

// All its work has ended, or never will.
void gpu_outputs_close(GpuContext *c) {
  GpuHashes *h = c->hashes;
  gpu_dump_close(c);
  if (!h) return;
  Result *list = mem_alloc(SLOTS * sizeof *list);
  pthread_mutex_lock(&hashes.lock);
  gpu_collector_remove(&hashes, &h->collected);
  c->hashes = NULL;
  uint32_t n = take_some(h, list, SLOTS);
  pthread_mutex_unlock(&hashes.lock);
  while (atomic_load(&ntaken)) sched_yield();  // until our thread has sent its results
  tell(list, n);
  for (uint32_t i = 0; i < h->nused; i++) {
    session_hashes_missing(h->pending[h->used[i]].outputs,
                           atomic_load(&c->faulted) ? "a kernel had failed"
                                                    : "it had not ended with the program");
    session_outputs_free(h->pending[h->used[i]].outputs);
  }
  free(list);  // the rest stays: kernels that have not ended write there
}

// --- after a launch ---

static bool reserve(GpuHashes *h, uint16_t *slot, uint64_t *sequence) {
  if (!h->nfree) return false;
  *slot = h->free[--h->nfree];
  *sequence = ++h->sequence;
  return true;
}

static uint64_t tiles_of(uint64_t bytes) { return (bytes + WG_HASH_TILE - 1) / WG_HASH_TILE; }

// The buffer's table, a new one if it has none. NULL: it gets none. With the lock held.
static Table *table_of(GpuHashes *h, const SessionBuffer *b) {
  uint64_t bytes = sizeof(WgHashTable) + tiles_of(b->size) * 16;
  if (!h->tables || !b->allocation || b->size < LARGE || bytes > TABLES) return NULL;
  Table *t = u64map_get(&h->table_of, b->base);
  if (t && t->bytes >= bytes) return t;
  if (h->tables_used + bytes > TABLES) return NULL;
  if (!t) u64map_put(&h->table_of, b->base, t = mem_alloc(sizeof *t));
  *t = (Table){.at = h->tables_used, .bytes = (uint32_t)bytes};
  h->tables_used += (uint32_t)bytes;
  return t;
}

// Says which part of a buffer is to be hashed. With the lock held.
static WgHashBuffer part_of(GpuHashes *h, const SessionOutputs *o, const SessionBuffer *b,
                            uint64_t *tiles) {
  WgHashBuffer part = {.base = b->base, .bytes = b->size, .element = b->element};
  Table *t = table_of(h, b);
  uint64_t n = tiles_of(b->size);
  if (t) {
    part.table = h->tables + t->at;
    part.fresh = t->allocation != b->allocation || t->epoch != o->epoch;
    *t = (Table){b->allocation, o->epoch, t->at, t->bytes};
    if (!part.fresh) {
      part.first = b->from / WG_HASH_TILE;
      n = b->to > b->from ? tiles_of(b->to) - part.first : 1;
    }
  }
  *tiles += n;
  part.tiles = *tiles;
  return part;
}

// These buffers were not hashed after all: their tiles are not known. With the lock held.
static void forget_tables(GpuHashes *h, const SessionOutputs *o, const Pending *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    Table *t = u64map_get(&h->table_of, o->buffers.data[p->buffers[i]].base);
    if (t) t->allocation = 0;
  }
}

static bool launch(GpuContext *c, GpuHashes *h, CUstream stream, SessionOutputs *o, Pending *p) {
  WgHashWork w = {.count = p->n};
  uint64_t tiles = 0;
  uint16_t slot;
  pthread_mutex_lock(&hashes.lock);
  bool ok = reserve(h, &slot, &w.sequence);
  if (ok) {
    session_outputs_keep(o);
    p->outputs = o;
    p->sequence = w.sequence;
    h->pending[slot] = *p;
    for (uint32_t i = 0; i < w.count; i++)
      w.buffers[i] = part_of(h, o, &o->buffers.data[p->buffers[i]], &tiles);
  } else {
    forget_tables(h, o, p);
  }
  pthread_mutex_unlock(&hashes.lock);
  if (!ok) {
    if (!h->full_said)
      log_line(
          "--hash: the program is more than %d launches ahead of device %d: some are not hashed",
          SLOTS, (int)c->device);
    h->full_said = true;
    session_hashes_missing(o, "too many launches were waiting for the device");
    return false;
  }
  w.scratch = h->scratch + slot * sizeof(WgHashScratch);
  w.result = h->results_at + slot * sizeof(WgHashResult);
  void *params[] = {&w};
  GpuEntered e = gpu_context_enter(c);
  ok = e.ok &&
       gpu_real.cuLaunchKernel(h->kernel, (unsigned)MIN(tiles, (uint64_t)h->blocks), 1, 1,
                               WG_HASH_THREADS, 1, 1, 0, stream, params, NULL) == CUDA_SUCCESS;
  gpu_context_leave(e);
  pthread_mutex_lock(&hashes.lock);
  if (ok) h->used[h->nused++] = slot;
  else {
    h->free[h->nfree++] = slot;
    forget_tables(h, o, p);
  }
  gpu_collector_wake(&hashes);
  pthread_mutex_unlock(&hashes.lock);
  if (ok) return true;
  session_hashes_missing(o, "the driver did not take the launch that hashes it");
  session_outputs_free(o);
  return false;
}

static void hash(GpuContext *c, CUstream stream, SessionOutputs *o, bool waiting) {
  Pending p = {.n = 0};
  bool ok = true;
  for (uint32_t i = 0; ok && i < o->buffers.len; i++) {
    if (o->buffers.data[i].waits != waiting) continue;
    p.buffers[p.n++] = (uint16_t)i;
    if (p.n == WG_HASH_BUFFERS) {
      ok = launch(c, c->hashes, stream, o, &p);
      p.n = 0;
    }
  }
  if (ok && p.n) launch(c, c->hashes, stream, o, &p);
}

void gpu_outputs_hash(GpuContext *c, CUstream stream, SessionOutputs *o, bool waiting) {
  SessionDevice *d = gpu_context_use(c);  // so that the context is not closed meanwhile
  if (d && c->hashes) hash(c, stream, o, waiting);
  else if (o->buffers.len) session_hashes_missing(o, "the device cannot hash");
  if (d) gpu_context_used(c);
}

void gpu_outputs_look(GpuContext *c, CUstream stream, SessionOutputs *o, GpuDuration *duration,
                      uint32_t number) {
  if (!o) return;
  SessionDevice *d = gpu_context_use(c);
  if (d) gpu_dump_look(c, stream, o);
  if (d) gpu_context_used(c);
  gpu_hash_defer(c, stream, o, duration, number);
  gpu_outputs_hash(c, stream, o, false);
  session_outputs_free(o);
}
