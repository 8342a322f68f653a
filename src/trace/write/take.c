// Takes records from the rings. Each ring has its own thread and lock. The thread looks at every
// record and copies it into a piece for its launch, packed if that makes it shorter. Full pieces
// become chunks; what a launch leaves in the pieces of several rings is joined first.
#include <time.h>
#include <unistd.h>

#include "trace/write/copy.h"
#include "trace/write/writer.h"

// MANY: bytes taken at once that show a ring filled faster than it is emptied
enum {
  OPEN_LAUNCHES = 8,
  RESTS = 64,
  FIRST_PIECE = 1 << 16,
  SECOND_PIECE = 1 << 18,
  LEAST_PIECE = 1 << 18,
  MANY = 1 << 17,
  SEEN = 8
};
// with this much memory, a piece that has grown once gets a whole segment
static const uint64_t MUCH = 4ull << 30;
static const uint64_t AHEAD = 32ull << 30;  // the most memory that is prepared before records come

TraceWriter *trace_writer_new(const TraceLimits *limits, Error *err) {
  TraceWriter *w = mem_alloc(sizeof *w);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->work, NULL);
  pthread_cond_init(&w->room, NULL);
  w->memory_limit = limits && limits->memory ? limits->memory : writer_default_memory();
  w->disk_limit = limits ? limits->disk : 0;
  w->next_chunk = w->next_contents = 1;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned wanted = limits && limits->threads ? limits->threads
                                              : (unsigned)(cores < 1 ? 1 : MIN(cores, 16));
  w->piece_bytes = CHUNK_BYTES;
  if (limits && limits->ahead && w->memory_limit >= MUCH)
    w->ahead = w->memory_limit < 4 * MUCH ? w->memory_limit / 16 : MIN(w->memory_limit / 2, AHEAD);
  w->threads = mem_alloc(sizeof *w->threads * wanted);
  while (w->nthreads < wanted &&
         pthread_create(&w->threads[w->nthreads], thread_attributes(), writer_work, w) == 0)
    w->nthreads++;
  if (w->nthreads) return w;
  error_set(err, "no thread can be started to compress recorded operations.");
  trace_writer_free(w);
  return NULL;
}

void writer_pieces_free(RawPiece *p) {
  while (p) {
    RawPiece *next = p->next;
    if (!p->segment) free(p->data);
    free(p);
    p = next;
  }
}

void trace_writer_free(TraceWriter *w) {
  if (!w) return;
  pthread_mutex_lock(&w->lock);
  w->ending = true;
  pthread_cond_broadcast(&w->work);
  pthread_mutex_unlock(&w->lock);
  for (unsigned i = 0; i < w->nthreads; i++) pthread_join(w->threads[i], NULL);
  for (Job *j = w->first_job, *next; j; j = next) {
    next = j->next;
    writer_job_free(w, j);
  }
  for (ChunkOut *c = w->done, *next; c; c = next) {
    next = c->next;
    free(c->bytes.data);
    chunk_out_free(c);
  }
  if (w->slab) free(w->slab);
  writer_buffers_free(w);
  writer_segments_free(w);
  for (ContentsOut *c = w->contents_done, *next; c; c = next) {
    next = c->next;
    free(c->data);
    free(c);
  }
  for (uint32_t i = 0; i < w->ring_list.len; i++) {
    Ring *r = w->ring_list.data[i];
    for (uint32_t k = 0; k < r->open.len; k++) writer_pieces_free(r->open.data[k].first);
    vec_free(&r->open);
    pthread_mutex_destroy(&r->lock);
    free(r);
  }
  for (uint32_t i = 0; i < w->rest_list.len; i++) {
    writer_pieces_free(w->rest_list.data[i]->first);
    free(w->rest_list.data[i]);
  }
  vec_free(&w->ring_list);
  vec_free(&w->rest_list);
  u64map_free(&w->rings);
  u64map_free(&w->rests);
  writer_complete_free(w);
  free(w->threads);
  pthread_mutex_destroy(&w->lock);
  pthread_cond_destroy(&w->work);
  pthread_cond_destroy(&w->room);
  free(w);
}

