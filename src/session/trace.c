// --record: the rings of each context, and which launches are recorded.
#include "session/trace.h"

#include <time.h>
#include <unistd.h>

#include "base/runstats.h"

bool session_wants_trace(void) { return (session_tools() & TOOL_BIT(TRACE)) != 0; }

// --- nobody must wait for a command that is gone ---

static VEC(TraceRings *) opened;  // guarded by the lock
static bool watching;

static void *watch_command(void *nothing) {
  for (;;) {
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    if (channel_command_lives()) continue;
    pthread_mutex_lock(&session_lock);
    for (uint32_t i = 0; i < opened.len; i++) channel_trace_close(&opened.data[i]->rings);
    pthread_mutex_unlock(&session_lock);
    return nothing;
  }
}

static void watch(TraceRings *t) {
  pthread_t thread;
  vec_push(&opened, t);
  if (watching) return;
  watching = thread_start(&thread, watch_command, NULL) == 0;
  if (watching) pthread_detach(thread);
}

// --- the rings ---

static bool write_to(const SessionDeviceOps *ops, void *user, uint64_t to, const void *from,
                     size_t n) {
  if (ops->write) return ops->write(user, to, from, n);
  memcpy((void *)(uintptr_t)to, from, n);
  return true;
}

static bool set_up(TraceRings *t, const SessionDeviceOps *ops, void *user, Error *err) {
  uint64_t address;
  size_t heads = sizeof(WgTraceHeadPosition) * t->rings.rings,
         head_at = (sizeof(WgTrace) + 127) / 128 * 128;
  if (!ops->map_host(user, t->rings.memory, t->rings.bytes, &address))
    return error_set(err,
                     "the device cannot reach the memory of %zu bytes that records are written to",
                     t->rings.bytes);
  t->memory = ops->alloc(user, head_at + heads);
  t->trace = (WgTrace){.rings = address,
                       .heads = t->memory + head_at,
                       .nrings = t->rings.rings,
                       .ring_size = t->rings.ring_size};
  t->buffers = session_buffers_version();
  session_trace_choose(&t->trace);
  if (t->memory && write_to(ops, user, t->memory, &t->trace, sizeof t->trace)) return true;
  ops->unmap_host(user, t->rings.memory);
  return error_set(err, "it has no memory for the state of its rings");
}

// With the lock held.
static void open_rings(TraceRings *t, const SessionDeviceOps *ops, void *user, int ordinal) {
  Error err = {{0}};
  t->open = channel_trace_claim(&t->rings, &err);
  if (t->open && !set_up(t, ops, user, &err)) {
    session_send(EVENT_TRACE_END, &(EventTraceEnd){t->rings.set, 0});
    channel_trace_unmap(&t->rings);
    t->open = false;
  }
  t->generation = session_generation();
  t->failed = !t->open;
  if (t->failed) session_note(SEVERITY_WARNING, "device %d is not recorded: %s", ordinal, err.text);
  if (t->failed && channel_command_lives())
    runstats_fail("Device %d of process %d is not recorded: %s.", ordinal, (int)getpid(), err.text);
  if (t->open) watch(t);
}

static void say_unseen(SessionKernel *k, const char *instruction) {
  if (atomic_exchange(&k->unseen_said, true)) return;
  Str text = {0};
  str_printf(&text, "--record does not see what its %s reads and writes", instruction);
  session_kernel_note(k, text.data);
  str_free(&text);
}

void session_trace_launch(TraceRings *t, const SessionDeviceOps *ops, void *user, int ordinal,
                          SessionKernel *k, const SessionParams *params, WgLaunch *r,
                          void *record) {
  const WovenKernel *code = session_kernel_code(k);
  bool on = session_trace_is_on();
  if (!session_wants_trace() || (!on && !code->trace_switches)) return;
  pthread_mutex_lock(&session_lock);
  if (!t->open && !t->failed) open_rings(t, ops, user, ordinal);
  bool usable = t->open && t->generation == session_generation();
  if (usable && t->buffers != session_buffers_version()) {
    t->buffers = session_buffers_version();
    session_buffers_choose(&t->trace);
    usable = write_to(ops, user, t->memory, &t->trace, sizeof t->trace);
  }
  pthread_mutex_unlock(&session_lock);
  if (!usable) return;
  bool maps = session_tensor_maps(code, params, record);
  if (code->trace_unseen) say_unseen(k, code->trace_unseen);
  else if (!maps) say_unseen(k, "cp.async.bulk.tensor");
  r->trace = t->memory;
  if (code->trace_at) {
    uint32_t values = session_trace_values(code, params), off = !on;
    memcpy((char *)record + code->trace_at, &t->trace, WG_TRACE_KEPT);
    memcpy((char *)record + code->trace_at + WG_TRACE_KEPT, &values, sizeof values);
    memcpy((char *)record + code->trace_at + WG_TRACE_KEPT + 4, &off, sizeof off);
  }
  bool all = on && !code->trace_switches && !code->trace_unseen && maps &&
             !session_options()->trace_threads;
  session_trace_marks(!all                               ? RECORDED_IN_PART
                      : session_options()->trace_buffers ? RECORDED_BUFFERS
                                                         : RECORDED_ALL);
}

