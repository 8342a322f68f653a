// Happens-before order of launches and copies: streams, events, the legacy default stream, and
// waits of the host.
//
// Each stream has a vector clock. It counts, for every stream, the operations that happen before
// the next operation of its own stream. Events have a clock, too, and so has the host, whose
// threads count as one. Unknown calls order everything: two launches are called unordered only if
// no call could have ordered them.
//
// Launches and copies may have numbers (steps): clocks also hold the last step of each stream.
#include "session/order.h"
#include "session/written_buffers.h"

enum { STREAMS = STEP_STREAMS, RECENT = 64 };
typedef struct Clock {
  uint32_t n[STREAMS], steps[STREAMS];
} Clock;
typedef struct OrderStream {
  const void *key;
  bool used, non_blocking;
  Clock clock;
  // the last step, and the clock's step of this stream before it
  uint32_t last_step, step_before;
  uint32_t told[STREAMS];  // steps of other streams that the last one is known to come after
} OrderStream;
typedef struct Recent {
  SessionDevice *device;
  uint32_t slot, index, number;
} Recent;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static OrderStream streams[STREAMS];  // the first is the legacy default stream
static uint32_t nstreams = 1;
static Clock host;
static U64Map events;  // -> Clock
static Recent recent[RECENT];
static uint32_t nrecent;
static bool several_threads;  // have made launches
// Streams that the program made or used, without the legacy stream; nfree of them do not wait for
// the legacy stream.
static _Atomic uint32_t nused, nfree;
static _Atomic bool legacy_used;

static void merge(Clock *to, const Clock *from) {
  for (uint32_t i = 0; i < nstreams; i++) {
    to->n[i] = MAX(to->n[i], from->n[i]);
    to->steps[i] = MAX(to->steps[i], from->steps[i]);
  }
}

// The driver's names for the two default streams are 0, 1 and 2.
static const void *key_of(const void *stream) { return (uintptr_t)stream == 1 ? NULL : stream; }

// NULL: there are too many.
static OrderStream *stream_of(const void *stream) {
  const void *key = key_of(stream);
  if (!key) return &streams[0];
  for (uint32_t i = 1; i < nstreams; i++)
    if (streams[i].key == key) return &streams[i];
  if (nstreams == STREAMS) return NULL;
  streams[nstreams] = (OrderStream){.key = key};
  return &streams[nstreams++];
}

static bool wants_order(void) {
  return session_wants_outputs() || session_wants(SESSION_WANTS_ORDER);
}

bool session_order_concurrent(void) { return nused > 1 || (nfree && legacy_used); }

static void use(OrderStream *s) {
  if (s == &streams[0]) legacy_used = true;
  else if (!s->used) nused++;
  s->used = true;
}

// Joins all that happens before the stream's next operation into the stream's clock.
static void gather(OrderStream *s) {
  merge(&s->clock, &host);
  if (s == &streams[0]) {
    for (uint32_t i = 1; i < nstreams; i++)
      if (!streams[i].non_blocking) merge(&s->clock, &streams[i].clock);
  } else if (!s->non_blocking) merge(&s->clock, &streams[0].clock);
}

static uint32_t step(OrderStream *s) {
  gather(s);
  return ++s->clock.n[s - streams];
}

void session_order_uses(const void *stream) {
  pthread_mutex_lock(&lock);
  OrderStream *s = stream_of(stream);
  if (s) use(s);
  pthread_mutex_unlock(&lock);
}

// Finds recent launches and copies that are unordered with the stream's newest operation. before:
// index of the stream's previous operation.
static void find_unordered(const SessionDevice *d, const OrderStream *s, uint32_t before,
                           bool overlaps, SessionUnordered *out) {
  uint32_t slot = (uint32_t)(s - streams);
  for (uint32_t i = 0; i < nrecent && i < RECENT; i++) {
    const Recent *r = &recent[(nrecent - 1 - i) % RECENT];
    if (r->device != d || out->n == SESSION_UNORDERED) continue;
    bool ordered = r->slot == slot ? !(overlaps && r->index == before)
                                   : s->clock.n[r->slot] >= r->index;
    if (!ordered) out->number[out->n++] = r->number;
  }
}