void writer_stop(TraceWriter *w, const char *fmt, ...) {
  pthread_mutex_lock(&w->lock);
  if (!w->has_stopped) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(w->stopped, sizeof w->stopped, fmt, ap);
    va_end(ap);
    w->has_stopped = true;
  }
  pthread_cond_broadcast(&w->room);
  pthread_mutex_unlock(&w->lock);
}

bool trace_is_damaged(const TraceWriter *w) { return w->damaged; }
const char *trace_stopped(const TraceWriter *w) { return w->has_stopped ? w->stopped : NULL; }

static Ring *ring_of(TraceWriter *w, uint32_t number) {
  _Atomic(Ring *) *known = &w->known[number % ARRAY_LEN(w->known)];
  Ring *r = atomic_load_explicit(known, memory_order_acquire);
  if (r && r->number == number) return r;
  pthread_mutex_lock(&w->lock);
  r = u64map_get(&w->rings, number);
  if (!r) {
    r = mem_alloc(sizeof *r);
    r->number = number;
    pthread_mutex_init(&r->lock, NULL);
    r->closed_round = w->round;
    u64map_put(&w->rings, number, r);
    vec_push(&w->ring_list, r);
    // All rings' open pieces together are to stay within a quarter of the memory.
    w->piece_bytes = MAX(MIN((size_t)CHUNK_BYTES, (size_t)(w->memory_limit / 4 / w->ring_list.len)),
                         (size_t)LEAST_PIECE);
  }
  atomic_store_explicit(known, r, memory_order_release);
  pthread_mutex_unlock(&w->lock);
  return r;
}

static void submit_rest(TraceWriter *w, LaunchRest *l) {
  if (!l->first) return;
  Job *j = mem_alloc(sizeof *j);
  *j = (Job){.id = w->next_chunk++, .process = l->process, .launch = l->launch, .pieces = l->first};
  l->first = l->last = NULL;
  l->bytes = l->records = 0;
  writer_submit(w, j);
}

static LaunchRest *rest_of(TraceWriter *w, uint32_t process, uint32_t launch, bool make) {
  uint64_t key = (uint64_t)process << 32 | launch;
  LaunchRest *l = u64map_get(&w->rests, key);
  if (l || !make) return l;
  if (w->rest_list.len >= RESTS) {  // the one that waited longest makes room
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < w->rest_list.len; i++)
      if (w->rest_list.data[i]->used < w->rest_list.data[oldest]->used) oldest = i;
    LaunchRest *o = w->rest_list.data[oldest];
    submit_rest(w, o);
    u64map_remove(&w->rests, (uint64_t)o->process << 32 | o->launch);
    free(o);
    w->rest_list.data[oldest] = w->rest_list.data[--w->rest_list.len];
  }
  l = mem_alloc(sizeof *l);
  *l = (LaunchRest){.process = process, .launch = launch};
  u64map_put(&w->rests, key, l);
  vec_push(&w->rest_list, l);
  return l;
}

void writer_submit_rests(TraceWriter *w) {
  pthread_mutex_lock(&w->lock);
  for (uint32_t i = 0; i < w->rest_list.len; i++) submit_rest(w, w->rest_list.data[i]);
  pthread_mutex_unlock(&w->lock);
}

// Closes a piece. A full piece becomes a chunk; what the same ring left for this launch before is
// submitted first, since a warp's records keep their order. The ring is locked.
static void close_piece(TraceWriter *w, Ring *r, uint32_t index, bool full) {
  OpenPiece o = r->open.data[index];
  r->open.data[index] = r->open.data[--r->open.len];
  if (!o.bytes) {
    writer_pieces_free(o.first);
    return;
  }
  pthread_mutex_lock(&w->lock);
  LaunchRest *l = rest_of(w, r->process, o.launch, !full);
  if (full) {
    bool mine = false;
    for (RawPiece *p = l ? l->first : NULL; p; p = p->next) mine |= p->ring == r->number;
    if (mine) submit_rest(w, l);
    Job *j = mem_alloc(sizeof *j);
    *j = (Job){.id = w->next_chunk++, .process = r->process, .launch = o.launch, .pieces = o.first};
    writer_submit(w, j);
  } else {
    if (l->last) l->last->next = o.first;
    else l->first = o.first;
    l->last = o.last;
    l->bytes += o.bytes;
    l->records += o.records;
    l->used = w->next_chunk;
    if (l->bytes >= CHUNK_BYTES / 2 || l->records >= CHUNK_RECORDS / 2) submit_rest(w, l);
  }
  pthread_mutex_unlock(&w->lock);
}

