// When launches and copies ran, by CUPTI: nothing is added to the program's streams, and the times
// are those of the work alone. Used where nothing of ours runs on the device, and where nobody else
// in the program has CUPTI open: it has one user at a time.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "gpu/times/cupti.h"
#include "gpu/times/times.h"

enum { BUFFER = 1 << 20, FLUSH_MS = 200 };

static Cupti cupti;
static bool used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Work that was asked for, or CUPTI's record of work that ran: both wait in the order of each
// stream until they are matched. CUPTI could carry our number along, but that costs 2 microseconds
// a launch: we match records by their stream, their kind and their size.
typedef struct Half {
  GpuTimed what;
  SessionTimes times;
  const CuptiKernel *node;  // a node of a graph, which has no launch of its own
} Half;
typedef VEC(Half) Halves;
typedef struct Queue {
  Halves list;
  uint32_t first;  // those before it are gone
} Queue;
typedef struct Stream {
  Queue asked;  // not known to have run
  Queue ran;    // gpu_cupti_asked has not come yet
} Stream;
static U64Map streams;   // by context and CUPTI's number of the stream: Stream
enum { MOST_RAN = 64 };  // of work that is not timed there may be any number

static uint64_t stream_key(uint32_t context, uint32_t stream) {
  return (uint64_t)context << 32 | stream;
}

// --- records of CUPTI ---

static bool is_same(const GpuTimed *a, const GpuTimed *b) {
  return a->is_copy == b->is_copy && a->bytes == b->bytes && a->blocks == b->blocks &&
         a->threads == b->threads;
}

// With the lock held.
static Stream *stream_of(uint64_t key) {
  Stream *s = u64map_get(&streams, key);
  if (!s) u64map_put(&streams, key, s = mem_alloc(sizeof *s));
  return s;
}

// Removes the oldest one of this shape, which is nearly always the first; false: there is none.
static bool remove_first(Queue *q, const GpuTimed *what, Half *out) {
  Half *all = q->list.data;
  uint32_t i = q->first;
  while (i < q->list.len && !is_same(&all[i].what, what)) i++;
  if (i == q->list.len) return false;
  *out = all[i];
  memmove(&all[q->first + 1], &all[q->first], (i - q->first) * sizeof *all);
  if (++q->first == q->list.len) q->first = q->list.len = 0;
  return true;
}

static void match(uint64_t key, const Half *record, Halves *out) {
  Stream *s = stream_of(key);
  Half asked;
  if (remove_first(&s->asked, &record->what, &asked)) {
    asked.times = record->times;
    vec_push(out, asked);
  } else if (s->ran.list.len < MOST_RAN) vec_push(&s->ran.list, *record);
}

static void take(const CuptiRecord *r, Halves *out) {
  Half half = {0};
  if (r->kind == CUPTI_KERNEL) {
    const CuptiKernel *k = (const CuptiKernel *)r;
    half.what.blocks = (uint64_t)k->grid[0] * (uint64_t)k->grid[1] * (uint64_t)k->grid[2];
    half.what.threads = (uint32_t)(k->block[0] * k->block[1] * k->block[2]);
    half.times = (SessionTimes){k->queued, k->submitted, k->start, k->end, "CUPTI"};
    if (k->graph_node) {
      half.node = k;
      vec_push(out, half);
      return;
    }
    match(stream_key(k->context, k->stream), &half, out);
  } else if (r->kind == CUPTI_COPY || r->kind == CUPTI_SET) {
    const CuptiCopy *k = (const CuptiCopy *)r;
    half.what = (GpuTimed){.is_copy = true, .bytes = k->bytes};
    half.times = (SessionTimes){.begin = k->start, .end = k->end, .source = "CUPTI"};
    match(stream_key(k->context, k->stream), &half, out);
  }
}

static void node_ran(const Half *h) {
  const CuptiKernel *k = h->node;
  session_node_ran(&(SessionNode){.kernel = k->name,
                                  .device = (int)k->device,
                                  .blocks = h->what.blocks,
                                  .threads = h->what.threads,
                                  .shared = (uint32_t)k->dynamic_shared,
                                  .times = h->times});
}

static void want(uint8_t **buffer, size_t *bytes, size_t *most_records) {
  *bytes = BUFFER;
  *buffer = aligned_alloc(8, BUFFER);
  *most_records = 0;
}

static void filled(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                   size_t valid) {
  CuptiRecord *r = NULL;
  Halves ran = {0};
  pthread_mutex_lock(&lock);
  while (!cupti.cuptiActivityGetNextRecord(buffer, valid, &r)) take(r, &ran);
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < ran.len; i++) {
    const Half *h = &ran.data[i];
    if (h->node) node_ran(h);
    else gpu_timed_ran(&h->what, &h->times);
  }
  free(buffer);
  vec_free(&ran);
}

// --- calls of CUPTI ---

static bool open_functions(void *library) {
#define FUNCTION(name, parameters) \
  if (!(*(void **)&cupti.name = dlsym(library, #name))) return false;
  CUPTI_FUNCTIONS
#undef FUNCTION
  return true;
}

static void start(void) {
  static const uint32_t kinds[] = {CUPTI_KERNEL, CUPTI_COPY, CUPTI_SET};
  void *library = gpu_cupti_library();
  if (!library || !open_functions(library)) return;
  bool ok = !cupti.cuptiActivityRegisterTimestampCallback(clock_ns) &&
            !cupti.cuptiActivityEnableLatencyTimestamps(1) &&
            !cupti.cuptiActivityRegisterCallbacks(want, filled);
  for (size_t i = 0; i < ARRAY_LEN(kinds) && ok; i++) ok = !cupti.cuptiActivityEnable(kinds[i]);
  if (ok) cupti.cuptiActivityFlushPeriod(FLUSH_MS);
  used = ok;
}

bool gpu_cupti_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  return used;
}

static _Atomic uint32_t streams_made;
void gpu_cupti_stream_made(void) { streams_made++; }

// CUPTI's number of the stream, asked again when there are new streams: they may have the handles
// of old ones.
static bool key_of(CUcontext context, CUstream stream, uint64_t *key) {
  static _Thread_local struct {
    CUcontext context;
    CUstream stream;
    uint64_t key;
    uint32_t streams_made;
  } last;
  uint32_t number, of_context, made = streams_made;
  if (!last.key || last.context != context || last.stream != stream || last.streams_made != made) {
    if (cupti.cuptiGetStreamIdEx(context, stream, stream == CU_STREAM_PER_THREAD, &number) ||
        cupti.cuptiGetContextId(context, &of_context))
      return false;
    last.context = context;
    last.stream = stream;
    last.streams_made = made;
    last.key = stream_key(of_context, number);
  }
  *key = last.key;
  return true;
}

void gpu_cupti_asked(CUcontext context, CUstream stream, const GpuTimed *what) {
  uint64_t key;
  Half half = {.what = *what};
  if (!key_of(context, stream, &key)) return;
  pthread_mutex_lock(&lock);
  Stream *s = stream_of(key);
  bool ran = remove_first(&s->ran, what, &half);
  half.what = *what;
  if (!ran) vec_push(&s->asked.list, half);
  pthread_mutex_unlock(&lock);
  if (ran) gpu_timed_ran(what, &half.times);
}

void gpu_cupti_flush(void) {
  if (used) cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
}
