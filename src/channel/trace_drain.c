// --record, the command's side: threads read the rings and free their space. Each thread has its
// share of every set of rings, and helps where another thread is too slow, for instance because its
// processor is busy. One full ring soon stops all warps.
//
// The reader's thread opens and closes sets; it knows which process a set belongs to. When that
// process ends, complete records that are left are still read.
#define _GNU_SOURCE

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "channel/reader.h"

// AT_ONCE: so few bytes that they stay in a processor's cache while they are read, copied and
// cleared
enum {
  MOST_THREADS = 64,
  SLEEP_MIN_US = 50,
  SLEEP_MAX_US = 1000,
  SLACK_NS = 1000,
  RING_MIN = 8192,
  MANY_CORES = 4,
  PREPARE = 64 << 20,
  FILL = 1 << 20,
  AT_ONCE = 1 << 18
};

static const uint64_t FILLED_MOST = 1ull << 39;  // bytes: more than any device has

typedef enum { SET_FREE, SET_READ, SET_ENDED } SetState;
typedef struct Set {
  _Atomic int state;
  _Atomic uint32_t finished;  // threads that have read their share to the end
  uint8_t *memory;
  uint32_t lane, process, use;  // use: how often it was claimed
  uint64_t *tails;              // authoritative; those in the rings are for the device
  _Atomic uint64_t *reached;    // of each ring: every record before this position was taken
  // of each ring: a thread reads it, and no other may. At the end they stay held
  _Atomic bool *held;
} Set;
typedef struct Contents {
  _Atomic int state;
  ChannelContents *memory;
  uint32_t lane, process;
  uint64_t tail;
  bool damaged;  // what comes is not read any more
} Contents;

struct TraceDrain {
  ChannelTraceSink sink;
  ChannelReader *reader;
  uint32_t rings, ring_size, nthreads;
  uint64_t set_bytes;
  Set sets[CHANNEL_TRACES];
  Contents contents[CHANNEL_CONTENTS];
  // the first set, until a process claims it: its pages are allocated while the program starts
  uint8_t *first;
  pthread_t threads[MOST_THREADS];
  _Atomic uint32_t sets_used, contents_used;  // the others were never claimed
  _Atomic bool stop, enough;
};
typedef struct Worker {
  TraceDrain *d;
  uint8_t *first;  // d->first when it was started
  // by set: the use that this thread has begun, and the one it has read to the end
  uint32_t index, seen[CHANNEL_TRACES], finished[CHANNEL_TRACES];
} Worker;

void reader_trace_size(uint64_t wanted, ChannelCounts *counts) {
  uint32_t n = 64, size = RING_MIN;
  while (n > 4 && n * (uint64_t)(256 << 10) > wanted) n /= 2;
  while (n * (uint64_t)size * 2 <= wanted && size < 1u << 30) size *= 2;
  counts->trace_rings = n;
  counts->trace_ring_size = size;
}

static uint64_t set_offset(const TraceDrain *d, uint32_t set) {
  return channel_trace_offset(&d->reader->counts, set);
}
static uint64_t contents_offset(const TraceDrain *d, uint32_t i) {
  return channel_contents_offset(&d->reader->counts, i);
}

// --- on the reader's thread ---

static bool owner_of(ChannelReader *r, _Atomic uint32_t *owners, uint32_t i, uint32_t *lane,
                     uint32_t *process) {
  uint32_t owner = atomic_load_explicit(&owners[i], memory_order_acquire);
  if (owner == 0 || owner > r->counts.lanes || !r->lanes[owner - 1].memory) return false;
  *lane = owner - 1;
  *process = r->lanes[owner - 1].process;
  return true;
}

void reader_trace_look(ChannelReader *r) {
  TraceDrain *d = r->trace;
  for (uint32_t i = 0; d && i < r->counts.traces; i++) {
    Set *s = &d->sets[i];
    if (atomic_load(&s->state) != SET_FREE ||
        !owner_of(r, r->header->trace_lane, i, &s->lane, &s->process))
      continue;
    s->memory = i == 0 && d->first ? d->first : reader_map(r, set_offset(d, i), d->set_bytes);
    if (i == 0) d->first = NULL;
    if (!s->memory) continue;  // tried again at the next round
    reader_marks_drop(r, i);
    if (!s->tails) {
      s->tails = mem_alloc(sizeof *s->tails * d->rings);
      s->held = mem_alloc(sizeof *s->held * d->rings);
      s->reached = mem_alloc(sizeof *s->reached * d->rings);
    }
    memset(s->tails, 0, sizeof *s->tails * d->rings);
    for (uint32_t k = 0; k < d->rings; k++) {
      atomic_store(&s->held[k], false);
      atomic_store(&s->reached[k], 0);
    }
    atomic_store(&s->finished, 0);
    s->use++;
    if (i >= d->sets_used) atomic_store(&d->sets_used, i + 1);
    atomic_store(&s->state, SET_READ);
  }
  for (uint32_t i = 0; d && i < r->counts.contents; i++) {
    Contents *c = &d->contents[i];
    if (atomic_load(&c->state) != SET_FREE ||
        !owner_of(r, r->header->contents_lane, i, &c->lane, &c->process))
      continue;
    c->memory = reader_map(r, contents_offset(d, i), sizeof *c->memory);
    c->tail = 0;
    c->damaged = false;
    if (i >= d->contents_used) atomic_store(&d->contents_used, i + 1);
    if (c->memory) atomic_store(&c->state, SET_READ);
  }
}