void writer_submit_rest_of(TraceWriter *w, uint32_t process, uint32_t launch) {
  LaunchRest *l = rest_of(w, process, launch, false);
  if (l) submit_rest(w, l);
}

void writer_close_pieces(TraceWriter *w,
                         bool (*ended)(const TraceWriter *w, uint32_t process, uint32_t launch),
                         uint64_t round) {
  for (uint32_t i = 0;; i++) {
    pthread_mutex_lock(&w->lock);
    Ring *r = i < w->ring_list.len ? w->ring_list.data[i] : NULL;
    pthread_mutex_unlock(&w->lock);
    if (!r) return;
    // a ring that is locked may wait for memory, which only the caller gives back
    if (pthread_mutex_trylock(&r->lock)) continue;
    for (uint32_t k = r->open.len; k--;)
      if (ended(w, r->process, r->open.data[k].launch)) close_piece(w, r, k, false);
    r->closed_round = MAX(r->closed_round, round);
    pthread_mutex_unlock(&r->lock);
  }
}

void writer_flush_rings(TraceWriter *w, uint64_t unused_ns, const Ring *held) {
  uint64_t now = clock_ns();
  for (uint32_t i = 0;; i++) {
    pthread_mutex_lock(&w->lock);
    Ring *r = i < w->ring_list.len ? w->ring_list.data[i] : NULL;
    uint64_t round = w->round;
    pthread_mutex_unlock(&w->lock);
    if (!r) return;
    if (r != held) {
      if (!unused_ns && !held) pthread_mutex_lock(&r->lock);
      else if (pthread_mutex_trylock(&r->lock))
        continue;  // its thread is at work and will see itself that memory is short
    }
    for (uint32_t k = r->open.len; k--;)
      if (!unused_ns || now - r->open.data[k].used_ns > unused_ns) close_piece(w, r, k, false);
    if (!unused_ns) r->closed_round = MAX(r->closed_round, round);
    if (r != held) pthread_mutex_unlock(&r->lock);
  }
}

// r: the ring whose lock the caller holds; NULL: none.
void writer_wait_for_room(TraceWriter *w, Ring *r) {
  if (atomic_load_explicit(&w->in_memory, memory_order_relaxed) <= w->memory_limit) return;
  pthread_mutex_lock(&w->lock);
  while (w->in_memory > w->memory_limit && !w->has_stopped && !w->ending) {
    pthread_mutex_unlock(&w->lock);
    // no piece may wait for more records while no producer runs
    writer_flush_rings(w, r ? 0 : 1, r);
    writer_submit_rests(w);
    pthread_mutex_lock(&w->lock);
    if (w->in_memory <= w->memory_limit || w->has_stopped) break;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) {
      until.tv_sec++;
      until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&w->room, &w->lock, &until);
  }
  pthread_mutex_unlock(&w->lock);
}

static OpenPiece *piece_for(TraceWriter *w, Ring *r, uint32_t launch) {
  for (uint32_t i = 0; i < r->open.len; i++)
    if (r->open.data[i].launch == launch) return &r->open.data[i];
  if (r->open.len >= OPEN_LAUNCHES) {
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < r->open.len; i++)
      if (r->open.data[i].used_ns < r->open.data[oldest].used_ns) oldest = i;
    close_piece(w, r, oldest, false);
  }
  vec_push(&r->open, (OpenPiece){.launch = launch});
  return &r->open.data[r->open.len - 1];
}

