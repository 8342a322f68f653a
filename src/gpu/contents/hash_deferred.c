// --hash on a GPU: which launches are hashed, and when.
//
// The buffers that a launch wrote can be hashed until they are overwritten, so they wait. They are
// hashed before a copy to the host, before memory is freed and when the context goes, which costs
// no launch anything. Before a launch, copy or set that overwrites them they are hashed only if it
// is the launch's turn: every N-th launch of a kernel. N is the power of three that keeps the cost
// below one part in SHARE of the kernel's own time, so that the chosen launches of two runs with
// different N have many in common, and so that of launches that alternate between two buffers both
// have a turn.
//
// Buffers wait only where everything is ordered: one context, no concurrent streams, memory that
// the host cannot see. Others are hashed at once.
#include "gpu/gpu.h"

// Measured on an H200: what a hash costs a launch, and how fast bytes are read.
enum { SHARE = 10, HASH_NS = 7000, BYTES_PER_NS = 700 };
enum { OLDEST = 8192 };  // the command remembers twice as many launches

typedef struct Waiting {
  SessionOutputs *outputs;  // buffers with `waits`
  GpuContext *context;
  CUstream stream;
  GpuDuration *duration;
  uint32_t number;  // of the launches of this kernel
  uint32_t left;
  struct Waiting *before, *next;
} Waiting;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map waiting_at;      // base -> Waiting
static Waiting *first, *last;  // in the order of the launches
static _Atomic uint32_t count;
static uint64_t epoch;      // session_outputs_epoch() when they began to wait
static uint64_t forced_ns;  // when all were last hashed because of an unknown write

// --- one of them ---

static void remove_if_done(Waiting *w) {
  if (w->left) return;
  *(w->before ? &w->before->next : &first) = w->next;
  *(w->next ? &w->next->before : &last) = w->before;
  atomic_fetch_sub(&count, 1);
  session_outputs_free(w->outputs);
  free(w);
}

static void hash(Waiting *w) {
  SessionOutputs *o = w->outputs;
  gpu_outputs_hash(w->context, w->stream, o, true);
  for (uint32_t i = 0; i < o->buffers.len; i++) {
    if (!o->buffers.data[i].waits) continue;
    o->buffers.data[i].waits = false;
    u64map_remove(&waiting_at, o->buffers.data[i].base);
  }
  w->left = 0;
  remove_if_done(w);
}

static void leave_out(Waiting *w, uint32_t i) {
  SessionBuffer *b = &w->outputs->buffers.data[i];
  session_hash_left_out(w->outputs, i);
  b->waits = false;
  u64map_remove(&waiting_at, b->base);
  w->left--;
  remove_if_done(w);
}

static uint64_t every(uint64_t cost_ns, uint64_t launch_ns) {
  uint64_t n = 1;
  while (n * launch_ns < cost_ns * SHARE && n < 1 << 20) n *= 3;
  return n;
}

static bool is_its_turn(const Waiting *w) {
  uint64_t n = session_hash_every(), bytes = 0;
  for (uint32_t i = 0; !n && i < w->outputs->buffers.len; i++)
    if (w->outputs->buffers.data[i].waits)
      bytes += w->outputs->buffers.data[i].to - w->outputs->buffers.data[i].from;
  if (!n) n = every(HASH_NS + bytes / BYTES_PER_NS, gpu_duration_ns(w->duration, w->context));
  return (w->number + 1) % n == 0;
}

static uint32_t index_of(const SessionOutputs *o, uint64_t base) {
  for (uint32_t i = 0; i < o->buffers.len; i++)
    if (o->buffers.data[i].base == base) return i;
  return UINT32_MAX;
}

// --- before something happens to them; with the lock held ---

// `by` NULL: a copy or set overwrites it, or an unknown write may.
static void written_over(Waiting *w, uint32_t i, SessionOutputs *by) {
  if (is_its_turn(w)) {
    hash(w);
    return;
  }
  const SessionBuffer *b = &w->outputs->buffers.data[i];
  uint32_t other = by ? index_of(by, b->base) : UINT32_MAX;
  if (other != UINT32_MAX) {  // the next hash must include what this launch wrote
    SessionBuffer *o = &by->buffers.data[other];
    o->from = MIN(o->from, b->from);
    o->to = MAX(o->to, b->to);
  } else {
    session_outputs_changed(b->base + b->from, b->to - b->from);
  }
  leave_out(w, i);
}

static void hash_all(const GpuContext *only) {
  for (Waiting *w = first, *next; w; w = next) {
    next = w->next;
    if (!only || w->context == only) hash(w);
  }
}

// Handles a write that may go anywhere. If such writes are rare, everything is hashed: otherwise
// the final results of such programs might never be hashed.
static void anything_written(void) {
  uint64_t now = clock_ns(), cost = (uint64_t)atomic_load(&count) * HASH_NS;
  bool all = now - forced_ns > cost * SHARE && !session_hash_every();
  if (all) forced_ns = now;
  for (Waiting *w = first, *next; w; w = next) {
    next = w->next;
    if (all || is_its_turn(w)) {
      hash(w);
      continue;
    }
    for (uint32_t i = 0, left = w->left; left; i++)
      if (w->outputs->buffers.data[i].waits) {
        left--;
        leave_out(w, i);
      }
  }
}

