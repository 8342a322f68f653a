// The program's requests to the device, in order: launches, copies, sets and waits, each sent to
// the command as one measure. On a GPU, launches and copies are sent when their times are known.
#define _GNU_SOURCE
#include <unistd.h>

#include "session/internal.h"
#include "tools/profile/host.h"
#include "tools/profile/measures.h"

// A launch or copy whose times are not known yet.
typedef struct Work {
  uint64_t number;  // of its Pending
  const char *call;
  const char *kernel;  // NULL: none
  uint64_t stack;
  uint64_t v[RUN_VALUES];
  struct Work *next;  // free list
} Work;
// Numbers grow by one, so unfinished work is nearly always among the recent numbers: a program that
// is bound by its launches pays for no hash table and for few allocations. CUPTI reports finished
// work five times a second, and up to 50,000 launches may come in between.
enum { RECENT = 1 << 17, AT_ONCE = 256 };
typedef struct Pending {
  Work *recent[RECENT];  // unfinished work, by number …
  U64Map older;          // … and unfinished work whose place a later number has taken
  U64Map early;          // work that ended before it was announced: only its times are set
} Pending;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Pending launches, copies;
static Work *spare;
static U64Map non_blocking;
static _Atomic bool has_non_blocking;
static _Atomic uint64_t last_number;
static _Thread_local uint64_t asked_ns;
static bool on_gpu, plain;  // plain: nothing is woven, times are those of the program itself

void timeline_configure(bool gpu, bool without_code) {
  on_gpu = gpu;
  plain = without_code;
}

static void send_locked(const Work *w) {
  uint64_t what = session_string(MEASURE_CALL), kernel = session_string(w->kernel);
  session_send(EVENT_MEASURE,
               &(EventMeasure){what, kernel, 0, 0, w->call, w->stack, w->v, RUN_VALUES});
}

static void send_call(const Work *w) {
  pthread_mutex_lock(&session_lock);
  send_locked(w);
  pthread_mutex_unlock(&session_lock);
}

static uint64_t thread_number(void) {
  static _Thread_local uint64_t number;  // a system call at each use would be half of the cost
  if (!number) number = (uint64_t)gettid();
  return number;
}

static void set_common(uint64_t *v, unsigned kind, const void *stream, int device) {
  v[CALL_NUMBER] = ++last_number;
  v[CALL_KIND] = kind;
  v[CALL_STREAM] = (uintptr_t)stream;
  v[CALL_DEVICE] = (uint64_t)device;
  v[CALL_PLAIN] = plain;
  v[CALL_HOST_THREAD] = thread_number();
  if (!has_non_blocking) return;
  pthread_mutex_lock(&lock);
  v[CALL_NON_BLOCKING] = u64map_get(&non_blocking, (uintptr_t)stream) != NULL;
  pthread_mutex_unlock(&lock);
}

void timeline_stream(const void *stream, bool is_non_blocking) {
  pthread_mutex_lock(&lock);
  has_non_blocking |= is_non_blocking;
  if (is_non_blocking) u64map_put(&non_blocking, (uintptr_t)stream, &non_blocking);
  else u64map_remove(&non_blocking, (uintptr_t)stream);
  pthread_mutex_unlock(&lock);
}

// --- work whose times come later ---

static void tell_source(const char *source) {
  static const char *_Atomic told;
  if (!source || atomic_exchange(&told, source) == source) return;
  pthread_mutex_lock(&session_lock);
  uint64_t what = session_string(MEASURE_TIMES);
  session_send(EVENT_MEASURE, &(EventMeasure){what, 0, 0, 0, source, 0, NULL, 0});
  pthread_mutex_unlock(&session_lock);
}

// These functions are called with the lock held.
static Work *new_work(const Work *like) {
  static Work *block;
  static uint32_t left;
  Work *w = spare;
  if (w) {
    spare = w->next;
  } else {
    if (!left) block = mem_realloc(NULL, sizeof *block * (left = AT_ONCE));
    w = &block[--left];
  }
  *w = *like;
  return w;
}

static void put(Pending *p, const Work *like) {
  Work **place = &p->recent[like->number % RECENT];
  if (*place) u64map_put(&p->older, (*place)->number, *place);
  *place = new_work(like);
}

