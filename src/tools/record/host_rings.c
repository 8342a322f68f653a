// --record: the rings of each context, which the command reads, and the fields of each launch
// record that describe them.
#include "tools/record/host.h"

#include <time.h>
#include <unistd.h>

#include "base/runstats.h"

// --- kernels must not wait for a command that is gone ---

static VEC(RecordRings *) opened;  // guarded by session_lock
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

static void watch(RecordRings *t) {
  pthread_t thread;
  vec_push(&opened, t);
  if (watching) return;
  watching = thread_start(&thread, watch_command, NULL) == 0;
  if (watching) pthread_detach(thread);
}

// --- which operations are recorded ---

static _Atomic int switched = -1;  // by wg_record_begin, wg_record_end of the host; -1: neither

void record_switch(bool on) { atomic_store(&switched, on); }

static bool is_on(void) {
  int s = atomic_load_explicit(&switched, memory_order_relaxed);
  return s < 0 ? !record_options.marked : s != 0;
}

static void choose(WgTrace *t) {
  record_buffers_choose(t);
  for (const char *p = record_options.threads; p && *p && t->nthreads < WG_TRACE_RANGES;
       p += strcspn(p, ","), p += *p == ',') {
    char *end;
    WgTraceRange *r = &t->threads[t->nthreads++];
    r->first = r->last = strtoull(p, &end, 10);
    if (*end == '-') r->last = strtoull(end + 1, &end, 10);
  }
}

// --- the rings ---

static bool write_to(const ToolDevice *d, uint64_t to, const void *from, size_t n) {
  if (d->ops->write) return d->ops->write(d->user, to, from, n);
  memcpy((void *)(uintptr_t)to, from, n);
  return true;
}

static bool set_up(RecordRings *t, const ToolDevice *d, Error *err) {
  uint64_t address;
  size_t heads = sizeof(WgTraceHeadPosition) * t->rings.rings,
         head_at = (sizeof(WgTrace) + 127) / 128 * 128;
  if (!d->ops->map_host(d->user, t->rings.memory, t->rings.bytes, &address))
    return error_set(err,
                     "the device cannot reach the memory of %zu bytes that records are written to",
                     t->rings.bytes);
  t->memory = d->ops->alloc(d->user, head_at + heads);
  t->trace = (WgTrace){.rings = address,
                       .heads = t->memory + head_at,
                       .nrings = t->rings.rings,
                       .ring_size = t->rings.ring_size};
  t->buffers_version = record_buffers_version();
  choose(&t->trace);
  if (t->memory && write_to(d, t->memory, &t->trace, sizeof t->trace)) return true;
  d->ops->unmap_host(d->user, t->rings.memory);
  return error_set(err, "it has no memory for the state of its rings");
}

// With session_lock held.
static void open_rings(RecordRings *t, const ToolDevice *d) {
  Error err = {{0}};
  t->open = channel_trace_claim(&t->rings, &err);
  if (t->open && !set_up(t, d, &err)) {
    session_send(EVENT_TRACE_END, &(EventTraceEnd){t->rings.set, 0});
    channel_trace_unmap(&t->rings);
    t->open = false;
  }
  t->generation = session_generation();
  t->failed = !t->open;
  if (t->failed)
    session_note(SEVERITY_WARNING, "device %d is not recorded: %s", d->ordinal, err.text);
  if (t->failed && channel_command_lives())
    runstats_fail("Device %d of process %d is not recorded: %s.", d->ordinal, (int)getpid(),
                  err.text);
  if (t->open) watch(t);
}

// --- launches ---

// Once for each kernel.
static void note_unseen(SessionKernel *k, const char *instruction) {
  static char noted;
  if (atomic_exchange(&k->tool_data[TOOL_RECORD], &noted)) return;
  Str text = {0};
  str_printf(&text, "--record does not see what its %s reads and writes", instruction);
  session_kernel_note(k, text.data);
  str_free(&text);
}