void reader_trace_end(ChannelReader *r, uint32_t set) {
  int reading = SET_READ;
  if (r->trace) atomic_compare_exchange_strong(&r->trace->sets[set].state, &reading, SET_ENDED);
}

void reader_trace_lane_ended(ChannelReader *r, uint32_t lane) {
  reader_trace_look(r);
  for (uint32_t i = 0; r->trace && i < r->trace->sets_used; i++)
    if (atomic_load(&r->trace->sets[i].state) == SET_READ && r->trace->sets[i].lane == lane)
      reader_trace_end(r, i);
  for (uint32_t i = 0; r->trace && i < r->trace->contents_used; i++) {
    int reading = SET_READ;
    if (r->trace->contents[i].lane == lane)
      atomic_compare_exchange_strong(&r->trace->contents[i].state, &reading, SET_ENDED);
  }
}

// --- the threads ---

static WgTraceRing *ring_of(const TraceDrain *d, const Set *s, uint32_t i) {
  return (WgTraceRing *)(s->memory + i * CHANNEL_TRACE_STRIDE(d->ring_size));
}

static bool hold(Set *s, uint32_t i) {
  return !atomic_load_explicit(&s->held[i], memory_order_relaxed) &&
         !atomic_exchange_explicit(&s->held[i], true, memory_order_acquire);
}
static void let_go(Set *s, uint32_t i) {
  atomic_store_explicit(&s->held[i], false, memory_order_release);
}

// The device must see zeros before it sees the new tail. The caller holds the ring.
static size_t drain_ring(TraceDrain *d, uint32_t set, uint32_t i, bool ended) {
  Set *s = &d->sets[set];
  WgTraceRing *ring = ring_of(d, s, i);
  uint32_t at = (uint32_t)(s->tails[i] & (d->ring_size - 1));
  size_t room = d->ring_size - at + WG_TRACE_MAX;
  if (!ended) room = MIN(room, (size_t)AT_ONCE + WG_TRACE_MAX);
  if (!__atomic_load_n((uint32_t *)(ring->data + at), __ATOMIC_ACQUIRE)) return 0;
  if (atomic_load_explicit(&d->enough, memory_order_relaxed)) {
    __atomic_store_n(&ring->closed, 1, __ATOMIC_RELEASE);
    return 0;
  }
  size_t n = d->sink.take(d->sink.user, s->process, set * d->rings + i, ring->data + at, room,
                          ended);
  if (n == SIZE_MAX) {
    atomic_store(&d->enough, true);
    return 0;
  }
  if (n > room || n % 16) n = 0;
  memset(ring->data + at, 0, n);
  s->tails[i] += n;
  if (n) __atomic_store_n(&ring->tail, s->tails[i], __ATOMIC_RELEASE);
  // The last read may skip records that will never be complete, and bytes after them: these do not
  // count as reached.
  if (!ended) atomic_store_explicit(&s->reached[i], s->tails[i], memory_order_release);
  return n;
}

static void close_rings(TraceDrain *d, const Set *s) {
  for (uint32_t i = 0; i < d->rings; i++)
    __atomic_store_n(&ring_of(d, s, i)->closed, 1, __ATOMIC_RELEASE);
}

// The last thread to finish gives the set back. A process that still runs keeps it.
static void finish_set(TraceDrain *d, uint32_t set) {
  Set *s = &d->sets[set];
  close_rings(d, s);
  munmap(s->memory, d->set_bytes);
  if (!atomic_load(&d->reader->ended)) {
    reader_clear(d->reader, set_offset(d, set), d->set_bytes);
    atomic_store(&d->reader->header->trace_lane[set], 0);
  }
  atomic_store(&s->state, SET_FREE);
}