static bool grows(const RawPiece *p, size_t n) { return p->cap < SEGMENT && p->len + n <= SEGMENT; }
// packed: the records are packed. A piece has only packed records, or none.
static bool has_room(const RawPiece *p, size_t n, bool packed) {
  return p && !p->unpacked == !packed && (p->cap - p->len >= n || grows(p, n));
}

// Small pieces grow, in large steps where there is much memory. After a piece with a segment comes
// another piece, so that nothing is copied twice.
static RawPiece *room_for(TraceWriter *w, const Ring *r, OpenPiece *o, size_t n, bool packed) {
  RawPiece *p = o->last;
  bool more = has_room(p, n, packed), much = w->memory_limit >= MUCH;
  if (more && p->cap - p->len >= n) return p;
  size_t cap = MAX(more ? p->cap * 2 : (size_t)FIRST_PIECE, (more ? p->len : 0) + n);
  if (p && much && cap < SEGMENT) cap = more && cap < SECOND_PIECE ? SECOND_PIECE : SEGMENT;
  pthread_mutex_lock(&w->lock);
  bool segment = cap == SEGMENT;
  uint8_t *data = segment ? writer_segment_take(w) : NULL;
  w->in_memory += cap - (more ? p->cap : 0);
  pthread_mutex_unlock(&w->lock);
  if (!data) data = mem_realloc(NULL, cap);
  if (more) {
    memcpy(data, p->data, p->len);
    free(p->data);
  } else {
    RawPiece *next = mem_alloc(sizeof *next);
    next->ring = r->number;
    if (p) p->next = next;
    else o->first = next;
    o->last = p = next;
  }
  p->data = data;
  p->cap = cap;
  p->segment = segment;
  return p;
}

// Whether to pack the records: a piece stays as its first records made it.
static bool is_packed(Window *x, const RawPiece *p, const uint8_t *data, size_t *n) {
  if (has_room(p, *n, false)) return false;
  size_t packed = pack_records(x->packed, data, *n, x->records, x->n);
  if (!has_room(p, packed, true) && packed > *n / 4 * 3) return false;
  *n = packed;
  return true;
}

// Consecutive records of one launch: those of the window.
static void append(TraceWriter *w, Ring *r, uint32_t launch, const uint8_t *data, size_t n,
                   uint32_t records) {
  if (!n) return;
  OpenPiece *o = piece_for(w, r, launch);
  size_t bytes = n;
  bool packed = is_packed(&r->window, o->last, data, &n);
  r->window.n = 0;
  RawPiece *p = room_for(w, r, o, n, packed);
  o->used_ns = clock_ns();
  copy_past_cache(p->data + p->len, packed ? r->window.packed : data, n);
  p->len += n;
  p->records += records;
  if (packed) p->unpacked += bytes;
  o->bytes += bytes;
  o->records += records;
  if (o->records >= CHUNK_RECORDS || o->bytes >= w->piece_bytes)
    close_piece(w, r, (uint32_t)(o - r->open.data), true);
}

// last: where the last one of this form was, plus 1.
static inline void add_to_window(Window *x, size_t from, size_t at, size_t length, size_t *last) {
  x->records[x->n++] = (PackRecord){(uint16_t)(length / 16),
                                    *last > from ? (uint16_t)((at + 1 - *last) / 16) : 0};
  *last = at + 1;
}

static void damaged(TraceWriter *w, Ring *r) {
  w->damaged = true;
  r->damaged = true;
  writer_stop(w,
              "ring %u of process %u holds something that is no record: nothing more is recorded",
              r->number, r->process);
}