// false: there is none of this number
static bool remove_work(Work *found, Work *out) {
  if (!found) return false;
  *out = *found;
  found->next = spare;
  spare = found;
  return true;
}

static bool remove_running(Pending *p, uint64_t number, Work *out) {
  Work **place = &p->recent[number % RECENT], *found = *place;
  if (found && found->number == number) *place = NULL;
  else found = p->older.len ? u64map_remove(&p->older, number) : NULL;
  return remove_work(found, out);
}

static void set_times(Work *w, const SessionTimes *t) {
  w->v[CALL_STARTED] = t->begin;
  w->v[CALL_ENDED] = t->end;
  w->v[CALL_QUEUED] = t->queued;
  w->v[CALL_SUBMITTED] = t->submitted;
}

// Sends w when its times arrive; number 0: they never will.
static void wait_until_it_ran(Pending *p, Work *w) {
  static const unsigned times[] = {CALL_STARTED, CALL_ENDED, CALL_QUEUED, CALL_SUBMITTED};
  Work ended;
  if (w->number) {
    pthread_mutex_lock(&lock);
    bool ran = p->early.len && remove_work(u64map_remove(&p->early, w->number), &ended);
    if (!ran) put(p, w);
    pthread_mutex_unlock(&lock);
    if (!ran) return;
    for (unsigned i = 0; i < ARRAY_LEN(times); i++) w->v[times[i]] = ended.v[times[i]];
  }
  send_call(w);
}

static void it_ran(Pending *p, uint64_t number, const SessionTimes *t) {
  tell_source(t->source);
  Work w;
  pthread_mutex_lock(&lock);
  bool told = remove_running(p, number, &w);
  if (!told) {
    Work *early = new_work(&(Work){.number = number});
    set_times(early, t);
    u64map_put(&p->early, number, early);
  }
  pthread_mutex_unlock(&lock);
  if (!told) return;
  set_times(&w, t);
  send_call(&w);
}

// --- launches ---

void timeline_launch(const SessionCall *c) {
  const SessionLaunch *l = c->launch;
  Work w = {.number = on_gpu && !l->captured ? c->number : 0,
            .call = l->captured ? "node" : "launch",
            .kernel = l->kernel->name,
            .stack = session_launch_stack()};
  set_common(w.v, l->captured ? CALL_NODE : CALL_LAUNCH, l->stream, l->device);
  w.v[CALL_BEGIN] = w.v[CALL_END] = clock_ns();
  w.v[CALL_THREADS] = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  w.v[CALL_BLOCKS] = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  w.v[CALL_SHARED] = l->shared;
  w.v[CALL_CLUSTER] = (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2];
  if (!plain) buffers_launch(c);
  wait_until_it_ran(&launches, &w);
}

void timeline_launch_ran(uint32_t launch, const SessionTimes *t) {
  if (on_gpu) it_ran(&launches, launch, t);
}

// --- graphs ---

// When and where graphs were launched: a node that ran belongs to the last launch before it.
typedef struct GraphLaunch {
  uint64_t ns, stack;
  const void *stream;
} GraphLaunch;
static VEC(GraphLaunch) graph_launches;
static const uint64_t NODES = 1ull << 48;  // offset for numbers of nodes: after all calls

void timeline_graph_launched(const void *stream) {
  if (!on_gpu) return;
  GraphLaunch g = {clock_ns(), session_stack(), stream};
  pthread_mutex_lock(&lock);
  vec_push(&graph_launches, g);
  pthread_mutex_unlock(&lock);
}

static GraphLaunch graph_launch_before(uint64_t ns) {
  GraphLaunch found = {0};
  pthread_mutex_lock(&lock);
  uint32_t low = 0, high = graph_launches.len;
  while (low < high) {
    uint32_t at = low + (high - low) / 2;
    if (graph_launches.data[at].ns <= ns) low = at + 1;
    else high = at;
  }
  if (low) found = graph_launches.data[low - 1];
  pthread_mutex_unlock(&lock);
  return found;
}