// Whether the ring is at least a quarter full: no record has 64 bytes of zeros.
static bool is_filling(const TraceDrain *d, const Set *s, uint32_t i) {
  const uint64_t *at = (const uint64_t *)(ring_of(d, s, i)->data +
                                          ((s->tails[i] + d->ring_size / 4) & (d->ring_size - 1) &
                                           ~(uint64_t)63));
  uint64_t some = 0;
  for (int k = 0; k < 8; k++) some |= __atomic_load_n(&at[k], __ATOMIC_RELAXED);
  return some != 0;
}

static size_t help_others(Worker *w, uint32_t set) {
  TraceDrain *d = w->d;
  Set *s = &d->sets[set];
  size_t found = 0;
  for (uint32_t k = 1; k < d->rings; k++) {
    uint32_t i = (w->index + k) % d->rings;
    if (i % d->nthreads == w->index || !hold(s, i)) continue;
    if (is_filling(d, s, i)) found += drain_ring(d, set, i, false);
    let_go(s, i);
  }
  return found;
}

// Allocates a set's pages before records arrive: a page costs as much as reading it, or much more
// in a virtual machine that must ask its host for memory.
static void populate(const Worker *w, uint8_t *set) {
#ifdef MADV_POPULATE_WRITE
  const TraceDrain *d = w->d;
  // if the system can
  for (uint32_t i = w->index; i < d->rings; i += d->nthreads)
    madvise(set + i * CHANNEL_TRACE_STRIDE(d->ring_size), CHANNEL_TRACE_STRIDE(d->ring_size),
            MADV_POPULATE_WRITE);
#else
  (void)w;
  (void)set;
#endif
}

static void reach(Worker *w, uint32_t set) {
  w->seen[set] = w->d->sets[set].use;
  populate(w, w->d->sets[set].memory);
}

static size_t drain_set(Worker *w, uint32_t set, bool *busy) {
  TraceDrain *d = w->d;
  Set *s = &d->sets[set];
  int state = atomic_load_explicit(&s->state, memory_order_acquire);
  size_t found = 0;
  if (state == SET_FREE || (state == SET_ENDED && w->finished[set] == s->use)) return 0;
  *busy = true;
  if (state == SET_READ && w->seen[set] != s->use) reach(w, set);
  for (uint32_t i = w->index; i < d->rings; i += d->nthreads) {
    size_t n;
    if (!hold(s, i)) {
      if (state != SET_ENDED) continue;
      while (!hold(s, i)) sched_yield();
    }
    do found += n = drain_ring(d, set, i, false);
    while (n && state == SET_ENDED);
    if (state == SET_ENDED) drain_ring(d, set, i, true);  // what is left will stay incomplete
    else let_go(s, i);
  }
  if (state == SET_READ && found < AT_ONCE) found += help_others(w, set);
  if (state == SET_ENDED) {
    w->finished[set] = s->use;
    if (atomic_fetch_add(&s->finished, 1) + 1 == d->nthreads) finish_set(d, set);
  }
  return found;
}

static void hand_out(TraceDrain *d, const Contents *c, const ChannelPiece *p,
                     const uint8_t *bytes) {
  if (p->end == 1) {
    d->sink.contents_end(d->sink.user, c->process, p->step);
    return;
  }
  if (p->bytes == p->stored) {
    d->sink.contents(d->sink.user, c->process, p->step, p->address, bytes, p->stored);
    return;
  }
  if (!p->stored || p->stored > FILL || p->bytes > FILLED_MOST) return;
  static _Thread_local uint8_t block[FILL];
  uint32_t size = FILL / p->stored * p->stored;
  for (uint32_t i = 0; i < size; i += p->stored) memcpy(block + i, bytes, p->stored);
  for (uint64_t at = 0; at < p->bytes && !atomic_load(&d->enough); at += size)
    d->sink.contents(d->sink.user, c->process, p->step, p->address + at, block,
                     MIN(p->bytes - at, (uint64_t)size));
}

static void contents_damaged(TraceDrain *d, Contents *c) {
  c->damaged = true;
  atomic_store(&d->reader->damaged, true);
}