NEWER_TOO static size_t take(TraceWriter *w, Ring *r, const uint8_t *data, size_t n, bool ended) {
  size_t at = 0, from = 0;
  uint32_t launch = 0, records = 0;
  uint64_t lost = 0, taken = 0, bytes = 0;
  RawSeen seen[SEEN] = {0};
  size_t last[SEEN] = {0};
  while (n - at >= sizeof(WgTraceHead)) {
    const RawSeen *s = &seen[*(const uint32_t *)(data + at) % SEEN];
    // Records of several launches may take turns in a ring: a record of another launch than the
    // last record's is looked at as a whole, even if it is like another of its launch.
    bool same_launch = (((const uint32_t *)(data + at))[3] & ((1u << WG_TRACE_LAUNCH_BITS) - 1)) ==
                       launch;
    if (same_launch && n - at >= s->length && raw_again((const uint32_t *)(data + at), s)) {
      if (records >= CHUNK_RECORDS / 16 || at - from >= WINDOW) {
        append(w, r, launch, data + from, at - from, records);
        from = at;
        records = 0;
      }
      add_to_window(&r->window, from, at, s->length, &last[s - seen]);
      at += s->length;
      records += s->rows;
      bytes += s->used;
      taken++;
      continue;
    }
    uint32_t head[8] = {0}, rows = 1;
    if (n - at >= sizeof head) memcpy(head, data + at, sizeof head);
    else memcpy(head, data + at, n - at);
    if (!head[0] || !head[1] || !head[2] || !head[3]) break;
    size_t length = raw_length(head);
    if (length == RAW_UNFINISHED) {
      lost += ended;
      break;
    }
    size_t used = 0;
    RawState state = length && length <= n - at
                         ? raw_look((const uint32_t *)(data + at), length, &used, &rows)
                     : length ? RAW_MISSING
                              : RAW_DAMAGED;
    bool complete = state == RAW_COMPLETE;
    if (state == RAW_DAMAGED) {
      append(w, r, launch, data + from, at - from, records);
      damaged(w, r);
      return n;
    }
    if (length > n - at) break;
    if (!complete && !ended) break;
    uint32_t its = head[3] & ((1u << WG_TRACE_LAUNCH_BITS) - 1);
    if (its != launch || !complete || records >= CHUNK_RECORDS / 16 || at - from >= WINDOW) {
      append(w, r, launch, data + from, at - from, records);
      from = at;
      records = 0;
      launch = its;
    }
    if (complete) {
      seen[head[0] % SEEN] = raw_seen((const uint32_t *)(data + at), length, used, rows);
      last[head[0] % SEEN] = 0;
      add_to_window(&r->window, from, at, length, &last[head[0] % SEEN]);
    }
    at += length;
    if (complete) {
      records += rows;
      taken++;
      bytes += used;
    } else {  // its warp ended in the middle of it
      from = at;
      lost++;
    }
  }
  append(w, r, launch, data + from, at - from, records);
  if (ended && at < n && !raw_complete(data + at, MIN(n - at, (size_t)16) & ~(size_t)15)) lost++;
  if (lost) {
    pthread_mutex_lock(&w->lock);
    w->lost += lost;
    pthread_mutex_unlock(&w->lock);
  }
  atomic_fetch_add_explicit(&w->raw_records, taken, memory_order_relaxed);
  atomic_fetch_add_explicit(&w->raw_bytes, bytes, memory_order_relaxed);
  return ended ? n : at;
}

// The process that had the ring before has ended, and all it wrote was taken. The ring is locked.
static void change_process(TraceWriter *w, Ring *r, uint32_t process) {
  for (uint32_t k = r->open.len; k--;) close_piece(w, r, k, false);
  r->process = process;
  r->damaged = false;
}

size_t trace_take(TraceWriter *w, uint32_t process, uint32_t ring, const uint8_t *data, size_t n,
                  bool ended) {
  if (w->has_stopped) return SIZE_MAX;
  Ring *r = ring_of(w, ring);
  pthread_mutex_lock(&r->lock);
  if (r->process != process) change_process(w, r, process);
  writer_wait_for_room(w, r);
  // It may have stopped while this thread waited. `n` would be wrong then: it is room, not records,
  // and a ring that is read past what was written stays full for ever.
  size_t taken = SIZE_MAX;
  if (!w->has_stopped) taken = r->damaged ? n : take(w, r, data, n, ended);
  if (taken >= MANY) atomic_store_explicit(&w->pressed_ns, clock_ns(), memory_order_relaxed);
  pthread_mutex_unlock(&r->lock);
  return taken;
}