// Streams are concurrent from now on. Buffers that wait are read after the work of their own
// stream; a write of another stream that does not wait for this read disturbs them.
static void hash_beside(uint64_t from, uint64_t to, const SessionOutputs *by) {
  for (Waiting *w = first, *next; w; w = next) {
    next = w->next;
    SessionOutputs *o = w->outputs;
    session_outputs_keep(o);
    for (uint32_t i = 0; i < o->buffers.len; i++) {
      SessionBuffer *b = &o->buffers.data[i];
      if (!b->waits) continue;
      bool written = (b->base < to && from < b->base + b->size) ||
                     (by && index_of(by, b->base) != UINT32_MAX);
      if (!written) session_outputs_read(o, i, w->stream);
      else if (w->left == 1) {
        leave_out(w, i);
        w = NULL;
        break;
      } else leave_out(w, i);
    }
    if (w) hash(w);
    session_outputs_free(o);
  }
}

static bool is_ordered(void) { return session_outputs_may_wait() && gpu_outputs_contexts() < 2; }

// --- events ---

void gpu_hash_before_launch(SessionOutputs *o) {
  if (!atomic_load_explicit(&count, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  if (first && !is_ordered()) hash_beside(0, 0, o);
  if (first && epoch != session_outputs_epoch()) anything_written();
  for (uint32_t i = 0; o && first && i < o->buffers.len; i++) {
    Waiting *w = u64map_get(&waiting_at, o->buffers.data[i].base);
    if (w) written_over(w, index_of(w->outputs, o->buffers.data[i].base), o);
  }
  while (first && o && o->step - first->outputs->step > OLDEST) hash(first);
  pthread_mutex_unlock(&lock);
}

static bool overlaps(const SessionBuffer *b, uint64_t from, uint64_t to) {
  return b->waits && b->base < to && from < b->base + b->size;
}

static void each_overlapping(uint64_t from, uint64_t to, bool leaves) {
  for (Waiting *w = first, *next; w; w = next) {
    next = w->next;
    SessionOutputs *o = w->outputs;
    uint32_t i = 0;
    while (i < o->buffers.len && !overlaps(&o->buffers.data[i], from, to)) i++;
    if (i == o->buffers.len) continue;
    if (leaves) hash(w);
    else written_over(w, i, NULL);
  }
}

static void span_of(const SessionCopy *c, const SessionPlace *p, uint64_t *from, uint64_t *to) {
  uint64_t pitch = p->pitch ? p->pitch : c->width, rows = p->rows ? p->rows : c->height;
  *from = p->address;
  // an upper bound
  *to = p->address + p->x + pitch * (rows * (p->z + c->depth) + p->y) + c->width;
}

void gpu_hash_before_copy(const SessionCopy *c) {
  if (!atomic_load_explicit(&count, memory_order_relaxed) || c->captured) return;
  uint64_t from = 0, to = 0;
  pthread_mutex_lock(&lock);
  bool to_memory = c->to.kind != SESSION_PLACE_ARRAY && c->to.kind != SESSION_PLACE_HOST;
  if (to_memory) span_of(c, &c->to, &from, &to);
  if (first && !is_ordered()) hash_beside(from, to, NULL);
  if (to_memory) each_overlapping(from, to, false);
  if (!c->is_set && c->from.kind != SESSION_PLACE_ARRAY && c->from.kind != SESSION_PLACE_HOST &&
      c->to.kind != SESSION_PLACE_DEVICE) {
    span_of(c, &c->from, &from, &to);
    each_overlapping(from, to, true);
  }
  pthread_mutex_unlock(&lock);
}

void gpu_hash_before_unknown(void) {
  if (!atomic_load_explicit(&count, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  anything_written();
  pthread_mutex_unlock(&lock);
}

void gpu_hash_before_free(uint64_t base, uint64_t size) {
  if (!atomic_load_explicit(&count, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  each_overlapping(base, base + size, true);
  pthread_mutex_unlock(&lock);
}

void gpu_hash_all_deferred(GpuContext *only) {
  if (!atomic_load_explicit(&count, memory_order_relaxed)) return;
  pthread_mutex_lock(&lock);
  hash_all(only);
  pthread_mutex_unlock(&lock);
}

bool gpu_hash_defer(GpuContext *c, CUstream stream, SessionOutputs *o, GpuDuration *duration,
                    uint32_t number) {
  if (!duration || o->graph || o->dumped.len || stream == CU_STREAM_PER_THREAD || !is_ordered())
    return false;
  Waiting *w = mem_alloc(sizeof *w);
  *w = (Waiting){
      .outputs = o, .context = c, .stream = stream, .duration = duration, .number = number};
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < o->buffers.len; i++) {
    SessionBuffer *b = &o->buffers.data[i];
    if (!b->may_wait || u64map_get(&waiting_at, b->base)) continue;
    b->waits = true;
    u64map_put(&waiting_at, b->base, w);
    w->left++;
  }
  if (!w->left) {
    pthread_mutex_unlock(&lock);
    free(w);
    return false;
  }
  session_outputs_keep(o);
  w->before = last;
  *(last ? &last->next : &first) = w;
  last = w;
  epoch = o->epoch;
  atomic_fetch_add(&count, 1);
  pthread_mutex_unlock(&lock);
  return true;
}
