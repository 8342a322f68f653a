// What the program asks of the device, in its order: launches, copies, sets and waits, each sent to
// the command as one measure. On a GPU launches and copies are sent when it is known when they ran.
#define _GNU_SOURCE
#include <unistd.h>

#include "session/internal.h"
#include "tools/profile/host.h"
#include "tools/profile/measures.h"

// A launch or copy, until it is known when it ran.
typedef struct Work {
  const char *call;
  uint64_t kernel, stack;
  uint64_t v[RUN_VALUES];
} Work;
typedef struct Pending {
  U64Map running;  // what has not ended, by number
  U64Map early;    // what ended before it was told that it was taken: Work with its times only
} Pending;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Pending launches, copies;
static U64Map non_blocking;
static _Atomic uint64_t last_number;
static _Thread_local uint64_t asked_ns;
static bool on_gpu, plain;  // plain: nothing is woven, times are those of the program itself

void timeline_configure(bool gpu, bool without_code) {
  on_gpu = gpu;
  plain = without_code;
}

static void send_call(const char *call, uint64_t kernel, uint64_t stack, const uint64_t *v) {
  pthread_mutex_lock(&session_lock);
  uint64_t what = session_string(MEASURE_CALL);
  session_send(EVENT_MEASURE, &(EventMeasure){what, kernel, 0, 0, call, stack, v, RUN_VALUES});
  pthread_mutex_unlock(&session_lock);
}

static uint64_t thread_number(void) {
  static _Thread_local uint64_t number;  // a system call each time would be half of the cost
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
  pthread_mutex_lock(&lock);
  v[CALL_NON_BLOCKING] = u64map_get(&non_blocking, (uintptr_t)stream) != NULL;
  pthread_mutex_unlock(&lock);
}

void timeline_stream(const void *stream, bool is_non_blocking) {
  pthread_mutex_lock(&lock);
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

// Sends it when its times come; number 0: they never will. Owns it.
static void wait_until_it_ran(Pending *p, uint64_t number, Work *w) {
  static const unsigned times[] = {CALL_STARTED, CALL_ENDED, CALL_QUEUED, CALL_SUBMITTED};
  if (number) {
    pthread_mutex_lock(&lock);
    Work *ended = u64map_remove(&p->early, number);
    if (!ended) u64map_put(&p->running, number, w);
    pthread_mutex_unlock(&lock);
    if (!ended) return;
    for (unsigned i = 0; i < ARRAY_LEN(times); i++) w->v[times[i]] = ended->v[times[i]];
    free(ended);
  }
  send_call(w->call, w->kernel, w->stack, w->v);
  free(w);
}

static void it_ran(Pending *p, uint64_t number, const SessionTimes *t) {
  tell_source(t->source);
  pthread_mutex_lock(&lock);
  Work *w = u64map_remove(&p->running, number);
  bool told = w != NULL;
  if (!w) {
    w = mem_alloc(sizeof *w);
    u64map_put(&p->early, number, w);
  }
  w->v[CALL_STARTED] = t->begin;
  w->v[CALL_ENDED] = t->end;
  w->v[CALL_QUEUED] = t->queued;
  w->v[CALL_SUBMITTED] = t->submitted;
  pthread_mutex_unlock(&lock);
  if (!told) return;
  send_call(w->call, w->kernel, w->stack, w->v);
  free(w);
}

// --- launches ---

void timeline_launch(const SessionCall *c) {
  const SessionLaunch *l = c->launch;
  Work *e = mem_alloc(sizeof *e);
  e->call = l->captured ? "node" : "launch";
  set_common(e->v, l->captured ? CALL_NODE : CALL_LAUNCH, l->stream, l->device);
  e->v[CALL_BEGIN] = e->v[CALL_END] = clock_ns();
  e->v[CALL_THREADS] = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  e->v[CALL_BLOCKS] = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  e->v[CALL_SHARED] = l->shared;
  e->v[CALL_CLUSTER] = (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2];
  e->stack = session_launch_stack();
  pthread_mutex_lock(&session_lock);
  e->kernel = session_string(l->kernel->name);
  pthread_mutex_unlock(&session_lock);
  if (!plain) buffers_launch(c);
  wait_until_it_ran(&launches, on_gpu && !l->captured ? c->number : 0, e);
}

void timeline_launch_ran(uint32_t launch, const SessionTimes *t) {
  if (on_gpu) it_ran(&launches, launch, t);
}

// --- graphs ---

// When graphs were launched, and where: a node that ran belongs to the last one before it.
typedef struct GraphLaunch {
  uint64_t ns, stack;
  const void *stream;
} GraphLaunch;
static VEC(GraphLaunch) graph_launches;
static const uint64_t NODES = 1ull << 48;  // in numbers of nodes that ran: after all calls

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
  uint64_t v[RUN_VALUES] = {0};
  tell_source(n->times.source);
  GraphLaunch g = graph_launch_before(n->times.begin);
  set_common(v, CALL_NODE, g.stream, n->device);
  v[CALL_NUMBER] |= NODES;
  v[CALL_BEGIN] = v[CALL_END] = g.ns ? g.ns : n->times.begin;
  v[CALL_THREADS] = n->threads;
  v[CALL_BLOCKS] = n->blocks;
  v[CALL_SHARED] = n->shared;
  v[CALL_CLUSTER] = 1;  // the record does not say
  v[CALL_STARTED] = n->times.begin;
  v[CALL_ENDED] = n->times.end;
  v[CALL_QUEUED] = n->times.queued;
  v[CALL_SUBMITTED] = n->times.submitted;
  pthread_mutex_lock(&session_lock);
  uint64_t kernel = session_string(n->kernel);
  pthread_mutex_unlock(&session_lock);
  send_call("node", kernel, g.stack, v);
}

// What never ran, or when is not known.
static void flush(Pending *p) {
  uint32_t it = 0;
  uint64_t number;
  void *e;
  pthread_mutex_lock(&lock);
  U64Map left = p->running;
  p->running = (U64Map){0};
  pthread_mutex_unlock(&lock);
  while (u64map_next(&left, &it, &number, &e)) {
    Work *w = e;
    uint64_t what = session_string(MEASURE_CALL);
    session_send(EVENT_MEASURE,
                 &(EventMeasure){what, w->kernel, 0, 0, w->call, w->stack, w->v, RUN_VALUES});
    free(w);
  }
  u64map_free(&left);
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
  Work *w = mem_alloc(sizeof *w);
  uint64_t *v = w->v;
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
  w->call = c->call;
  w->stack = c->stack ? c->stack : session_stack();
  wait_until_it_ran(&copies, on_gpu ? c->timed_as : 0, w);
}

void timeline_copy_ran(uint64_t timed_as, const SessionTimes *t) {
  if (on_gpu) it_ran(&copies, timed_as, t);
}

// --- waits ---

void timeline_wait(const SessionHostWait *w) {
  uint64_t v[RUN_VALUES] = {0};
  set_common(v, CALL_WAIT, w->stream, 0);
  v[CALL_END] = clock_ns();
  v[CALL_BEGIN] = w->began ? w->began : v[CALL_END];
  v[CALL_ALL] = w->all;
  send_call(w->call, 0, session_stack(), v);
}

// --- parts of the work that the program names ---

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