static size_t drain_contents(TraceDrain *d, uint32_t i, bool *busy) {
  Contents *c = &d->contents[i];
  int state = atomic_load_explicit(&c->state, memory_order_acquire);
  if (state == SET_FREE) return 0;
  uint64_t head = atomic_load_explicit(&c->memory->head, memory_order_acquire), start = c->tail;
  if (head % 8 || head - c->tail > CHANNEL_CONTENTS_RING) {
    contents_damaged(d, c);
    head = c->tail;
  }
  *busy = true;
  while (c->tail != head) {
    size_t at = c->tail % CHANNEL_CONTENTS_RING, to_end = CHANNEL_CONTENTS_RING - at;
    ChannelPiece p = {0};
    memcpy(&p, c->memory->data + at, MIN(sizeof p, to_end));
    size_t size = p.step ? sizeof p + ((p.stored + (size_t)15) & ~(size_t)15) : to_end;
    if (size > to_end || size > head - c->tail || (p.step && to_end < sizeof p)) {
      contents_damaged(d, c);
      c->tail = head;
      break;
    }
    if (p.step && !c->damaged && !atomic_load(&d->enough))
      hand_out(d, c, &p, c->memory->data + at + sizeof p);
    c->tail += size;
    atomic_store_explicit(&c->memory->tail, c->tail, memory_order_release);
  }
  atomic_store_explicit(&c->memory->tail, c->tail, memory_order_release);
  size_t found = c->tail - start;
  if (state == SET_ENDED && !found) {
    munmap(c->memory, sizeof *c->memory);
    if (!atomic_load(&d->reader->ended)) {
      reader_clear(d->reader, contents_offset(d, i), sizeof *c->memory);
      atomic_store(&d->reader->header->contents_lane[i], 0);
    }
    atomic_store(&c->state, SET_FREE);
  }
  return found;
}

static void *work(void *p) {
  Worker w = *(Worker *)p;
  unsigned sleep = SLEEP_MIN_US;
  free(p);
  prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK_NS);
  // w.first stays valid: no set ends before all threads have read it
  if (w.first) populate(&w, w.first);
  for (;;) {
    bool stop = atomic_load(&w.d->stop), busy = false;
    size_t found = 0;
    for (uint32_t i = w.index; i < w.d->contents_used; i += w.d->nthreads)
      found += drain_contents(w.d, i, &busy);
    for (uint32_t i = 0; i < w.d->sets_used; i++) found += drain_set(&w, i, &busy);
    if (stop && !busy) return NULL;
    sleep = found ? SLEEP_MIN_US : MIN(sleep * 2, (unsigned)SLEEP_MAX_US);
    if (!found) nanosleep(&(struct timespec){0, (long)sleep * 1000}, NULL);
  }
}

bool channel_record(ChannelReader *r, const ChannelTraceSink *sink, Error *err) {
  CHECK(r->counts.trace_rings && !r->trace);
  TraceDrain *d = mem_alloc(sizeof *d);
  *d = (TraceDrain){.sink = *sink,
                    .reader = r,
                    .rings = r->counts.trace_rings,
                    .ring_size = r->counts.trace_ring_size};
  d->set_bytes = CHANNEL_TRACE_BYTES(d->rings, d->ring_size);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  // The threads sleep while no records come; when some come, a kernel waits for the threads. A
  // thread of the program that waits for the kernel is always busy: a reader that shares its
  // processor would be half as fast as the others, and all warps wait for the one ring that is
  // full.
  uint32_t want = (uint32_t)MIN(MAX(cores > MANY_CORES ? cores - 1 : cores, 1), MOST_THREADS);
  d->nthreads = MIN(want, d->rings);
  if (d->rings * (uint64_t)d->ring_size >= PREPARE)
    d->first = reader_map(r, set_offset(d, 0), d->set_bytes);
  int failed = 0;
  for (uint32_t i = 0; i < d->nthreads && !failed; i++) {
    Worker *w = mem_alloc(sizeof *w);
    *w = (Worker){.d = d, .first = d->first, .index = i};
    failed = thread_start(&d->threads[i], work, w);
  }
  r->trace = d;
  return !failed || error_set(err, "cannot start a thread: %s", strerror(failed));
}

bool reader_trace_reached(const ChannelReader *r, uint32_t set, uint32_t ring, uint64_t head) {
  const TraceDrain *d = r->trace;
  if (!d || ring >= d->rings || !d->sets[set].reached) return false;
  return atomic_load_explicit(&d->sets[set].reached[ring], memory_order_acquire) >= head;
}

bool reader_trace_others_free(const ChannelReader *r, uint32_t process, uint32_t set) {
  const TraceDrain *d = r->trace;
  for (uint32_t i = 0; i < d->sets_used; i++)
    if (i != set && d->sets[i].process == process && atomic_load(&d->sets[i].state) != SET_FREE)
      return false;
  return true;
}

bool reader_trace_discards(const ChannelReader *r) {
  return !r->trace || atomic_load(&r->trace->enough);
}

void reader_trace_stop(ChannelReader *r) {
  TraceDrain *d = r->trace;
  if (!d) return;
  atomic_store(&d->stop, true);
  for (uint32_t i = 0; i < d->nthreads; i++) pthread_join(d->threads[i], NULL);
  if (d->first) munmap(d->first, d->set_bytes);
  for (uint32_t i = 0; i < d->sets_used; i++) {
    reader_marks_drop(r, i);
    free(d->sets[i].tails);
    free(d->sets[i].held);
    free(d->sets[i].reached);
  }
  free(d);
  r->trace = NULL;
}