void session_order_launch(SessionDevice *d, const void *stream, uint32_t number, bool overlaps,
                          bool tells_host, SessionUnordered *out) {
  static pthread_t thread;
  *out = (SessionUnordered){0};
  pthread_mutex_lock(&lock);
  if (nrecent && !pthread_equal(thread, pthread_self())) several_threads = true;
  thread = pthread_self();
  out->one_thread = !several_threads;
  OrderStream *s = stream_of(stream);
  if (s) {
    uint32_t before = s->clock.n[s - streams], index = step(s), slot = (uint32_t)(s - streams);
    find_unordered(d, s, before, overlaps, out);
    if (number) recent[nrecent++ % RECENT] = (Recent){d, slot, index, number};
    if (tells_host) merge(&host, &s->clock);
  }
  pthread_mutex_unlock(&lock);
}

bool session_order_step(const void *stream, SessionMoment *out) {
  pthread_mutex_lock(&lock);
  OrderStream *s = stream_of(stream);
  if (s) {
    use(s);
    *out = (SessionMoment){(uint32_t)(s - streams), step(s)};
  }
  pthread_mutex_unlock(&lock);
  return s != NULL;
}

bool session_order_now(const void *stream, SessionMoment *out) {
  pthread_mutex_lock(&lock);
  OrderStream *s = stream_of(stream);
  if (s) *out = (SessionMoment){(uint32_t)(s - streams), s->clock.n[s - streams]};
  pthread_mutex_unlock(&lock);
  return s != NULL;
}

bool session_order_before(SessionMoment m, const void *stream) {
  pthread_mutex_lock(&lock);
  const OrderStream *s = stream_of(stream);
  bool before = !s || s->clock.n[m.slot] >= m.index;
  pthread_mutex_unlock(&lock);
  return before;
}

void session_order_forget(SessionDevice *d, uint32_t from, uint32_t to) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < RECENT; i++)
    if (recent[i].device == d && recent[i].number >= from && recent[i].number < to)
      recent[i].device = NULL;
  pthread_mutex_unlock(&lock);
}

// --- steps ---

static uint32_t last_noted;

static bool after_everything(OrderStream *s, uint32_t step) {
  bool all = step == last_noted + 1;  // else another thread is about to note one
  for (uint32_t i = 0; i < nstreams; i++) all &= s->clock.steps[i] == streams[i].last_step;
  return all;
}

// Notes a step of a stream without a slot: it is ordered after all earlier steps, and before all
// later ones.
static void note_without_stream(uint32_t step) {
  for (uint32_t i = 0; i < nstreams; i++) merge(&host, &streams[i].clock);
  host.steps[0] = streams[0].last_step = streams[0].clock.steps[0] = MAX(step, host.steps[0]);
}

bool session_order_note(const void *stream, uint32_t step_number, StepHow how,
                        uint32_t after[STEP_STREAMS], uint32_t *n, uint32_t *beside) {
  *n = *beside = 0;
  pthread_mutex_lock(&lock);
  OrderStream *s = stream_of(stream);
  bool all = true;
  if (!s) note_without_stream(step_number);
  else {
    uint32_t slot = (uint32_t)(s - streams), own;
    use(s);
    gather(s);
    own = s->clock.steps[slot];
    all = !how.overlaps && !how.in_graph && after_everything(s, step_number);
    if (how.overlaps) *beside = own;
    for (uint32_t i = 0; i < nstreams; i++) {
      uint32_t last = i == slot && how.overlaps ? s->step_before : s->clock.steps[i];
      bool implied = i != slot && own && !how.overlaps && last == s->told[i];
      if (last && !implied) after[(*n)++] = last;
    }
    s->last_step = MAX(s->last_step, step_number);
    if (!how.in_graph) {
      memcpy(s->told, s->clock.steps, sizeof s->told);
      s->step_before = own;
      s->clock.steps[slot] = MAX(own, step_number);
      if (how.host_knows) merge(&host, &s->clock);
    }
  }
  last_noted = MAX(last_noted, step_number);
  pthread_mutex_unlock(&lock);
  return all;
}

void session_order_graph(const void *stream, uint32_t last) {
  pthread_mutex_lock(&lock);
  OrderStream *s = stream_of(stream);
  if (s) {
    uint32_t *own = &s->clock.steps[s - streams];
    s->step_before = *own;
    *own = MAX(*own, last);
  }
  pthread_mutex_unlock(&lock);
}