void timeline_node_ran(const SessionNode *n) {
  tell_source(n->times.source);
  GraphLaunch g = graph_launch_before(n->times.begin);
  Work w = {.call = "node", .kernel = n->kernel, .stack = g.stack};
  set_common(w.v, CALL_NODE, g.stream, n->device);
  w.v[CALL_NUMBER] |= NODES;
  w.v[CALL_BEGIN] = w.v[CALL_END] = g.ns ? g.ns : n->times.begin;
  w.v[CALL_THREADS] = n->threads;
  w.v[CALL_BLOCKS] = n->blocks;
  w.v[CALL_SHARED] = n->shared;
  w.v[CALL_CLUSTER] = 1;  // the record does not say
  set_times(&w, &n->times);
  send_call(&w);
}

// Sends work that never ran, or whose times are not known.
static void flush(Pending *p) {
  uint32_t it = 0;
  uint64_t number;
  void *older;
  pthread_mutex_lock(&lock);
  while (u64map_next(&p->older, &it, &number, &older)) send_locked(older);
  u64map_free(&p->older);
  for (uint32_t i = 0; i < RECENT; i++) {
    if (p->recent[i]) send_locked(p->recent[i]);
    p->recent[i] = NULL;
  }
  pthread_mutex_unlock(&lock);
}

void timeline_flush(void) {
  flush(&launches);
  flush(&copies);
}

// --- copies ---

static unsigned host_memory(const SessionPlace *p) {
  HeapRange range;
  if (p->kind == SESSION_PLACE_DEVICE || p->kind == SESSION_PLACE_ARRAY) return HOST_NONE;
  bool known = session_ranges_look(p->address, &range) && range.memory.state == WG_MEMORY_LIVE;
  if (!known) return HOST_PAGEABLE;
  return range.kind == SESSION_PINNED || range.kind == SESSION_REGISTERED ? HOST_PINNED : HOST_NONE;
}

void timeline_copy_asked(const SessionCopy *c) { asked_ns = clock_ns(); }

void timeline_copy(const SessionCopy *c) {
  if (c->captured) return;
  Work w = {.number = on_gpu ? c->timed_as : 0, .call = c->call};
  uint64_t *v = w.v;
  unsigned to = host_memory(&c->to), from = c->is_set ? HOST_NONE : host_memory(&c->from);
  unsigned kind = c->is_set     ? CALL_SET
                  : from && !to ? CALL_TO_DEVICE
                  : to && !from ? CALL_TO_HOST
                                : CALL_ON_DEVICE;
  set_common(v, kind, c->stream, c->device);
  v[CALL_BYTES] = (uint64_t)c->width * MAX(c->height, 1u) * MAX(c->depth, 1u);
  v[CALL_BEGIN] = asked_ns;
  v[CALL_END] = clock_ns();
  v[CALL_HOST_MEMORY] = to == HOST_PAGEABLE || from == HOST_PAGEABLE ? HOST_PAGEABLE
                        : to || from                                 ? HOST_PINNED
                                                                     : HOST_NONE;
  v[CALL_ASYNC] = c->async;
  w.stack = c->stack ? c->stack : session_stack();
  wait_until_it_ran(&copies, &w);
}

void timeline_copy_ran(uint64_t timed_as, const SessionTimes *t) {
  if (on_gpu) it_ran(&copies, timed_as, t);
}

// --- waits ---

void timeline_wait(const SessionHostWait *h) {
  Work w = {.call = h->call, .stack = session_stack()};
  set_common(w.v, CALL_WAIT, h->stream, 0);
  w.v[CALL_END] = clock_ns();
  w.v[CALL_BEGIN] = h->began ? h->began : w.v[CALL_END];
  w.v[CALL_ALL] = h->all;
  send_call(&w);
}

// --- NVTX ranges: parts of the work that the program names ---

void timeline_range(const SessionRange *r) {
  uint64_t v[RANGE_COUNT] = {[RANGE_BEGIN] = r->begin_ns,
                             [RANGE_END] = r->end_ns,
                             [RANGE_HOST_THREAD] = r->of_thread ? thread_number() : 0,
                             [RANGE_DEPTH] = r->depth,
                             [RANGE_PLAIN] = plain};
  pthread_mutex_lock(&session_lock);
  uint64_t what = session_string(MEASURE_RANGE);
  session_send(EVENT_MEASURE, &(EventMeasure){what, 0, 0, 0, r->name, 0, v, RANGE_COUNT});
  pthread_mutex_unlock(&session_lock);
}