void session_trace_close(TraceRings *t, const SessionDeviceOps *ops, void *user, bool alive) {
  if (!t->open || t->generation != session_generation()) return;
  for (uint32_t i = 0; i < opened.len; i++)
    if (opened.data[i] == t) opened.data[i--] = opened.data[--opened.len];
  uint64_t dropped = 0;
  for (uint32_t i = 0; alive && i < t->rings.rings; i++) {
    WgTraceHeadPosition head = {0};
    if (ops->read(user, &head, t->trace.heads + i * sizeof head, sizeof head))
      dropped += head.dropped;
  }
  if (alive) {
    ops->unmap_host(user, t->rings.memory);
    ops->free(user, t->memory);
  }
  session_send(EVENT_TRACE_END, &(EventTraceEnd){t->rings.set, dropped});
  channel_trace_unmap(&t->rings);
  *t = (TraceRings){0};
}

// --- launches that have ended ---

// Pairs of a ring and its head: those that the command has not read up to there. The heads are read
// after the launches ended.
static uint32_t unread_heads(const TraceRings *t, const WgTraceHeadPosition *heads,
                             uint64_t *pairs) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->rings.rings; i++) {
    const WgTraceRing *ring = (const WgTraceRing *)((const char *)t->rings.memory +
                                                    i * CHANNEL_TRACE_STRIDE(t->rings.ring_size));
    if (__atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) >= heads[i].head) continue;
    pairs[n++] = i;
    pairs[n++] = heads[i].head;
  }
  return n;
}

void session_trace_ended(TraceRings *t, const SessionDeviceOps *ops, void *user,
                         const uint64_t *launches, uint32_t n) {
  if (!session_wants_trace()) return;
  pthread_mutex_lock(&session_lock);
  bool open = t->open && t->generation == session_generation();
  bool only = opened.len == (open ? 1u : 0u);
  pthread_mutex_unlock(&session_lock);
  if (!n && (!only || !open)) return;  // launches of other contexts may go on; or none was recorded
  EventTraceMark mark = {.launches = launches, .launches_count = n};
  if (!open) {
    session_send(EVENT_TRACE_MARK, &mark);
    return;
  }
  size_t bytes = sizeof(WgTraceHeadPosition) * t->rings.rings;
  WgTraceHeadPosition *heads = mem_alloc(bytes);
  uint64_t *pairs = mem_alloc(2 * sizeof *pairs * t->rings.rings);
  if (ops->read(user, heads, t->trace.heads, bytes)) {
    mark.set = t->rings.set + 1;
    mark.heads = pairs;
    mark.heads_count = unread_heads(t, heads, pairs);
    session_send(EVENT_TRACE_MARK, &mark);
  }
  free(pairs);
  free(heads);
}

// --- what is chosen ---

static _Atomic int switched = -1;  // wg_record_begin, wg_record_end of the host; -1: neither

bool session_trace_is_on(void) {
  int s = atomic_load_explicit(&switched, memory_order_relaxed);
  return s < 0 ? !session_options()->trace_marked : s != 0;
}
void session_trace_switch(bool on) { atomic_store(&switched, on); }

void session_trace_choose(WgTrace *t) {
  const SessionOptions *o = session_options();
  session_buffers_choose(t);
  for (const char *p = o->trace_threads; p && *p && t->nthreads < WG_TRACE_RANGES;
       p += strcspn(p, ","), p += *p == ',') {
    char *end;
    WgTraceRange *r = &t->threads[t->nthreads++];
    r->first = r->last = strtoull(p, &end, 10);
    if (*end == '-') r->last = strtoull(end + 1, &end, 10);
  }
}