static bool prepare_rings(RecordRings *t, const ToolDevice *d) {
  pthread_mutex_lock(&session_lock);
  if (!t->open && !t->failed) open_rings(t, d);
  bool usable = t->open && t->generation == session_generation();
  if (usable && t->buffers_version != record_buffers_version()) {
    t->buffers_version = record_buffers_version();
    record_buffers_choose(&t->trace);
    usable = write_to(d, t->memory, &t->trace, sizeof t->trace);
  }
  pthread_mutex_unlock(&session_lock);
  return usable;
}

// A launch that cannot be recorded runs without: its record stays zero.
bool record_launch(ToolDevice *d, ToolLaunch *l) {
  RecordRings *t = d->state;
  const WovenKernel *code = session_kernel_code(l->kernel);
  const RecordKernel *k = record_kernel(code);
  bool on = is_on();
  if (!record_options.operations || (!on && !k->switches) || !prepare_rings(t, d)) return true;
  bool maps = record_describe_maps(k, l->params, l->whole_record);
  if (k->unseen) note_unseen(l->kernel, k->unseen);
  else if (!maps) note_unseen(l->kernel, "cp.async.bulk.tensor");
  l->record->trace = t->memory;
  if (k->trace_at) {
    uint32_t values = record_loaded_values(code, l->params), off = !on;
    char *at = (char *)l->whole_record + k->trace_at;
    memcpy(at, &t->trace, WG_TRACE_KEPT);
    memcpy(at + WG_TRACE_KEPT, &values, sizeof values);
    memcpy(at + WG_TRACE_KEPT + 4, &off, sizeof off);
  }
  bool all = on && !k->switches && !k->unseen && maps && !record_options.threads;
  record_set_extent(l->record->launch, !all                     ? RECORDED_IN_PART
                                       : record_options.buffers ? RECORDED_BUFFERS
                                                                : RECORDED_ALL);
  return true;
}

void record_device_close(ToolDevice *d, bool alive) {
  RecordRings *t = d->state;
  if (!t->open || t->generation != session_generation()) return;
  for (uint32_t i = 0; i < opened.len; i++)
    if (opened.data[i] == t) opened.data[i--] = opened.data[--opened.len];
  uint64_t dropped = 0;
  for (uint32_t i = 0; alive && i < t->rings.rings; i++) {
    WgTraceHeadPosition head = {0};
    if (d->ops->read(d->user, &head, t->trace.heads + i * sizeof head, sizeof head))
      dropped += head.dropped;
  }
  if (alive) {
    d->ops->unmap_host(d->user, t->rings.memory);
    d->ops->free(d->user, t->memory);
  }
  session_send(EVENT_TRACE_END, &(EventTraceEnd){t->rings.set, dropped});
  channel_trace_unmap(&t->rings);
  *t = (RecordRings){0};
}

// --- launches that have ended: how far the command must read to have all of their records ---

// Finds rings that the command has not read up to their heads: pairs of a ring and its head. The
// heads are read after the launches ended.
static uint32_t unread_heads(const RecordRings *t, const WgTraceHeadPosition *heads,
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

void record_launches_ended(ToolDevice *d, const uint64_t *launches, uint32_t n) {
  RecordRings *t = d->state;
  if (!record_options.operations) return;
  pthread_mutex_lock(&session_lock);
  bool open = t->open && t->generation == session_generation();
  bool only = opened.len == (open ? 1u : 0u);
  pthread_mutex_unlock(&session_lock);
  // All launches of this context have ended, but others may go on; or none was recorded.
  if (!n && (!only || !open)) return;
  EventTraceMark mark = {.launches = launches, .launches_count = n};
  if (!open) {
    session_send(EVENT_TRACE_MARK, &mark);
    return;
  }
  size_t bytes = sizeof(WgTraceHeadPosition) * t->rings.rings;
  WgTraceHeadPosition *heads = mem_alloc(bytes);
  uint64_t *pairs = mem_alloc(2 * sizeof *pairs * t->rings.rings);
  if (d->ops->read(d->user, heads, t->trace.heads, bytes)) {
    mark.set = t->rings.set + 1;
    mark.heads = pairs;
    mark.heads_count = unread_heads(t, heads, pairs);
    session_send(EVENT_TRACE_MARK, &mark);
  }
  free(pairs);
  free(heads);
}