#define WITH_STREAM(s, stream) \
  if (!wants_order()) return; \
  pthread_mutex_lock(&lock); \
  OrderStream *s = stream_of(stream)

void session_order_stream(const void *stream, bool non_blocking) {
  session_stream_created(stream, non_blocking);
  WITH_STREAM(s, stream);
  if (s) {
    if (non_blocking && !s->non_blocking) nfree++;
    s->non_blocking = non_blocking;
    use(s);
  }
  pthread_mutex_unlock(&lock);
}

void session_order_record(const void *event, const void *stream) {
  WITH_STREAM(s, stream);
  Clock *c = u64map_remove(&events, (uintptr_t)event);
  if (!c) c = mem_alloc(sizeof *c);
  if (s) {
    gather(s);
    *c = s->clock;
  } else
    for (uint32_t i = 0; i < nstreams; i++) merge(c, &streams[i].clock);
  u64map_put(&events, (uintptr_t)event, c);
  pthread_mutex_unlock(&lock);
}

void session_order_wait(const void *stream, const void *event) {
  WITH_STREAM(s, stream);
  const Clock *c = u64map_get(&events, (uintptr_t)event);
  if (s && c) merge(&s->clock, c);
  pthread_mutex_unlock(&lock);
}

// The awaited work is unknown: treat it as all pending work.
void session_order_waits_for_something(const void *stream) {
  WITH_STREAM(s, stream);
  for (uint32_t i = 0; s && i < nstreams; i++) merge(&s->clock, &streams[i].clock);
  pthread_mutex_unlock(&lock);
}

void session_order_host_saw(const void *stream) {
  WITH_STREAM(s, stream);
  if (s) {
    gather(s);
    merge(&host, &s->clock);
  }
  pthread_mutex_unlock(&lock);
}

void session_order_host_saw_event(const void *event) {
  if (!wants_order()) return;
  pthread_mutex_lock(&lock);
  const Clock *c = u64map_get(&events, (uintptr_t)event);
  if (c) merge(&host, c);
  pthread_mutex_unlock(&lock);
}

void session_order_host_saw_all(void) {
  if (!wants_order()) return;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < nstreams; i++) merge(&host, &streams[i].clock);
  pthread_mutex_unlock(&lock);
}

static bool is_hosts(const SessionPlace *p) {
  HeapRange r;
  return session_ranges_look(p->address, &r) &&
         (r.kind == SESSION_PINNED || r.kind == SESSION_REGISTERED || r.kind == SESSION_MANAGED);
}

// A copy that the host does not wait for needs memory it cannot page out.
static bool is_locked(const SessionPlace *p) {
  return p->kind != SESSION_PLACE_HOST || is_hosts(p);
}

// The host never waits for a memset of device memory. It waits for a memset of host memory, unless
// the call is asynchronous.
bool session_order_host_waits(const SessionCopy *c) {
  return c->is_set ? !c->async && is_hosts(&c->to)
                   : !c->async || !is_locked(&c->to) || !is_locked(&c->from);
}

static _Thread_local struct {
  SessionMoment at;
  bool known, waits;
} last_copy;

void session_order_copy(const SessionCopy *c) {
  last_copy.known = false;
  if (!wants_order() || c->captured) return;
  last_copy.waits = session_order_host_waits(c);
  pthread_mutex_lock(&lock);
  OrderStream *s = stream_of(c->stream);
  if (s) {
    use(s);
    last_copy.at = (SessionMoment){(uint32_t)(s - streams), step(s)};
    last_copy.known = true;
    if (last_copy.waits) merge(&host, &s->clock);
  }
  pthread_mutex_unlock(&lock);
}

void session_order_number_copy(SessionDevice *d, uint32_t number, SessionUnordered *out) {
  *out = (SessionUnordered){0};
  if (!last_copy.known) return;
  SessionMoment at = last_copy.at;
  pthread_mutex_lock(&lock);
  find_unordered(d, &streams[at.slot], 0, false, out);
  // later launches come after the copy, but perhaps before the tool has seen it
  out->one_thread = !several_threads && !last_copy.waits;
  recent[nrecent++ % RECENT] = (Recent){d, at.slot, at.index, number};
  pthread_mutex_unlock(&lock);
}
